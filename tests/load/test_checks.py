"""The checks can fail: a correct history is ok, and every fault turns its check red."""

from __future__ import annotations

from math import inf, nan

import pytest

from waitroom.load.checks import Check, Verdict, all_checks, nobody_lost, order, positions, rolling
from waitroom.load.checks import capacity as check_capacity
from waitroom.load.plan import Limits
from waitroom.load.visits import End, History, Visit

LIMITS = Limits(capacity=1, max_entries=2, per_s=10, known=True)


def visit(arrived: float, called: float, left: float, **changes: object) -> Visit:
    """Return the visit of somebody whose every request took 0.1 s."""
    made = Visit(
        end=End.SERVED,
        join_sent=arrived,
        joined=arrived + 0.1,
        last_waiting=called - 1.0,
        called=called,
        enter_sent=called,
        entered=called + 0.1,
        held_until=left,
        positions=3,
    )
    return made._replace(**changes)  # type: ignore[arg-type]


GOOD = (visit(0, 2, 4), visit(1, 4.05, 8), visit(2, 20, 22, last_waiting=3.0))
"""Three people, one after another."""


def failed(checks: tuple[Check, ...]) -> set[str]:
    """Return the names of the failed checks."""
    return {check.name for check in checks if check.verdict is Verdict.FAILED}


def test_what_is_right_is_ok() -> None:
    """A good history passes every check."""
    results = all_checks(GOOD, LIMITS)
    assert [Verdict.OK] * 5 == [check.verdict for check in results], results


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        # The second is told "called" at 4.05, and the first is told "waiting" at 5.
        ("order", visit(0, 9, 10, last_waiting=5.0, entered=nan)),
        # Somebody came first and was never called at all.
        ("order", visit(0, nan, nan, end=End.WAITING, last_waiting=50.0)),
        ("capacity", visit(3, 5, 6, end=End.NO_SHOW, entered=nan)),
        ("capacity", visit(30, 21.9, inf, end=End.INSIDE)),
        ("rolling limit", visit(3, 9, 9.05)),
        ("positions", visit(30, 40, 41, rises=1)),
        ("nobody lost", visit(30, 40, 41, end=End.LOST)),
        ("nobody lost", visit(30, 40, 41, end=End.UNREACHED)),
    ],
)
def test_each_fault_is_found(name: str, wrong: Visit) -> None:
    """One wrong visit fails exactly one check."""
    assert {name} == failed(all_checks((*GOOD, wrong), LIMITS))


def test_what_may_have_been_right_is_not_wrong() -> None:
    """People who asked at the same moment may be called in either order, and edges may touch."""
    together = [visit(0, 9, 9.5, last_waiting=8.0), visit(0.05, 3, 3.5)]
    assert Verdict.UNKNOWN is order(together, LIMITS).verdict
    # The poll that said "waiting" was sent before the other person learned "called".
    crossing = [visit(0, 9, 9.5, last_waiting=2.99), visit(1, 3, 3.5)]
    assert Verdict.OK is order(crossing, LIMITS).verdict
    touching = [visit(0, 2, 4), visit(1, 4, 5)]
    assert Verdict.OK is check_capacity(touching, LIMITS).verdict
    # Three entries that lie within 10 s only if each happened at the best moment of its request.
    wide = [visit(0, start, start + 0.2) for start in (0.0, 5.0, 9.95)]
    assert Verdict.OK is rolling(wide, LIMITS).verdict
    sure = [visit(0, start, start + 0.2) for start in (0.0, 5.0, 9.85)]
    assert Verdict.FAILED is rolling(sure, LIMITS).verdict


def test_entries_longer_than_the_window_accuse_nobody() -> None:
    """A request that hangs for longer than the window is left out."""
    slow = [visit(0, 1.0, 30.0)._replace(entered=25.0) for _ in range(5)]
    assert Verdict.OK is rolling(slow, LIMITS).verdict


def test_what_cannot_be_told_is_unknown() -> None:
    """Without limits, people or waits there is no verdict, and the reason is given."""
    none = Limits()
    assert "give --capacity, or --key" in check_capacity(GOOD, none).detail
    assert "--max-entries and --per-s" in rolling(GOOD, none).detail
    assert "the room has none" == rolling(GOOD, Limits(known=True)).detail
    assert "lets everybody in" in check_capacity(GOOD, Limits(capacity=1, free=True)).detail
    assert "order of their arrival" in order(GOOD, Limits(in_order=False)).detail
    assert [Verdict.UNKNOWN] * 5 == [check.verdict for check in all_checks([], LIMITS)]
    assert Verdict.UNKNOWN is positions([visit(0, 1, 2, positions=1)]).verdict


def test_our_own_lateness_is_not_held_against_the_server() -> None:
    """Anybody silent for too long was rightly dropped; the check says that it cannot tell."""
    check = nobody_lost([*GOOD, visit(0, 1, 2, end=End.LATE)])
    assert (Verdict.UNKNOWN, True) == (check.verdict, "asked too late" in check.detail)


def test_histories_of_processes_add_up() -> None:
    """What a process recorded arrives complete, however many people there were."""
    first, second = History(), History()
    people = [visit(at, at + 2, at + 3) for at in range(6_000)]
    for person in people:
        first.add(person)
    blocks = list(first.blocks())
    for block in blocks:
        second.take(block)
    assert (2, people) == (len(blocks), list(second))
