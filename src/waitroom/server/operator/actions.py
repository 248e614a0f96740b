"""What operators do, each with its line in the audit log: for the API and the page alike."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from typing import Any

from waitroom.engine.api_keys import ApiKey, Role
from waitroom.engine.audit import Entry
from waitroom.errors import InvalidInput, Unavailable, UnknownRoom
from waitroom.models import MEMBERS_PER_SCRIPT, Policy, Room, State, check_room_name
from waitroom.server.context import Server
from waitroom.server.http.auth import Who

MOST_KICKED = 10_000
"""One call removes at most so many by age, so that it ends within seconds; then there is more."""

_LOG = logging.getLogger("waitroom.audit")


@dataclass(frozen=True, slots=True)
class Changed:
    """A change of a policy: the room before and after, and its line in the log."""

    old: Room
    new: Room
    entry_id: str

    @property
    def fields(self) -> dict[str, dict[str, Any]]:
        """The fields that differ, each with its old and its new value."""
        before, after = self.old.policy.as_dict(), self.new.policy.as_dict()
        return {
            name: {"old": before[name], "new": after[name]}
            for name in before
            if before[name] != after[name]
        }


@dataclass(frozen=True, slots=True)
class Kicked:
    """How many were meant, how many of them were still there, and whether there are more."""

    found: int
    kicked: int
    more: bool = False
    entry_id: str = ""


@dataclass(frozen=True, slots=True)
class Called:
    """How many were called, or until when one may enter; and its line in the log."""

    count: int
    until_ms: int | None = None
    entry_id: str = ""


async def record(
    server: Server, who: Who, action: str, room: str | None = None, **detail: Any
) -> str:
    """Write what was done to the audit log and to the process log; return the entry's id.

    What was done stays done if the log cannot be written at that moment, so that is no error.
    """
    entry = Entry(
        key_id=who.key.id,
        key_name=who.key.name,
        role=who.key.role,
        action=action,
        room=room,
        detail=detail,
        address=who.address,
    )
    facts = {"by": who.key.id, "action": action, "room": room, "detail": detail}
    _LOG.info("audit", extra=facts)
    try:
        return await server.audit.append(entry)
    except Unavailable:
        _LOG.exception("could not write the audit log")
        return ""


def op_id(who: Who, action: str, given: str | None, header: str | None) -> str | None:
    """Return the caller's `op_id`, or one of their Idempotency-Key that only they can repeat."""
    if given is not None or header is None:
        return given
    text = f"{who.key.id}:{action}:{header}"
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


async def create(server: Server, who: Who, room: str, policy: Policy) -> Room:
    """Make a room."""
    made = await server.engine.create(room, policy)
    await record(server, who, "room.create", room, policy=_short(policy))
    return made


async def change(
    server: Server,
    who: Who,
    room: str,
    changes: dict[str, Any],
    version: int | None = None,
    *,
    op: str | None = None,
) -> Changed:
    """Change fields of a policy; with `version`, only if nobody else did since."""
    if not changes:
        raise InvalidInput("policy", "give at least one field to change")
    made = await server.engine.configure(room, version=version, op_id=op, **changes)
    old, new = made.old, made.new
    done = Changed(old, new, "")
    if not done.fields:  # set to what it was, or asked again: nothing was changed
        return done
    fields = {name: {k: _cut(v) for k, v in pair.items()} for name, pair in done.fields.items()}
    entry_id = await record(server, who, "room.change", room, changed=fields, version=new.version)
    return Changed(old, new, entry_id)


async def drop(server: Server, who: Who, room: str) -> None:
    """Remove a room with everybody in it."""
    stats = await server.engine.stats(room)
    if not await server.engine.drop(room):
        raise UnknownRoom(room)
    held = {"waiting": stats.waiting, "called": stats.called, "inside": stats.inside}
    await record(server, who, "room.drop", room, held=held)


async def clear(server: Server, who: Who, room: str, confirm: str, op: str | None) -> int:
    """Empty a room, if its name is repeated."""
    check_room_name(room)
    if confirm != room:
        raise InvalidInput("confirm", "must repeat the room's name, for nobody gets a place back")
    cleared = await server.engine.clear(room, op_id=op)
    await record(server, who, "room.clear", room, cleared=cleared)
    return cleared


async def admit(
    server: Server, who: Who, room: str, count: int, *, force: bool, op: str | None
) -> Called:
    """Call the first `count` people, as far as there is room for them."""
    called = await server.engine.admit(room, count, force=force, op_id=op)
    entry_id = await record(server, who, "admit", room, count=count, called=called, force=force)
    return Called(called, entry_id=entry_id)


async def call(
    server: Server, who: Who, room: str, ticket_id: str, *, force: bool, op: str | None
) -> Called:
    """Call one ticket, wherever it stands."""
    until_ms = await server.engine.call(room, ticket_id, force=force, op_id=op)
    entry_id = await record(server, who, "call", room, ticket=ticket_id, force=force)
    return Called(1, until_ms, entry_id)


async def kick(
    server: Server, who: Who, room: str, ticket_ids: list[str], op: str | None
) -> Kicked:
    """Remove named tickets."""
    if not 1 <= len(ticket_ids) <= MEMBERS_PER_SCRIPT:
        raise InvalidInput("ticket_ids", f"takes 1 to {MEMBERS_PER_SCRIPT} ids")
    kicked = await server.engine.kick(room, ticket_ids, op_id=op)
    counts = {"asked": len(ticket_ids), "kicked": kicked}
    entry_id = await record(server, who, "kick", room, **counts, tickets=ticket_ids[:20])
    return Kicked(len(ticket_ids), kicked, entry_id=entry_id)


async def kick_by_age(
    server: Server,
    who: Who,
    room: str,
    *,
    older_than_s: float | None,
    newer_than_s: float | None,
) -> Kicked:
    """Remove those who have waited longer or less than this, page by page."""
    now_ms = (await server.engine.stats(room)).now_ms
    until = None if older_than_s is None else now_ms - round(older_than_s * 1000)
    since = None if newer_than_s is None else now_ms - round(newer_than_s * 1000)
    found, kicked, after, more = 0, 0, None, True
    while more and found < MOST_KICKED:
        page = await server.engine.list(
            room,
            State.WAITING,
            after=after,
            limit=MEMBERS_PER_SCRIPT,
            since_ms=since,
            until_ms=until,
        )
        found += len(page.tickets)
        kicked += await server.engine.kick(room, [one.id for one in page.tickets])
        after, more = page.after, page.after is not None
    ages = {"older_than_s": older_than_s, "newer_than_s": newer_than_s}
    await record(server, who, "kick", room, asked=found, kicked=kicked, **ages)
    return Kicked(found, kicked, more)


async def make_key(server: Server, who: Who, name: str, role: Role) -> tuple[str, ApiKey]:
    """Make an API key; its text is in no log."""
    text, made = await server.keys.create(name, role)
    await record(server, who, "key.create", id=made.id, name=made.name, role=made.role)
    return text, made


async def revoke_key(server: Server, who: Who, key_id: str) -> ApiKey:
    """Revoke an API key."""
    gone = await server.keys.revoke(key_id)
    await record(server, who, "key.revoke", id=gone.id, name=gone.name)
    return gone


def _short(policy: Policy) -> dict[str, Any]:
    """Return what is not the default: the log needs no more."""
    plain, usual = policy.as_dict(), Policy().as_dict()
    return {name: _cut(value) for name, value in plain.items() if value != usual[name]}


def _cut(value: Any) -> Any:
    """Shorten texts of pages: a logo may have 64 kB."""
    return f"{value[:200]}…" if isinstance(value, str) and len(value) > 200 else value
