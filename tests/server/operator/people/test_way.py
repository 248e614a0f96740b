"""What a person's page says about their way, and why they still wait."""

from __future__ import annotations

from waitroom.engine import Steps
from waitroom.engine.audit import Entry
from waitroom.models import Event, Person, Policy, Reason, State
from waitroom.server.operator.people.way import gap_ms, way

NOW_MS = 1_800_000_000_000
WAITS = Person("r", "A" * 16, State.WAITING, place=NOW_MS * 1000, position=3)
GONE = Person("r", "A" * 16, State.GONE, reason=Reason.KICKED)


def steps(*events: Event, since_ms: int = NOW_MS, complete: bool = True) -> Steps:
    """Return what events tell."""
    return Steps(events, since_ms * 1000, complete)


def event(kind: str, after_ms: int, reason: Reason | None = None) -> Event:
    """Return something that happened some time after they came."""
    return Event(kind, (NOW_MS + after_ms) * 1000, (WAITS.id,), reason)


def entry(action: str, after_ms: int, **detail: object) -> Entry:
    """Return an entry of the audit log."""
    return Entry(
        key_id="k",
        key_name="box office",
        role="operator",
        action=action,
        at_ms=NOW_MS + after_ms,
        detail=detail,
    )


def test_who_did_it_stands_with_what_happened() -> None:
    """An event and its log entry are one step; an entry without an event is a step too."""
    told = steps(event("called", 10), event("ended", 60_000, Reason.KICKED))
    log = [
        entry("kick", 60_200, tickets=[GONE.id]),
        entry("kick", 200_000, tickets=[GONE.id]),
        entry("kick", 60_100, tickets=["B" * 16]),
    ]
    line = way(GONE, told, log, Policy())
    assert ["step_called", "step_kicked", "step_did_kick"] == [step.key for step in line]
    assert [None, log[0], log[1]] == [step.entry for step in line]


def test_a_gap_is_told_where_events_are_forgotten() -> None:
    """Not if all events are kept, nor for somebody who came after the oldest one kept."""
    for person, told, gap in (
        (WAITS, steps(), None),
        (WAITS, steps(since_ms=NOW_MS + 5, complete=False), NOW_MS + 5),
        (WAITS, steps(since_ms=NOW_MS - 5, complete=False), None),
        (GONE, steps(since_ms=NOW_MS - 5, complete=False), NOW_MS - 5),
    ):
        assert gap == gap_ms(person, told, way(person, told, (), Policy()))


def test_a_changed_place_is_no_time_of_arrival() -> None:
    """For somebody reinstated or deferred, the place does not tell when they came."""
    assert ["step_joined"] == [step.key for step in way(WAITS, steps(), (), Policy())]
    back = steps(event("reinstated", 9))
    assert ["step_reinstated"] == [step.key for step in way(WAITS, back, (), Policy())]
