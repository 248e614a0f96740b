"""A store's lines as its hosts see them: who waits, who was called, who ended today.

All of it comes from the record, so that a host can keep working while Redis is away; only a
newcomer's wait comes from the live lines, if they answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waitroom.desk.desk import Desk
from waitroom.desk.models import Action, Party, Status, Store
from waitroom.desk.phones import example, masked
from waitroom.server.desk import text as say
from waitroom.server.desk.lines import ended_since, summarize
from waitroom.server.pages.text import Text
from waitroom.server.rooms.backend_health import BackendHealth

MOST_SHOWN = 100
"""Most parties of one line that the page lists: nobody calls the hundred and first by hand."""

MOST_ENDED = 50
ENDED_S = 12 * 3600
"""How long ended parties are listed, so that none disappears at midnight."""

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
class Lists:
    """All of it."""

    store: Store
    columns: tuple[Column, ...]
    ended: tuple[Row, ...]


async def read_lists(
    desk: Desk, backend: BackendHealth, text: Text, store: Store, now_ms: int
) -> Lists:
    """Return what the console shows now."""
    summaries = {summary.name: summary for summary in await summarize(desk, backend, store)}
    live = {line.name: await desk.record.live(store.id, line.name) for line in store.types}
    ended = await ended_since(desk, store, now_ms / 1000 - ENDED_S)
    # A party that ended between the two reads is in both; the later read is right.
    ended_ids = {party.id for party in ended}
    columns = []
    for waiting_type in store.types:
        parties = [party for party in live[waiting_type.name] if party.id not in ended_ids]
        rows = [_row(text, store, party, now_ms) for party in parties]
        waiting = tuple(row for row in rows if row.party.status is Status.WAITING)
        wait = say.newcomer_wait(text, summaries[waiting_type.name])
        columns.append(
            Column(
                name=waiting_type.name,
                title=waiting_type.title,
                wait=text("host_wait", wait=wait),
                called=tuple(row for row in rows if row.party.status is Status.CALLED),
                waiting=waiting[:MOST_SHOWN],
                count=len(waiting),
                seats=tuple(n for n in SEATS if n <= max(waiting_type.largest_party, 2)),
            )
        )
    rows = [_row(text, store, party, now_ms) for party in ended[:MOST_ENDED]]
    return Lists(store, tuple(columns), tuple(rows))


def _row(text: Text, store: Store, party: Party, now_ms: int) -> Row:
    return Row(
        party=party,
        who=say.who(text, party),
        phone=masked(party.phone, store.country) if party.phone else None,
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


def values(lists: Lists, chosen: str) -> dict[str, Any]:
    """Return what the template of the page needs; `chosen` is the line to show first."""
    names: Sequence[str] = [column.name for column in lists.columns]
    shown = chosen if chosen in names else (names[0] if names else "")
    return {
        "lists": lists,
        "store": lists.store,
        "shown": shown,
        "defers": DEFERS,
        "example": example(lists.store.country),
    }
