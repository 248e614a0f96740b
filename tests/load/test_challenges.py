"""A crowd in a room that asks newcomers for a challenge, on a real server."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from tests.support.serving import Serving
from waitroom.load.crowd import Crowd
from waitroom.load.plan import Plan
from waitroom.load.target import find
from waitroom.load.visits import End


def crowd(served: Serving, **policy: Any) -> Crowd:
    """Return a few people who come at once and stay for no time."""
    room = served.new_room(capacity=10, **policy)
    target = find(served.base)
    began = time.monotonic()
    plan = Plan(target=target, room=room, people=4, arrive_s=0, stay_s=0, leave=0, no_show=0,
                connections=2, starts=began)  # fmt: skip
    return Crowd(plan)


async def test_people_solve_what_is_asked(served: Serving) -> None:
    """Each is refused once, solves the proof of work, and is served; that is no error."""
    people = crowd(served, challenge="work")
    await people.run()
    assert {End.SERVED: 4} == Counter(End(visit.end) for visit in people.history)
    assert not people.errors


async def test_a_widget_is_not_for_programs(served: Serving) -> None:
    """Where a service decides, the crowd is refused, and the report says why."""
    people = crowd(served, challenge="siteverify", when_unverified="refuse")
    await people.run()
    assert {End.REFUSED: 4} == Counter(End(visit.end) for visit in people.history)
    assert {("join", 403, "challenge_required"): 4} == people.errors
