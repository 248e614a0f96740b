"""Complete rehearsals: repeatable, quick, true to the scenario, and with a report."""

from __future__ import annotations

import dataclasses
import random
import re
from pathlib import Path

import pytest

from tests.rehearsal.scenes import BAD_DAY, PACED, SLOTS, scene
from tests.support.counts import count
from waitroom.rehearsal import NAMES, find, rehearse
from waitroom.rehearsal.report import render


@pytest.mark.sample(1)
@pytest.mark.parametrize("text", [SLOTS, BAD_DAY], ids=["slots", "bad day"])
async def test_same_seed_same_result(text: str) -> None:
    """A seed decides everything; another seed plays out differently."""
    first, second = await rehearse(scene(text)), await rehearse(scene(text))
    other = await rehearse(scene(text), seed=99)
    assert first.figures() == second.figures()
    assert first.called_ms == second.called_ms
    assert first.called_ms != other.called_ms


async def test_a_crowd() -> None:
    """50,000 people are played (`make bench-eta` measures it), and every promise is kept."""
    outcome = await rehearse(find("concert-onsale"), people=count("rehearsed"))
    assert outcome.passed


@pytest.mark.parametrize("name", NAMES)
def test_ready_scenarios_can_be_read(name: str) -> None:
    """Every built-in scenario is complete: a title, a description, and people who come."""
    scenario = find(name)
    assert scenario.title
    assert scenario.about
    people = len(scenario.times(random.Random(1)))
    assert people == pytest.approx(scenario.expected, rel=0.2)


def test_scaling_keeps_the_proportions() -> None:
    """With another number of people the limits follow, the times do not."""
    scenario = find("concert-onsale").scaled(100_000)
    assert 100_000 == pytest.approx(scenario.expected)
    policy = scenario.policy
    assert (600, 10, 15_000) == (policy.batch, policy.every_s, policy.capacity)
    assert [15_000, 13_600] == [change.takes for change in scenario.origin]


async def test_seconds_out_of_a_csv(tmp_path: Path) -> None:
    """Arrivals and sessions may come from files."""
    (tmp_path / "come.csv").write_text("at_s,people\n0,5\n10.5,3\n")
    (tmp_path / "stay.csv").write_text("seconds\n7\n")
    (tmp_path / "mine.toml").write_text(
        '[room]\ncapacity = 2\n[[arrivals]]\nkind = "csv"\nfile = "come.csv"\n'
        '[people]\nsession = { kind = "csv", file = "stay.csv" }\n'
    )
    outcome = await rehearse(find(str(tmp_path / "mine.toml")))
    assert outcome.passed
    assert (8, 8) == (outcome.people, outcome.ended["finished"])
    assert 2 == outcome.most_held


async def test_the_report_says_it_all() -> None:
    """The report has the verdicts and the plots, and loads nothing from anywhere."""
    scenario = dataclasses.replace(scene(PACED), title="<script>alert(1)</script>")
    outcome = await rehearse(scenario)
    page = render(outcome)
    assert "every promise was kept" in page
    assert 4 <= page.count("<svg")
    assert "<script" not in page
    assert "http://" not in page
    assert "https://" not in page
    assert "`" not in page
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids)) > 0
    assert "of its size" not in page
    half = dataclasses.replace(outcome, scenario=scenario.scaled(round(scenario.expected / 2)))
    assert "Played at 50 % of its size" in render(half)
