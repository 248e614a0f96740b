"""A faulty server is found out, over HTTP, by what its visitors saw."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.load.stub import Stub, served
from waitroom.errors import WaitroomError
from waitroom.load import Outcome, Plan, run
from waitroom.load.checks import Verdict
from waitroom.load.plan import Limits
from waitroom.load.visits import End

LIMITS = Limits(capacity=2, max_entries=1_000, per_s=10)


async def loaded(
    stub: Stub, limits: Limits = LIMITS, *, longest_s: float = 120, **changes: float
) -> Outcome:
    """Send thirty people to a stub."""
    async with served(stub) as target:
        plan = Plan(
            target=target,
            room="x",
            people=30,
            arrive_s=0.5,
            stay_s=changes.pop("stay_s", 0.05),
            leave=changes.pop("leave", 0),
            no_show=0,
            connections=8,
            longest_s=longest_s,
            patience_s=changes.pop("patience_s", 60),
        )
        return await run(plan, limits=limits)


def verdicts(outcome: Outcome) -> dict[str, Verdict]:
    """Return the result of each check."""
    return {check.name: check.verdict for check in outcome.checks}


async def test_a_right_room_passes() -> None:
    """Without a fault every check is ok, everybody is served, and connections are limited."""
    stub = Stub()
    outcome = await loaded(stub)
    assert {Verdict.OK} == set(verdicts(outcome).values()), outcome.checks
    assert (True, {End.SERVED: 30}) == (outcome.passed, outcome.ended)
    assert stub.most_at_once <= 8 + 1  # and the one that watches the room


@pytest.mark.parametrize(
    ("stub", "limits", "name"),
    [
        (Stub(capacity=2), Limits(1, 1_000, 10), "capacity"),
        (Stub(), Limits(2, 5, 10), "rolling limit"),
        (Stub(newest_first=True), LIMITS, "order"),
        (Stub(positions_rise=True), LIMITS, "positions"),
        (Stub(loses=True), LIMITS, "nobody lost"),
    ],
    ids=["capacity", "rolling", "order", "positions", "lost"],
)
async def test_each_fault_is_seen(stub: Stub, limits: Limits, name: str) -> None:
    """Each fault of the server fails its check."""
    outcome = await loaded(stub, limits)
    assert (Verdict.FAILED, False) == (verdicts(outcome)[name], outcome.passed), outcome.checks


async def test_errors_are_counted_and_visitors_go_on() -> None:
    """If a server often answers 503, every one is counted, and everybody is still served."""
    outcome = await loaded(Stub(capacity=5, fails_every=6), Limits(5))
    errors = Counter[tuple[int, str]]()
    for (_, status, code), times in outcome.noted.errors.items():
        errors[status, code] += times
    assert {(503, "backend_unavailable")} == set(errors)
    assert errors.total() > 10
    assert ({End.SERVED: 30}, True) == (outcome.ended, outcome.passed)


async def test_nothing_but_errors_is_a_failure() -> None:
    """People who never get an answer are not ignored."""
    outcome = await loaded(Stub(fails_every=1), patience_s=2)
    assert ({End.UNREACHED: 30}, False) == (outcome.ended, outcome.passed)


async def test_a_room_must_be_there() -> None:
    """A server without the room is told apart from no server."""
    async with served(Stub()) as target:
        with pytest.raises(WaitroomError, match="the answer was 404"):
            await run(Plan(target=target, room="y", people=1))
