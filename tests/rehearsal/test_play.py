"""One rehearsal from outside: progress, another number of people, and other formulas."""

from __future__ import annotations

from tests.rehearsal.scenes import SLOTS, scene
from waitroom.models import Eta
from waitroom.rehearsal.play import rehearse


async def test_what_is_asked_for_is_played() -> None:
    """Fewer people come to a smaller room, progress only grows, and each formula is judged."""
    progress: list[tuple[int, int]] = []
    etas = (Eta.OBSERVED, Eta.SERVICE)
    outcome = await rehearse(
        scene(SLOTS), seed=3, people=24, etas=etas, progress=lambda *counts: progress.append(counts)
    )
    assert (3, 24, 2) == (outcome.seed, outcome.people, outcome.scenario.policy.capacity)
    assert 24 == sum(outcome.ended.values())
    assert sorted(progress) == progress
    assert (24, 24) == progress[-1]
    assert set(etas) == set(outcome.accuracy)
    assert outcome.took_s > 0
