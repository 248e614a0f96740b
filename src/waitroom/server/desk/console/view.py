"""A store's lines as its hosts see them: who waits, who was called, who ended today.

From the record, so that a host can work on while Redis is away; only what a newcomer would wait
comes from the live lines, if they answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waitroom.desk.desk import Desk, LineSummary
from waitroom.desk.models import Action, Party, Status, Store
from waitroom.desk.phones import masked
from waitroom.server.context import Server
from waitroom.server.desk.api.auth import desk_of
from waitroom.server.desk.pages import text as say
from waitroom.server.desk.pages.lines import lines_of
from waitroom.server.pages.text import Text

MOST_SHOWN = 100
"""Parties of one line that the page lists: nobody calls the hundred and first by hand."""

MOST_ENDED = 50
ENDED_S = 12 * 3600
"""For so long those who ended are listed, so that midnight takes nobody from the hosts' hands."""

SEATS = (1, 2, 3, 4, 5, 6, 8, 10)
DEFERS = (1, 2, 3, 5)
_MINUTE_MS = 60_000
BUTTONS: Mapping[Status, tuple[Action, ...]] = {
    Status.WAITING: (Action.CALL, Action.SEAT, Action.NO_SHOW, Action.CANCEL),
    Status.CALLED: (Action.SEAT, Action.NO_SHOW, Action.UNDO, Action.CANCEL),
    Status.SEATED: (Action.UNDO,),
    Status.CANCELLED: (Action.RESTORE, Action.UNDO),
    Status.NO_SHOW: (Action.RESTORE, Action.UNDO),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One party."""

    party: Party
    who: str
    phone: str | None
    buttons: tuple[Action, ...]
    since: str
    """How long it has waited, since when it was called, or at what time it ended."""

    may_defer: bool


@dataclass(frozen=True, slots=True)
class Column:
    """One line."""

    name: str
    title: str
    wait: str
    called: tuple[Row, ...]
    waiting: tuple[Row, ...]
    count: int
    seats: tuple[int, ...]

    @property
    def unshown(self) -> int:
        """How many wait beyond those that are listed."""
        return self.count - len(self.waiting)

    @property
    def first(self) -> Row | None:
        """Who is next."""
        return self.waiting[0] if self.waiting else None


@dataclass(frozen=True, slots=True)
class Board:
    """All of it."""

    store: Store
    columns: tuple[Column, ...]
    ended: tuple[Row, ...]


async def board(server: Server, text: Text, store: Store, now_ms: int) -> Board:
    """Return what the console shows now."""
    desk, waits = desk_of(server), {view.name: view for view in await lines_of(server, store)}
    columns = []
    for kind in store.types:
        live = await desk.record.live(store.id, kind.name)
        rows = [_row(text, store, party, now_ms) for party in live]
        waiting = tuple(row for row in rows if row.party.status is Status.WAITING)
        columns.append(
            Column(
                name=kind.name,
                title=kind.title,
                wait=_wait(text, waits[kind.name]),
                called=tuple(row for row in rows if row.party.status is Status.CALLED),
                waiting=waiting[:MOST_SHOWN],
                count=len(waiting),
                seats=tuple(n for n in SEATS if n <= max(kind.largest_party, 2)),
            )
        )
    return Board(store, tuple(columns), await _ended(desk, text, store, now_ms))


def _wait(text: Text, view: LineSummary) -> str:
    """Say what a newcomer would wait."""
    found = say.within(text, view.observed) if view.observed else say.wait(text, view.wait_minutes)
    return text("host_wait", wait=found)


async def _ended(desk: Desk, text: Text, store: Store, now_ms: int) -> tuple[Row, ...]:
    since_ms = now_ms - ENDED_S * 1000
    found = [
        party
        for kind in store.types
        for party in await desk.record.ended_since(store.id, kind.name, since_ms)
    ]
    found.sort(key=lambda one: one.seated_ms or one.ended_ms or 0, reverse=True)
    return tuple(_row(text, store, party, now_ms) for party in found[:MOST_ENDED])


def _row(text: Text, store: Store, party: Party, now_ms: int) -> Row:
    return Row(
        party=party,
        who=say.who(text, party),
        phone=masked(party.phone) if party.phone else None,
        buttons=BUTTONS[party.status],
        since=_since(text, store, party, now_ms),
        may_defer=party.status.live and party.defers < store.max_defers,
    )


def _since(text: Text, store: Store, party: Party, now_ms: int) -> str:
    if not party.status.live:
        return say.clock(store, party.seated_ms or party.ended_ms or now_ms)
    if party.status is Status.CALLED and party.called_ms is not None:
        minutes = max(0, now_ms - party.called_ms) // _MINUTE_MS
        if not minutes:
            return text("host_called_now")
        return text("host_since_called", span=say.span(text, minutes))
    minutes = max(0, now_ms - party.registered_ms) // _MINUTE_MS
    if not minutes:
        return text("host_just")
    return text("host_waited", span=say.span(text, minutes))


def values(board: Board, chosen: str) -> dict[str, Any]:
    """Return what the template of the page needs; `chosen` is the line to show first."""
    names: Sequence[str] = [one.name for one in board.columns]
    shown = chosen if chosen in names else (names[0] if names else "")
    return {"board": board, "store": board.store, "shown": shown, "defers": DEFERS}
