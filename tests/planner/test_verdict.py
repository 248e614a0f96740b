"""The recommended pace, the verdict, and figures that contradict each other."""

from __future__ import annotations

import random
from typing import Any

import pytest

from waitroom.errors import InvalidInput, InvalidRoomName
from waitroom.planner import Inputs, Word, plan

SMALL: dict[str, Any] = {"tps": 10, "session_s": 100, "calls": 10, "failure_rate": 0, "headroom": 0}
"""One hundred people at once."""


@pytest.mark.parametrize(
    ("batch", "word", "sentence"),
    [
        (500, Word.HOLDS, "your target is 32,000, so it holds; 1,067 would hold, too"),
        (1_067, Word.HOLDS, "1,067 per 10 s puts 32,010 people inside at once"),
        (
            1_068,
            Word.ABOVE_TARGET,
            "32,040 people inside at once; your target is 32,000; use 1,067",
        ),
        (1_334, Word.ABOVE_CAPACITY, "your target is 32,000 and your capacity 40,000; use 1,067"),
        (1_450, Word.ABOVE_ORIGIN, "43,500 people inside at once"),
    ],
)
def test_words(batch: int, word: Word, sentence: str) -> None:
    """Each pace gets the right verdict, and the fix."""
    advice = plan(Inputs(batch=batch))
    assert (word, True) == (advice.word, sentence in advice.verdict), advice.verdict


def test_without_a_batch_the_formulas_are_judged() -> None:
    """For other figures than the document's, its formulas give the pace, not its 1,400."""
    advice = plan(Inputs(tps=500))
    assert advice.rounded.per_slot == advice.judged.batch
    assert any("cancels out" in note for note in advice.notes)


def test_small_targets_are_rounded_down() -> None:
    """Rounding up is for large numbers: 45 inside of 10 slots is 4 per slot, not 5."""
    pace = plan(Inputs(**SMALL, target=0.45)).recommended
    assert (4, 40) == (pace.batch, pace.inside)


def test_any_plan_holds_its_own_limits() -> None:
    """The recommended pace keeps capacity and throughput, and the target within 0.1 %."""
    draw = random.Random(6)
    for _ in range(500):
        given = Inputs(
            tps=draw.uniform(50, 5_000),
            session_s=draw.uniform(20, 900),
            calls=draw.uniform(1, 20),
            failure_rate=draw.uniform(0, 0.9),
            target=draw.uniform(0.3, 1),
            headroom=draw.uniform(0, 0.5),
            every_s=draw.uniform(5, 1_000),
        )
        advice = plan(given)
        best = advice.recommended
        assert best.inside <= advice.rounded.concurrent
        assert best.inside <= advice.rounded.target * 1.001
        assert best.load_tps <= given.tps
        assert Word.HOLDS is plan(given_with(given, best.batch)).word


def given_with(given: Inputs, batch: int) -> Inputs:
    """Return the same figures with a batch to judge."""
    names = [name for name in Inputs.__slots__ if name != "batch"]
    return Inputs(**{name: getattr(given, name) for name in names}, batch=batch)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"batch": 43_479}, "batch: 43,479 people let in together are more than the 43,478 that"),
        ({"tps": 1e-9}, "tps: with these figures the target is less than one person"),
        ({**SMALL, "target": 0.001}, "tps: with these figures the target is less than one person"),
        (
            {"tps": 1e9, "calls": 1e-300},
            "tps: with this session_s and calls more than 1,000,000,000",
        ),
        ({**SMALL, "every_s": 1}, "every_s: a target of 80 inside and sessions of 100 s leave"),
        ({**SMALL, "every_s": 1}, "give 1.25 or more"),
        ({**SMALL, "crowd": 10**9}, "crowd: at 8 per 10 s the last of 1,000,000,000 people"),
    ],
)
def test_conflicts_are_explained(given: dict[str, Any], sentence: str) -> None:
    """Contradictory figures are refused with the field and the fix."""
    with pytest.raises(InvalidInput) as caught:
        plan(Inputs(**given))
    assert sentence in str(caught.value)


def test_the_remedy_works() -> None:
    """The slot that the message asks for is accepted."""
    assert 1 == plan(Inputs(**SMALL, every_s=1.25)).recommended.batch


def test_room_name() -> None:
    """An invalid room name is refused as everywhere."""
    with pytest.raises(InvalidRoomName):
        plan(Inputs(), "a/b")


def test_notes() -> None:
    """Uneven slots and a crowd that fits are pointed out."""
    uneven = plan(Inputs(every_s=7)).notes
    assert any("Sessions of 300 s are not a multiple of slots of 7 s" in note for note in uneven)
    assert any("fit without a waiting room" in note for note in plan(Inputs(crowd=9)).notes)
