"""Plots as SVG: well-formed, small, and true to the peaks."""

from __future__ import annotations

import re
from array import array
from xml.etree import ElementTree

import pytest

from waitroom.rehearsal import plots
from waitroom.rehearsal.accuracy import Told
from waitroom.rehearsal.outcome import Moment

STARTS_MS = 1_900_000_800_000


def timeline(number: int, peak_at: int = 0, capacity: int | None = 50) -> list[Moment]:
    """Return moments five seconds apart: ten inside, and once forty."""
    return [
        Moment(
            at_ms=STARTS_MS + 5_000 * n,
            waiting=100,
            called=2,
            inside=40 if n == peak_at else 10,
            no_shows=n,
            capacity=capacity,
            takes=None,
            entries=0,
            holds=False,
            mode="open",
        )
        for n in range(number)
    ]


def lines(svg: str) -> dict[str, int]:
    """Return each drawn line by its class, with its number of points."""
    paths = [path for path in ElementTree.fromstring(svg) if path.tag == "path"]  # noqa: S314 - ours
    return {
        path.attrib["class"]: len(re.findall("[ML]", path.attrib["d"]))
        for path in paths
        if path.attrib["class"] != "grid"
    }


def test_counts() -> None:
    """Everybody in the room, and the limit if there is one."""
    drawn = {"line waiting": 9, "line inside": 9, "line called": 9}
    assert drawn | {"limit capacity": 9} == lines(plots.counts(timeline(9), STARTS_MS))
    assert drawn == lines(plots.counts(timeline(9, capacity=None), STARTS_MS))


@pytest.mark.parametrize("peak_at", [0, 1_500, 2_998, 2_999])
def test_a_long_rehearsal_is_thinned_out_but_keeps_its_peak(peak_at: int) -> None:
    """The highest number is drawn, wherever it stands."""
    long, calm = (plots.served(timeline(3_000, at), STARTS_MS) for at in (peak_at, -1))
    assert lines(long)["line inside"] <= plots.MOST_POINTS
    assert long != calm


def test_waits() -> None:
    """The median and a band, of those who were called."""
    joined = array("q", [STARTS_MS + 1_000 * n for n in range(100)])
    called = array("q", [at + 60_000 for at in joined])
    assert {"band wait", "line waiting"} == set(lines(plots.waits(joined, called, STARTS_MS)))


def test_estimates() -> None:
    """Each estimate of somebody who was called later is a dot."""
    answers = [Told(0, 0, 1, 60, 90), Told(0, 9_000, 1, 60, 90), Told(1, 0, 1, 60, 90)]
    assert {"limit capacity": 2, "dots told": 2} == lines(plots.estimates(answers, [60_000, 0]))


@pytest.mark.parametrize(
    "svg",
    [
        plots.counts((), STARTS_MS),
        plots.served(timeline(1), STARTS_MS),
        plots.no_shows((), STARTS_MS),
        plots.waits(array("q", [5]), array("q", [0]), STARTS_MS),
        plots.estimates([Told(0, 9, 1, 2, 3)], [0]),
    ],
)
def test_nothing_to_draw(svg: str) -> None:
    """A single moment, or nobody who was called, makes no plot."""
    assert "" == svg
