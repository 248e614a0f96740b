"""The audit trail: who acts, in which way, and each action in both logs. No secrets."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from waitroom.engine.audit import Entry
from waitroom.errors import BackendUnavailable, WaitroomError

UNCERTAIN = (BackendUnavailable, asyncio.CancelledError)
"""After these errors an action may be done or not: its reply was lost, or nobody waited for it."""

_LOG = logging.getLogger("waitroom.audit")
_Outcome = TypeVar("_Outcome")


class Way(StrEnum):
    """How somebody reached us."""

    API = "api"
    PAGE = "page"
    CLI = "cli"
    CONFIG = "config"


class Key(Protocol):
    """What an actor needs of an API key."""

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
    """Who acts, from where and in which way."""

    id: str
    name: str
    role: str
    way: Way
    address: str = ""

    @classmethod
    def of_key(cls, key: Key, way: Way, address: str) -> Actor:
        """Return the actor who showed an API key."""
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

    def op_id(self, action: str, given: str | None) -> str | None:
        """Return the id of an operation that only this actor can repeat, and only for this action.

        Otherwise, guessing another's id would give their answer, or do nothing in their place.
        """
        if given is None:
            return None
        text = f"{self.actor.id}:{action}:{given}"
        data = text.encode(errors="surrogateescape")
        return hashlib.blake2b(data, digest_size=16).hexdigest()

    async def attempt(
        self, action: str, room: str, doing: Awaitable[_Outcome], **detail: Any
    ) -> _Outcome:
        """Await an action that the caller records; record it here if its outcome is unknown."""
        try:
            return await doing
        except UNCERTAIN:
            await self.record(action, room, **detail, outcome="unknown")
            raise

    async def record(self, action: str, room: str | None = None, **detail: Any) -> str:
        """Write what was done to the audit log and to the process log; return the entry's id.

        A log that cannot be written at that moment is not an error: the action stays done.
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
