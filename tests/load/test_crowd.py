"""The visitors of one process: what they do with each answer, and where they are in the end."""

from __future__ import annotations

import json
import time
from collections import Counter

import pytest

from tests.load.stub import Stub, replying, served
from waitroom.load.crowd import Crowd
from waitroom.load.person import Stage, Step
from waitroom.load.plan import Plan
from waitroom.load.target import Target
from waitroom.load.visits import End


def crowd(target: Target, people: int = 1, **changes: float) -> Crowd:
    """Return people who come at once, stay for no time and ask over a few connections."""
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
    """Return how many ended how."""
    return dict(Counter(End(visit.end) for visit in group.history))


def problem(status: int, code: str) -> bytes:
    """Return a refusal as bytes."""
    body = json.dumps({"code": code}).encode()
    return f"HTTP/1.1 {status} x\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


@pytest.mark.parametrize(
    ("changes", "end"), [({}, End.SERVED), ({"no_show": 1.0}, End.NO_SHOW)], ids=["served", "away"]
)
async def test_everybody_comes_to_an_end(changes: dict[str, float], end: End) -> None:
    """Each visit is noted once, and nobody is counted as present any more."""
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
    """A room that says no to a join has said it; the refusal is counted by its code."""
    async with replying(problem(status, code)) as target:
        group = crowd(target)
        await group.run()
    assert {End.REFUSED: 1} == ended(group)
    assert {(Step.JOIN, status, code): 1} == group.errors


async def test_a_crowd_that_is_stopped_has_not_come() -> None:
    """Who had nothing to do yet is noted as still to come, and asks for nothing."""
    stub = Stub()
    async with served(stub) as target:
        group = crowd(target, 5, arrive_s=3600)
        group.stop()
        await group.run()
    assert ({End.NOT_COME: 5}, 0) == (ended(group), stub.requests)
