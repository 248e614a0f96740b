"""Waitroom: a self-hosted virtual waiting room on Redis or Valkey.

The names in `__all__` are the public API. Each is imported when it is first used: a gate runs on
a site that has neither Redis nor an HTTP client installed. Nothing of Waitroom imports from here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from waitroom.version import __version__

if TYPE_CHECKING:
    from waitroom.client import Client
    from waitroom.engine import Engine, Join
    from waitroom.errors import Refused, Unavailable, WaitroomError
    from waitroom.models import Mode, Policy, Reason, State, Stats, TicketView, preset
    from waitroom.passes import PassKeys
    from waitroom.ticker import Ticker
    from waitroom.tickets import KeyRing

__all__ = [
    "Client",
    "Engine",
    "Join",
    "KeyRing",
    "Mode",
    "PassKeys",
    "Policy",
    "Reason",
    "Refused",
    "State",
    "Stats",
    "Ticker",
    "TicketView",
    "Unavailable",
    "WaitroomError",
    "__version__",
    "preset",
]

_HOMES = {
    "waitroom.client": ("Client",),
    "waitroom.engine": ("Engine", "Join"),
    "waitroom.errors": ("Refused", "Unavailable", "WaitroomError"),
    "waitroom.models": ("Mode", "Policy", "Reason", "State", "Stats", "TicketView", "preset"),
    "waitroom.passes": ("PassKeys",),
    "waitroom.ticker": ("Ticker",),
    "waitroom.tickets": ("KeyRing",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name from the module that holds it."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)
