"""The course of a rehearsal: skipped time, changes, faults, hosts and a full origin."""

from __future__ import annotations

from tests.rehearsal.scenes import scene
from waitroom.rehearsal import Outcome, rehearse

LINE = """
lasts_s = 3600

[room]
batch = 2
every_s = 10
session_s = 20
recover_s = 30

[[arrivals]]
kind = "spike"
people = 20
within_s = 5

[people]
session = 10
enters_after = 1
"""


async def played(text: str, room: str = "") -> Outcome:
    """Play the line with additions to its file, and to its room."""
    return await rehearse(scene(LINE.replace("[room]", f"[room]{room}") + text))


def calls_s(outcome: Outcome) -> list[float]:
    """Return when people were called, in seconds since the start."""
    return sorted((at - outcome.scenario.starts_ms) / 1000 for at in outcome.called_ms if at)


async def test_nobody_is_called_during_a_pause() -> None:
    """A change takes effect at its moment: between pause and opening there is no call."""
    changes = '[[changes]]\nat_s = 20\nmode = "paused"\n[[changes]]\nat_s = 120\nmode = "open"\n'
    times = calls_s(await played(changes))
    assert 20 == len(times)
    assert [] == [at for at in times if 20 < at < 120]


async def test_nobody_is_called_after_the_end() -> None:
    """At `ends_at` it is over: waiting people are not called, and the rehearsal does not wait."""
    outcome = await played("", '\nends_at = "10:00:35"')
    assert outcome.passed
    assert 20 > len(calls_s(outcome)) > 0
    assert [] == [at for at in calls_s(outcome) if at > 35]
    assert "ended" == outcome.timeline[-1].mode
    assert outcome.timeline[-1].waiting > 0
    assert 120 > outcome.lasted_s


async def test_everybody_is_back_after_a_flush() -> None:
    """All data is lost, admission holds for `recover_s`, and everybody is served in order."""
    outcome = await played('[[faults]]\nat_s = 25\nkind = "flush"\n')
    assert outcome.passed
    assert [] == [at for at in calls_s(outcome) if 26 < at < 55]
    assert any(moment.holds for moment in outcome.timeline)


async def test_time_without_anybody_is_skipped() -> None:
    """Between two crowds nothing is sampled, and the rehearsal ends with the last visit."""
    outcome = await played('[[arrivals]]\nkind = "spike"\nat_s = 3000\npeople = 2\nwithin_s = 1\n')
    quiet = [
        moment
        for moment in outcome.timeline
        if 300_000 < moment.at_ms - outcome.scenario.starts_ms < 2_990_000
    ]
    assert [] == quiet
    assert 3_000 < outcome.lasted_s < 3_100


async def test_a_host_calls_by_hand() -> None:
    """In a manual room only the host calls people, who comes at a fixed interval."""
    outcome = await played("[host]\nevery_s = 60\n", room='\nmode = "manual"\ncapacity = 5')
    assert {0.0} == {at % 60 for at in calls_s(outcome)}
    assert outcome.passed


async def test_a_site_that_takes_less_is_noticed() -> None:
    """Seconds with more people inside than the site can take are counted."""
    outcome = await played("[[origin]]\nat_s = 0\ntakes = 50\n[[origin]]\nat_s = 40\ntakes = 1\n")
    assert 0 < outcome.origin_over_s < outcome.lasted_s - 30
