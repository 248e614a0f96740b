"""The crowd of the benchmark of the engine: its tickets come from the whole line."""

from __future__ import annotations

from bench.fill import Crowd, fill_room, let_join, poll_everybody, step_for
from bench.rig import rig

from waitroom.models import TicketView

WAITING, MOST = 1_203, 100
STEP = 13


async def test_tickets_are_an_even_sample_of_the_line() -> None:
    """Of more people than are remembered it is every nth, from the first to the last batch."""
    assert STEP == step_for(WAITING, MOST)
    async with rig() as on:
        crowd = await fill_room(on, "big", 1, lambda _: None, STEP)
        await let_join(on, crowd, WAITING, lambda _: None)
        await poll_everybody(on, crowd, lambda _: None)
        views = await on.engine.poll_many("big", crowd.tickets)
    positions = [view.position for view in views if isinstance(view, TicketView)]
    assert [*range(1, WAITING + 1, STEP)] == positions


def test_the_front_is_the_first_ten_thousand_places() -> None:
    """Of a sample, the front is as many tickets as stand for those places."""
    line = [str(place) for place in range(1, 40_000, 10)]
    assert line[:1_000] == Crowd("big", line, 10).front.tickets


def test_a_small_crowd_is_remembered_whole() -> None:
    """Up to the limit everybody is, and one more halves the sample."""
    assert (1, 1, 2) == (step_for(1, 100), step_for(100, 100), step_for(101, 100))
