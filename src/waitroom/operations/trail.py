"""The audit trail: who acts, by which way, and one line per action in both logs. No secrets."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from waitroom.engine.audit import Entry
from waitroom.errors import WaitroomError

_LOG = logging.getLogger("waitroom.audit")


class Way(StrEnum):
    """How somebody reached us."""

    API = "api"
    PAGE = "page"
    CLI = "cli"
    CONFIG = "config"


class Key(Protocol):
    """What an actor takes from an API key."""

    @property
    def id(self) -> str:
        """The key's public id."""

    @property
    def name(self) -> str:
        """Who or what uses it."""

    @property
    def role(self) -> str:
        """What it may do."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts, from where and by which way."""

    id: str
    name: str
    role: str
    way: Way
    address: str = ""

    @classmethod
    def of_key(cls, key: Key, way: Way, address: str) -> Actor:
        """Return whoever showed an API key."""
        return cls(key.id, key.name, key.role, way, address)


CONFIG = Actor("config", "rooms of the TOML file", "admin", Way.CONFIG)
"""A server that starts and makes the rooms that its file declares."""


class Log(Protocol):
    """Where entries are kept."""

    async def append(self, entry: Entry) -> str:
        """Write an entry; return its id."""


@dataclass(frozen=True, slots=True)
class Trail:
    """The audit log, signed by one actor."""

    log: Log
    actor: Actor

    async def record(self, action: str, room: str | None = None, **detail: Any) -> str:
        """Write what was done to the audit log and to the process log; return the entry's id.

        A log that cannot be written at that moment is not an error: what was done stays done.
        """
        actor = self.actor
        facts = {"by": actor.id, "way": actor.way, "action": action, "room": room}
        _LOG.info("audit", extra={**facts, "detail": detail})
        entry = Entry(
            key_id=actor.id,
            key_name=actor.name,
            role=actor.role,
            way=actor.way,
            action=action,
            room=room,
            detail=detail,
            address=actor.address,
        )
        try:
            return await self.log.append(entry)
        except WaitroomError as error:
            _LOG.error("the audit log could not be written: %s", error, extra=facts)
            return ""
