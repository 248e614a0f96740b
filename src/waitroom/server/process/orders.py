"""How parent and workers talk: over a pipe, in these words."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

READY: Final = "ready"
"""What a worker says once it takes connections."""


class Order(StrEnum):
    """What the parent tells a worker."""

    DRAIN = "drain"
    """Say that we are about to stop: no connection is kept, and streams go elsewhere."""

    STOP = "stop"
    """Take what waits at the port, close it, answer everybody, and end."""

    RETIRE = "retire"
    """Leave the port to a successor, drain, and end."""

    ORPHANED = "orphaned"
    """The parent is gone: stop quickly. Nobody sends it; a closed pipe means it."""
