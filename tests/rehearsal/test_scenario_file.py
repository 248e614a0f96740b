"""Faulty scenario files: the error names the line and the field."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rehearsal.scenes import BAD_DAY, SLOTS, scene
from waitroom.errors import InvalidInput
from waitroom.rehearsal import find

GOOD = """title = "x"
[room]
capacity = 5
[[arrivals]]
kind = "spike"
people = 10
[[arrivals]]
kind = "poisson"
per_s = 1
for_s = 60
[people]
session = 20
[[faults]]
at = "10:05"
kind = "flush"
"""


@pytest.mark.parametrize(
    ("old", "new", "field", "line", "says"),
    [
        ("capacity = 5", "capacity = 0", "room.capacity", 3, "1 to"),
        ("capacity = 5", "capcity = 5", "room.capcity", 3, "no such field"),
        ("capacity = 5", "batch = 5", "room.every_s", 2, "together with"),
        ("people = 10", 'people = "ten"', "arrivals.people", 6, "not a number"),
        ("per_s = 1", "per_s = -1", "arrivals.per_s", 9, "not a number"),
        ("per_s = 1\n", "", "arrivals.per_s", 7, "needs `per_s`"),
        ('kind = "poisson"', 'kind = "rain"', "arrivals.kind", 8, "one of spike"),
        ("session = 20", "session = -1", "people.session", 12, "not a number"),
        ("session = 20", 'session = {kind = "normal"}', "people.session.kind", 12, "one of fixed"),
        ("session = 20", "leaves = 2", "people.leaves", 12, "0 to 1"),
        ('at = "10:05"', 'at = "25:05"', "faults.at", 14, "time of day"),
        ('at = "10:05"\n', "", "faults.at", 13, "when?"),
        ('kind = "flush"', 'kind = "fire"', "faults.kind", 15, "one of flush, away"),
        ('title = "x"', "titel = 1", "titel", 1, "no such field"),
        ('title = "x"', "[[changes]]\nat_s = 1\nmode = 'shut'", "changes.mode", 3, "not one of"),
    ],
)
def test_what_is_wrong_is_named(old: str, new: str, field: str, line: int, says: str) -> None:
    """An error names the field by its path, its line, and what is allowed."""
    assert GOOD.count(old) == 1
    with pytest.raises(InvalidInput) as raised:
        scene(GOOD.replace(old, new))
    assert field == raised.value.field
    assert f"(line {line} of scene.toml)" in str(raised.value)
    assert says in str(raised.value)


def test_no_toml_at_all() -> None:
    """What TOML itself refuses is passed on with its line."""
    with pytest.raises(InvalidInput, match=r"not TOML: .*line 2"):
        scene('title = "x"\nseed = = 1\n')


def test_nobody_comes() -> None:
    """A scenario without people is refused."""
    with pytest.raises(InvalidInput, match="nobody comes"):
        scene("[room]\ncapacity = 5\n")


@pytest.mark.parametrize(
    ("content", "says"),
    [("when\n1\n", "no column 'at_s'"), ("at_s\nsoon\n", "line 2"), ("at_s\n", "no lines")],
)
def test_a_bad_csv(tmp_path: Path, content: str, says: str) -> None:
    """An unusable CSV is named with its line."""
    (tmp_path / "a.csv").write_text(content)
    (tmp_path / "s.toml").write_text('[[arrivals]]\nkind = "csv"\nfile = "a.csv"\n')
    with pytest.raises(InvalidInput, match=says) as raised:
        find(str(tmp_path / "s.toml"))
    assert "line 3 of" in str(raised.value)


def test_unknown_names() -> None:
    """A name that is neither a file nor a built-in scenario is answered with the built-in ones."""
    with pytest.raises(InvalidInput, match="booking-50"):
        find("bookin-50")
    with pytest.raises(InvalidInput, match="cannot be read"):
        find("nowhere.toml")


@pytest.mark.parametrize(
    "written", ['"10:30"', "10:30:00", "2026-12-24T10:30:00+09:00", '"2026-12-24T10:30+09:00"']
)
def test_moments_of_the_day(written: str) -> None:
    """An opening is written as in a policy or as a time of day, on the rehearsal's day."""
    scenario = scene(GOOD.replace("capacity = 5", f"opens_at = {written}"))
    assert scenario.starts_ms + 1_800_000 == scenario.policy.opens_at_ms
    with pytest.raises(InvalidInput, match=r"room.opens_at: 'soon' is not a time of day"):
        scene(GOOD.replace("capacity = 5", 'opens_at = "soon"'))


def test_times_of_day() -> None:
    """`at` counts from the start of the day that `starts` names."""
    scenario = scene(BAD_DAY)
    assert [(120, 180), (300, 540)] == [
        tuple(event.at_s for event in each) for each in (scenario.changes, scenario.faults)
    ]
    assert 0 == scenario.starts_ms % 3_600_000
    assert scene(SLOTS).starts_ms == scenario.starts_ms
