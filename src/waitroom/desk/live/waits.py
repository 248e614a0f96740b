"""What a store says of its lines to whoever has not joined yet: how long, how many, and whether."""

from __future__ import annotations

from dataclasses import dataclass

from waitroom.desk.live.line import Counts
from waitroom.desk.live.tokens import read_pace
from waitroom.desk.models import Range, Source, Store, WaitingType
from waitroom.desk.record.join import check_closing, check_mode
from waitroom.errors import DeskError, LineFull


@dataclass(frozen=True, slots=True, kw_only=True)
class LineView:
    """One line at a glance."""

    name: str
    title: str
    waiting: int
    called: int
    wait_minutes: int
    """What a party that joins now would wait."""

    observed: Range | None
    accepts: bool
    why_not: str | None = None
    """The code of the error that a guest on the spot would get."""


def line_view(
    store: Store,
    type: WaitingType,  # noqa: A002 - the desk's word
    counts: Counts,
    observed: Range | None,
    now_ms: int,
) -> LineView:
    """Return a line as somebody sees it who may join at this moment."""
    pace = read_pace(counts.pace)
    refusal: DeskError | None = None
    try:
        check_mode(store, Source.ON_SITE)
        if type.queue_limit is not None and counts.waiting >= type.queue_limit:
            raise LineFull("as many parties wait as may")
        check_closing(store, pace, counts.waiting, now_ms)
    except DeskError as error:
        refusal = error
    return LineView(
        name=type.name,
        title=type.title,
        waiting=counts.waiting,
        called=counts.called,
        wait_minutes=pace.wait_minutes(counts.waiting + 1),
        observed=observed,
        accepts=refusal is None,
        why_not=None if refusal is None else refusal.code,
    )
