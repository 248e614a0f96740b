"""The checkers of the acceptance tests can fail: each is shown the fault it looks for."""

from __future__ import annotations

from tests.acceptance import checks
from tests.acceptance.checks import Event


def _log(*lines: tuple[str, int, str]) -> list[Event]:
    return [Event(kind, at_ms * 1000, tuple(ids.split())) for kind, at_ms, ids in lines]


def test_replay_counts_who_is_held_and_lets_deadlines_pass() -> None:
    """The peak counts called + inside; a deadline ends a turn and a session without any event."""
    log = _log(("called", 0, "a b"), ("entered", 10, "a"), ("called", 50, "c"))
    result = checks.replay(log, session_ms=20, enter_within_ms=100)
    assert (2, [], {"b": "called", "c": "called"}) == (result.peak, result.wrong, result.places)
    assert 3 == checks.replay(log, session_ms=100, enter_within_ms=100).peak
    log = _log(("called", 0, "a b"), ("ended", 10, "a"), ("called", 10, "c"))
    assert 2 == checks.replay(log, session_ms=20, enter_within_ms=100).peak


def test_replay_counts_what_is_reserved_of_a_window() -> None:
    """Turns and entries of the window add up; an entry leaves it with time, a turn when it ends."""
    log = _log(("called", 0, "a b"), ("entered", 10, "a"), ("called", 15, "c"))
    assert 3 == checks.replay(log, 100, 100, window_us=5_000).reserved
    late = [*log, *_log(("called", 16, "d"))]
    assert 3 == checks.replay(late, 100, 100, window_us=5_000).reserved
    assert 4 == checks.replay(late, 100, 100, window_us=6_000).reserved
    assert 3 == checks.replay(late, 100, 16, window_us=6_000).reserved


def test_replay_finds_moves_that_are_not_allowed() -> None:
    """A second call, an entry without a turn and an entry after the turn are each found."""
    again = _log(("called", 0, "a"), ("called", 1, "a"))
    uncalled = _log(("entered", 0, "a"))
    late = _log(("called", 0, "a"), ("entered", 60, "a"))
    for log in (again, uncalled, late):
        assert 1 == len(checks.replay(log, session_ms=20, enter_within_ms=60).wrong)
    assert [] == checks.replay(late, session_ms=20, enter_within_ms=61).wrong


def test_windows_slide_over_every_event() -> None:
    """A window that straddles a full second is found, and both of its ends count."""
    times = [900_000, 950_000, 1_050_000, 1_900_000]
    assert 3 == checks.most_in_window(times, 200_000)
    assert 4 == checks.most_in_window(times, 1_000_000)
    assert 1 == checks.most_in_window(times, 10_000)
    assert 0 == checks.most_in_window([], 1)


def test_slots_count_calls_but_not_the_direct_ones() -> None:
    """The calls of one slot add up over events; direct calls and entries do not count."""
    log = _log(("called", 0, "a b"), ("called", 90, "c"), ("called", 100, "d"), ("entered", 5, "a"))
    assert 3 == checks.most_per_slot(log, 100)
    assert 2 == checks.most_per_slot(log, 100, {"c"})
    assert [0, 0, 90_000, 100_000] == checks.moments(log, "called")


def test_order_and_doubles_are_seen() -> None:
    """Somebody who is called after a later place, twice, or without a known place is named."""
    places = {"a": 1, "b": 2, "c": 3}
    assert [] == checks.overtaken(["a", "b", "c"], places)
    assert ["b"] == checks.overtaken(["a", "c", "b"], places)
    assert ["x"] == checks.overtaken(["a", "x"], places)
    assert ["a"] == checks.twice(checks.called_ids(_log(("called", 0, "a b"), ("called", 1, "a"))))


def test_the_lost_and_the_doubled_are_named() -> None:
    """A person in no state is lost, a person in two states is doubled."""
    log = _log(("ended", 0, "a"), ("called", 1, "b"))
    assert ["b"] == checks.lost(["a", "b", "c"], log, {"c"})
    assert [] == checks.lost(["a", "b", "c"], log, {"c"}, ["b"])
    assert ["b"] == checks.in_two_states(waiting=["a", "b"], called={"b"}, inside=["c"])
