"""The figures of a rehearsal: waits, verdicts, and what goes into JSON."""

from __future__ import annotations

import json
from array import array

import pytest

from tests.rehearsal.scenes import PACED, scene
from waitroom.models import Eta
from waitroom.rehearsal.accuracy import Accuracy
from waitroom.rehearsal.crowd import OVER
from waitroom.rehearsal.outcome import WORDS, Outcome
from waitroom.report.promises import Promise
from waitroom.report.waits import Waits, waits_of


def outcome(*promises: Promise) -> Outcome:
    """Return the outcome of a rehearsal to which nobody came."""
    return Outcome(
        scenario=scene(PACED),
        seed=1,
        people=0,
        promises=promises,
        ended={},
        waits=Waits(),
        most_waiting=0,
        most_held=0,
        origin_over_s=0.0,
        lasted_s=0.0,
        accuracy={Eta.BATCH: Accuracy(3, 0.1234, None, 0.5)},
        timeline=(),
        estimates={},
        joined_ms=array("q"),
        called_ms=array("q"),
        took_s=1.26,
    )


@pytest.mark.parametrize(
    ("waits_s", "expected"),
    [
        ([], Waits()),
        ([None, None], Waits()),  # nobody was called
        ([7, None], Waits(1, 7.0, 7.0, 7.0)),
        ([*range(10)], Waits(10, 5.0, 9.0, 9.0)),
    ],
)
def test_waits(waits_s: list[int | None], expected: Waits) -> None:
    """Only called people have waited; the others do not count."""
    joined = array("q", [1_000] * len(waits_s))
    called = array("q", [0 if each is None else 1_000 + 1_000 * each for each in waits_s])
    assert expected == waits_of(joined, called)


def test_a_broken_promise_fails_the_rehearsal() -> None:
    """An untested promise does not; a broken one is reported with its first moment."""
    kept, untested = Promise("pace", "", checked=5), Promise("capacity", "")
    broken = Promise("order", "", checked=5)
    broken.breaks(scene(PACED).starts_ms + 2_500, "2 before 1")
    broken.breaks(scene(PACED).starts_ms + 9_000, "9 before 8")
    assert outcome(kept, untested).passed
    assert not outcome(kept, broken).passed
    figures = outcome(kept, broken, untested).figures()["promises"]
    assert ["PASS", "FAIL", "not tested"] == [each["verdict"] for each in figures]
    assert (2, "2 before 1", 2.5) == tuple(
        figures[1][name] for name in ("broken", "first", "first_at_s")
    )


def test_as_dict() -> None:
    """Everything is plain JSON; only the elapsed time is not repeatable."""
    document = json.loads(json.dumps(outcome().as_dict()))
    assert outcome().figures().keys() == document.keys() - {"took_s"}
    accuracy = {"answers": 3, "median_error_pct": 12.3, "covered_pct": None, "jumps_pct": 50.0}
    assert (1.3, {"batch": accuracy}) == (document["took_s"], document["estimate"])


def test_every_end_has_its_words() -> None:
    """Every way to end has a text."""
    assert {where.name.lower() for where in OVER} | {"still_there"} == set(WORDS)
