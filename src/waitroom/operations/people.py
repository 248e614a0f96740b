"""People in a room: admit the first, call one, remove some."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from waitroom.engine import Engine
from waitroom.models import Page, State
from waitroom.operations.selection import Selection, pages
from waitroom.operations.trail import Trail

_LISTED_IDS = 20


@dataclass(frozen=True, slots=True)
class Called:
    """How many were called, or until when one may enter; and its line in the log."""

    count: int
    until_ms: int | None = None
    entry_id: str = ""


@dataclass(frozen=True, slots=True)
class Kicked:
    """How many were meant, how many of them were still there, and whether there are more."""

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
    """Call the first `count` people, as far as there is room for them."""
    called = await engine.admit(room, count, force=force, op_id=op_id)
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
    """Call one ticket, wherever it stands."""
    until_ms = await engine.call(room, ticket_id, force=force, op_id=op_id)
    entry_id = await trail.record("call", room, ticket=ticket_id, force=force)
    return Called(1, until_ms, entry_id)


async def kick(
    engine: Engine, trail: Trail, room: str, ticket_ids: Sequence[str], *, op_id: str | None = None
) -> Kicked:
    """Remove named tickets, wherever they are."""
    asked = len(ticket_ids)
    kicked = await engine.kick(room, ticket_ids, op_id=op_id)
    listed = list(ticket_ids[:_LISTED_IDS])
    entry_id = await trail.record("kick", room, asked=asked, kicked=kicked, tickets=listed)
    return Kicked(asked, kicked, entry_id=entry_id)


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
    """Remove up to `most` people of a state, those waiting also by age, page after page.

    Those waiting are read just before each page goes: whoever waited when an operator was asked
    may be inside by now. Places of called or inside people are given away as soon as they are
    free, so these are read first, and the newcomers are spared.
    """
    selected = pages(engine, room, selection, now_ms, most=most)
    if selection.state is not State.WAITING:
        selected = _at_once([page async for page in selected])
    asked, kicked, more = 0, 0, False
    try:
        async for page in selected:
            kicked += await engine.kick(room, [ticket.id for ticket in page.tickets])
            asked, more = asked + len(page.tickets), page.after is not None
            on_page(len(page.tickets))
    finally:  # whoever was removed before an error is in the log, too
        ages = {"older_than_s": selection.older_ms, "newer_than_s": selection.newer_ms}
        entry_id = await trail.record(
            "kick",
            room,
            asked=asked,
            kicked=kicked,
            state=selection.state,
            **{name: None if ms is None else ms / 1000 for name, ms in ages.items()},
        )
    return Kicked(asked, kicked, more, entry_id)


async def _at_once(read: list[Page]) -> AsyncIterator[Page]:
    for page in read:
        yield page
