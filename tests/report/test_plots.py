"""Plots as SVG: well-formed, small, and true to the peaks."""

from __future__ import annotations

import re
from array import array
from xml.etree import ElementTree

import pytest

from waitroom.report import plots
from waitroom.report.plots import Moment, Plot

STARTS_MS = 1_900_000_800_000


def timeline(
    number: int, peak_at: int = 0, capacity: int | None = 50, takes: int | None = None
) -> list[Moment]:
    """Return moments five seconds apart: ten inside, and once forty."""
    return [
        Moment(
            at_ms=STARTS_MS + 5_000 * n,
            waiting=100,
            called=2,
            inside=40 if n == peak_at else 10,
            no_shows=n,
            capacity=capacity,
            takes=takes,
        )
        for n in range(number)
    ]


def drawn(plot: Plot | None) -> ElementTree.Element:
    """Return a plot's SVG, parsed."""
    assert plot is not None
    return ElementTree.fromstring(plot.svg)  # noqa: S314 - ours


def lines(plot: Plot | None) -> dict[str, int]:
    """Return each drawn line by its class, with its number of points."""
    paths = [path for path in drawn(plot) if path.tag == "path"]
    return {
        path.attrib["class"]: len(re.findall("[ML]", path.attrib["d"]))
        for path in paths
        if path.attrib["class"] != "grid"
    }


def test_counts() -> None:
    """Everybody in the room, and the limit if there is one."""
    people = {"line waiting": 9, "line inside": 9, "line called": 9}
    assert people | {"limit capacity": 9} == lines(plots.counts(timeline(9), STARTS_MS))
    assert people == lines(plots.counts(timeline(9, capacity=None), STARTS_MS))


@pytest.mark.parametrize("capacity", [None, 50])
@pytest.mark.parametrize("takes", [None, 60])
def test_a_legend_names_what_is_drawn(capacity: int | None, takes: int | None) -> None:
    """A limit that the scenario does not have is neither drawn nor named."""
    plot = plots.served(timeline(9, capacity=capacity, takes=takes), STARTS_MS)
    assert plot is not None
    assert {f"{mark.kind} {mark.style}" for mark in plot.marks} == set(lines(plot))
    labels = {mark.label for mark in plot.marks}
    assert (capacity is not None) == ("capacity of the room" in labels)
    assert (takes is not None) == ("what the site takes" in labels)


def test_those_who_cannot_see_a_plot_are_told() -> None:
    """A plot has a title and a description with its highest values; its svg refers to both."""
    svg = drawn(plots.served(timeline(9), STARTS_MS))
    names = {part.tag: (part.attrib["id"], part.text) for part in svg if "id" in part.attrib}
    assert svg.attrib["aria-labelledby"] == names["title"][0] == "served-title"
    assert svg.attrib["aria-describedby"] == names["desc"][0] == "served-about"
    assert "Called and inside, against the limits" == names["title"][1]
    assert "called + inside: at most 42; inside: at most 40" in str(names["desc"][1])


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.05, "0.05"), (2.5, "2.5"), (40, "40"), (9_500, "9,500"), (20_000, "20k"),
     (250_000, "250k"), (1_250_000, "1.25M"), (12_000_000, "12M")],
)  # fmt: skip
def test_labels_are_short(value: float, text: str) -> None:
    """A number next to an axis has at most five characters, and no `600.0`."""
    assert text == plots._number(value)


@pytest.mark.parametrize("peak_at", [0, 1_500, 2_998, 2_999])
def test_a_long_rehearsal_is_thinned_out_but_keeps_its_peak(peak_at: int) -> None:
    """The highest number is drawn, wherever it is."""
    long, calm = (plots.served(timeline(3_000, at), STARTS_MS) for at in (peak_at, -1))
    assert lines(long)["line inside"] <= plots.MOST_POINTS
    assert ElementTree.tostring(drawn(long)) != ElementTree.tostring(drawn(calm))


def test_waits() -> None:
    """The median and a band, for people who were called."""
    joined = array("q", [STARTS_MS + 1_000 * n for n in range(100)])
    called = array("q", [at + 60_000 for at in joined])
    assert {"band wait", "line waiting"} == set(lines(plots.waits(joined, called, STARTS_MS)))


def test_estimates() -> None:
    """Each estimate is a dot, next to the line of exact ones."""
    plot = plots.estimates([(60, 50), (51, 60)], "observed")
    assert {"limit exact": 2, "dots told": 2} == lines(plot)


@pytest.mark.parametrize(
    "plot",
    [
        plots.counts((), STARTS_MS),
        plots.served(timeline(1), STARTS_MS),
        plots.no_shows((), STARTS_MS),
        plots.waits(array("q", [5]), array("q", [0]), STARTS_MS),
        plots.estimates([]),
    ],
)
def test_nothing_to_draw(plot: Plot | None) -> None:
    """A single moment, or nobody who was called, makes no plot."""
    assert plot is None
