"""Waitroom: a self-hosted virtual waiting room on Redis or Valkey.

The names in `__all__` are the public API. Each is imported when it is first used: a gate runs on a
site that has neither Redis nor an HTTP client installed. No module of Waitroom imports from here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from waitroom.version import __version__

if TYPE_CHECKING:
    from waitroom.client import Client, SyncClient
    from waitroom.engine import Engine, Join
    from waitroom.errors import Refused, Unavailable, WaitroomError
    from waitroom.gates import Options, Rule
    from waitroom.models import (
        Advanced,
        BeforeOpen,
        Challenge,
        Eta,
        Mode,
        Needs,
        Page,
        Person,
        Policy,
        PolicyChange,
        Reason,
        Reinstated,
        Room,
        Sample,
        State,
        Stats,
        TicketView,
        WhenAway,
        WhenUnverified,
        preset,
    )
    from waitroom.passes import Pass, PassKeys
    from waitroom.ticker import Ticker
    from waitroom.tickets import KeyRing

__all__ = [
    "Advanced",
    "BeforeOpen",
    "Challenge",
    "Client",
    "Engine",
    "Eta",
    "Join",
    "KeyRing",
    "Mode",
    "Needs",
    "Options",
    "Page",
    "Pass",
    "PassKeys",
    "Person",
    "Policy",
    "PolicyChange",
    "Reason",
    "Refused",
    "Reinstated",
    "Room",
    "Rule",
    "Sample",
    "State",
    "Stats",
    "SyncClient",
    "Ticker",
    "TicketView",
    "Unavailable",
    "WaitroomError",
    "WhenAway",
    "WhenUnverified",
    "__version__",
    "preset",
]

_HOMES = {
    "waitroom.client": ("Client", "SyncClient"),
    "waitroom.engine": ("Engine", "Join"),
    "waitroom.errors": ("Refused", "Unavailable", "WaitroomError"),
    "waitroom.gates": ("Options", "Rule"),
    "waitroom.models": (
        *("Advanced", "BeforeOpen", "Challenge", "Eta", "Mode", "Needs", "Page", "Person"),
        *("Policy", "PolicyChange"),
        *("Reason", "Reinstated", "Room", "Sample", "State", "Stats", "TicketView", "WhenAway"),
        *("WhenUnverified", "preset"),
    ),
    "waitroom.passes": ("Pass", "PassKeys"),
    "waitroom.ticker": ("Ticker",),
    "waitroom.tickets": ("KeyRing",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name from the module that holds it."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)
