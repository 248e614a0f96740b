"""The words in which parent and workers talk over a pipe."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

READY: Final = "ready"
"""What a worker says once it accepts connections."""


class Order(StrEnum):
    """What the parent tells a worker."""

    DRAIN = "drain"
    """Announce that we will stop: no connection is kept, and streams go elsewhere."""

    STOP = "stop"
    """Accept what waits at the port, close it, answer everybody, and end."""

    RETIRE = "retire"
    """Leave the port to a successor, drain, and end."""

    ORPHANED = "orphaned"
    """The parent is gone: stop quickly. It is never sent; a closed pipe means it."""
