"""The visitors of one process: what they do with each answer, and where they end up."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable

import pytest

from tests.load.stub import Stub, replying, served
from waitroom.load.checks import Verdict, all_checks
from waitroom.load.crowd import Crowd
from waitroom.load.person import Stage, Step
from waitroom.load.plan import Limits, Plan
from waitroom.load.target import Target
from waitroom.load.visits import End


def crowd(target: Target, people: int = 1, **changes: float) -> Crowd:
    """Return people who come at once, stay for no time and share a few connections."""
    values = {"arrive_s": 0.0, "stay_s": 0.0, "leave": 0.0, "no_show": 0.0} | changes
    plan = Plan(
        target=target,
        room="x",
        people=people,
        connections=4,
        starts=time.monotonic(),
        **values,  # type: ignore[arg-type]
    )
    return Crowd(plan)


def ended(group: Crowd) -> dict[End, int]:
    """Return how many ended in which way."""
    return dict(Counter(End(visit.end) for visit in group.history))


def problem(status: int, code: str) -> bytes:
    """Return a refusal as bytes."""
    body = json.dumps({"code": code}).encode()
    return f"HTTP/1.1 {status} x\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


@pytest.mark.parametrize(
    ("changes", "end"), [({}, End.SERVED), ({"no_show": 1.0}, End.NO_SHOW)], ids=["served", "away"]
)
async def test_everybody_comes_to_an_end(changes: dict[str, float], end: End) -> None:
    """Each visit is recorded once, and nobody still counts as present."""
    stub = Stub(capacity=6)
    async with served(stub) as target:
        group = crowd(target, 6, **changes)
        await group.run()
    assert {end: 6} == ended(group)
    assert {Stage.DONE: 6} == dict(+group.stages)
    assert (6, 0) == (group.latency[Step.JOIN].count, group.errors.total())
    assert 1 <= group.most_busy <= 4


@pytest.mark.parametrize(
    ("status", "code"), [(409, "room_full"), (403, "room_closed"), (422, "invalid_input")]
)
async def test_who_is_refused_does_not_come_again(status: int, code: str) -> None:
    """A room that refuses a join has the last word; the refusal is counted by its code."""
    async with replying(problem(status, code)) as target:
        group = crowd(target)
        await group.run()
    assert {End.REFUSED: 1} == ended(group)
    assert {(Step.JOIN, status, code): 1} == group.errors


async def test_a_crowd_that_is_stopped_has_not_come() -> None:
    """Anybody who had nothing to do yet is recorded as still to come, and asks for nothing."""
    stub = Stub()
    async with served(stub) as target:
        group = crowd(target, 5, arrive_s=3600)
        group.stop()
        await group.run()
    assert ({End.NOT_COME: 5}, 0) == (ended(group), stub.requests)


async def stopped_when(group: Crowd, reached: Callable[[], bool]) -> None:
    """Run a crowd until something is true, then end it."""
    running = asyncio.create_task(group.run())
    while not (reached() or running.done()):  # noqa: ASYNC110 - the crowd has no event for it
        await asyncio.sleep(0.01)
    group.stop()
    await running


async def test_those_who_still_wait_are_told_of_and_seen_off() -> None:
    """At the end everybody is accounted for, nobody is lost, and the room is left empty."""
    stub = Stub(capacity=1)
    async with served(stub) as target:
        group = crowd(target, 30, stay_s=3600)
        stages = group.stages
        await stopped_when(group, lambda: (1, 29) == (stages[Stage.INSIDE], stages[Stage.WAITING]))
    assert {End.INSIDE: 1, End.WAITING: 29} == ended(group)
    assert {} == stub.states
    verdicts = {check.name: check.verdict for check in all_checks(group.history, Limits(1))}
    assert (Verdict.OK, Verdict.OK) == (verdicts["capacity"], verdicts["nobody lost"])


async def test_some_give_up() -> None:
    """With `leave` people go while they wait, which is not an error."""
    async with served(Stub(capacity=1)) as target:
        group = crowd(target, 60, stay_s=3600, leave=1.0)
        await stopped_when(group, lambda: group.stages[Stage.DONE] > 3)
    assert ended(group)[End.LEFT] > 3
    assert 0 == group.errors.total()
