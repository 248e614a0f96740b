"""People in a room: admit the first, call one, remove some."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from waitroom.engine import Engine
from waitroom.engine.audit import LONGEST_ENTRY
from waitroom.models import Page, State
from waitroom.operations import lookup
from waitroom.operations.selection import Selection, pages
from waitroom.operations.trail import UNCERTAIN, Trail

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_IDS_LENGTH = LONGEST_ENTRY * 3 // 4  # the rest is for who did it, where and when


@dataclass(frozen=True, slots=True)
class Called:
    """How many were called, or which one and until when it may enter; and the entry in the log."""

    count: int
    until_ms: int | None = None
    entry_id: str = ""
    ticket_id: str = ""


@dataclass(frozen=True, slots=True)
class Kicked:
    """How many were selected, how many of them were in the room, and whether there are more."""

    asked: int
    kicked: int
    more: bool = False
    entry_id: str = ""


async def admit(
    engine: Engine,
    trail: Trail,
    room: str,
    count: int,
    *,
    force: bool = False,
    op_id: str | None = None,
) -> Called:
    """Call the first `count` people, as far as the limits allow."""
    doing = engine.admit(room, count, force=force, op_id=trail.op_id("admit", op_id))
    called = await trail.attempt("admit", room, doing, count=count, force=force)
    entry_id = await trail.record("admit", room, count=count, called=called, force=force)
    return Called(called, entry_id=entry_id)


async def call(
    engine: Engine,
    trail: Trail,
    room: str,
    ticket_id: str,
    *,
    force: bool = False,
    op_id: str | None = None,
) -> Called:
    """Call one ticket, named by its id or short code, wherever it stands."""
    ticket_id = await lookup.ticket_id(engine, room, ticket_id)
    doing = engine.call(room, ticket_id, force=force, op_id=trail.op_id("call", op_id))
    until_ms = await trail.attempt("call", room, doing, ticket=ticket_id, force=force)
    entry_id = await trail.record("call", room, ticket=ticket_id, force=force)
    return Called(1, until_ms, entry_id, ticket_id)


async def kick(
    engine: Engine,
    trail: Trail,
    room: str,
    ticket_ids: Sequence[str],
    *,
    ban: bool = False,
    op_id: str | None = None,
) -> Kicked:
    """Remove named tickets, present or not; with `ban` they cannot join again.

    A short code can replace an id as long as its ticket is in the room.
    """
    ticket_ids = await lookup.ticket_ids(engine, room, ticket_ids)
    op_id = trail.op_id("kick", op_id)
    kicked, entry_id = await _kick(engine, trail, room, ticket_ids, {"ban": ban}, op_id)
    return Kicked(len(ticket_ids), kicked, entry_id=entry_id)


async def kick_selected(
    engine: Engine,
    trail: Trail,
    room: str,
    selection: Selection,
    now_ms: int,
    *,
    most: int,
    on_page: Callable[[int], object] = lambda _: None,
) -> Kicked:
    """Remove up to `most` people in a state, waiting ones also by age, page after page.

    Waiting people are read just before each page is removed: somebody who waited when the operator
    was asked may be inside by now. Places of called or inside people are given away as soon as they
    are free, so these people are read first, and newcomers are not removed.
    """
    ages = {"older_than_s": selection.older_ms, "newer_than_s": selection.newer_ms}
    detail: dict[str, Any] = {"state": selection.state}
    detail |= {name: None if ms is None else ms / 1000 for name, ms in ages.items()}
    selected = pages(engine, room, selection, now_ms, most=most)
    if selection.state is not State.WAITING:
        selected = _at_once([page async for page in selected])
    asked, kicked, more, entry_id = 0, 0, False, ""
    async for page in selected:
        more = page.after is not None
        if not page.tickets:
            continue
        ids = [ticket.id for ticket in page.tickets]
        gone, entry_id = await _kick(engine, trail, room, ids, detail)
        asked, kicked = asked + len(ids), kicked + gone
        on_page(len(ids))
    if not asked:
        entry_id = await _record_kick(trail, room, (), 0, detail)
    return Kicked(asked, kicked, more, entry_id)


async def _kick(
    engine: Engine,
    trail: Trail,
    room: str,
    ticket_ids: Sequence[str],
    detail: dict[str, Any],
    op_id: str | None = None,
) -> tuple[int, str]:
    """Remove tickets and record each of them; return how many, and the id of the last entry."""
    kicked: int | None = None
    try:
        ban = bool(detail.get("ban"))
        kicked = await engine.kick(room, ticket_ids, ban=ban, op_id=op_id)
    except UNCERTAIN:
        await _record_kick(trail, room, ticket_ids, kicked, detail)
        raise
    return kicked, await _record_kick(trail, room, ticket_ids, kicked, detail)


async def _record_kick(
    trail: Trail,
    room: str,
    ticket_ids: Sequence[str],
    kicked: int | None,
    detail: dict[str, Any],
) -> str:
    """Record all ids, in several entries if they do not fit into one; `kicked` None is unknown."""
    # Absent people are kicked too, so every valid id is recorded.
    parts = list(_parts([ticket_id for ticket_id in ticket_ids if _ID.fullmatch(ticket_id)]))
    entry_id = ""
    for number, part in enumerate(parts, 1):
        which = {"part": number, "parts": len(parts)} if len(parts) > 1 else {}
        doubt = {"outcome": "unknown"} if kicked is None else {}
        entry_id = await trail.record(
            "kick",
            room,
            asked=len(ticket_ids),
            kicked=kicked,
            tickets=part,
            **detail,
            **which,
            **doubt,
        )
    return entry_id


def _parts(ticket_ids: Sequence[str]) -> Iterator[list[str]]:
    """Yield the ids in lists that each fit into one entry; one empty list if there are none."""
    part: list[str] = []
    space = _IDS_LENGTH
    for ticket_id in ticket_ids:
        length = len(ticket_id) + len('"", ')
        if part and length > space:
            yield part
            part, space = [], _IDS_LENGTH
        part.append(ticket_id)
        space -= length
    yield part


async def _at_once(read: list[Page]) -> AsyncIterator[Page]:
    for page in read:
        yield page
