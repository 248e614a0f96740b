"""Reports on made-up archives: figures, promises, and what they say is missing."""

from __future__ import annotations

import dataclasses
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.report.archives import NOTHING, ROOM, START_MS, Book, point, records
from waitroom.archive.reading import Limits
from waitroom.models import Policy
from waitroom.report.gather import gather
from waitroom.report.hands import Action
from waitroom.report.sale import Sale
from waitroom.report.waits import Waits

SLOTS = Policy(capacity=2, session_s=60, enter_within_s=20, batch=2, every_s=10)
COUNTS = {"joined": 4, "called_total": 4, "entered": 3, "finished": 3, "no_show": 1}

Change = Callable[[Book], None]


def book(policy: Policy = SLOTS) -> Book:
    """Return a sale of four people with two places, one of whom did not come."""
    made = Book(policy)
    made.call(10, {"ann": 1, "bob": 2})
    made.enter(12, "ann")
    made.end(30, "no_show", "bob")
    made.call(30, {"cho": 3})
    made.enter(31, "cho")
    made.end(40, "finished", "ann")
    made.call(40, {"dee": 4})
    made.enter(41, "dee")
    made.end(50, "finished", "cho", "dee")
    return made


def verdicts(sale: Sale) -> dict[str, str]:
    """Return the verdict of each promise."""
    return {promise.name: sale.verdict_of(promise) for promise in sale.promises}


def test_a_whole_sale(tmp_path: Path) -> None:
    """Counts are the room's, waits the archive's, and every promise is checked."""
    policy = SLOTS.change(max_entries=3, per_s=60)
    sale = gather(records(policy, COUNTS), book(policy).write(tmp_path))
    assert () == sale.missing
    assert "PASS" == sale.verdict
    assert set(verdicts(sale).values()) == {"PASS"}
    assert NOTHING | COUNTS == sale.counts
    assert Waits(4, 27.0, 36.0, 36.0) == sale.waits
    assert 2 == sale.most_held
    assert 4 == sum(flow.calls for flow in sale.flow)
    assert 3 == max(flow.most_in_window for flow in sale.flow)


def too_many(sale: Book) -> None:
    """Call somebody although both places are taken."""
    sale.call(13, {"eve": 5})


def too_fast(sale: Book) -> None:
    """Call three in a slot of two, repeatedly."""
    for slot in (100, 110, 120):
        arrivals = {f"p{slot}-{n}": float(slot - 60 + n) for n in range(3)}
        sale.call(slot, arrivals)
        sale.end(slot + 1, "left", *arrivals)


def overtaken(sale: Book) -> None:
    """Call the first arrival last."""
    sale.call(60, {"eve": 0.5})


def twice(sale: Book) -> None:
    """Call somebody who is inside."""
    sale.call(35, {"cho": 5})


def uncalled(sale: Book) -> None:
    """Admit somebody who was never called, after all earlier turns are settled."""
    sale.call(100, {"fay": 50})
    sale.enter(150, "eve")


def cut_short(sale: Book) -> None:
    """End a turn before its time."""
    sale.call(100, {"eve": 50})
    sale.end(110, "no_show", "eve")


@pytest.mark.parametrize(
    ("promise", "change"),
    [
        ("capacity", too_many),
        ("pace", too_fast),
        ("order", overtaken),
        ("nobody twice", twice),
        ("nobody lost", uncalled),
        ("nobody lost", cut_short),
    ],
)
def test_a_broken_promise_is_found(promise: str, change: Change, tmp_path: Path) -> None:
    """Each promise fails by what breaks it, although the report is then not complete."""
    made = book()
    change(made)
    sale = gather(records(SLOTS, COUNTS), made.write(tmp_path))
    assert "FAIL" == sale.verdict
    assert "FAIL" == verdicts(sale)[promise]


def test_the_rolling_limit(tmp_path: Path) -> None:
    """More entries in a window than allowed are found, wherever the window begins."""
    policy = Policy(max_entries=2, per_s=60)
    made = Book(policy)
    made.call(1, {"a": 0, "b": 0.1, "c": 0.2})
    for at_s, name in ((5, "a"), (50, "b"), (64, "c")):
        made.enter(at_s, name)
    sale = gather(records(policy, {"called_total": 3, "entered": 3}), made.write(tmp_path))
    assert "FAIL" == verdicts(sale)["rolling limit"]


def test_limits_are_those_of_the_moment(tmp_path: Path) -> None:
    """A changed policy counts from its change on, in both directions."""
    made = Book(SLOTS)
    made.call(10, {"ann": 1, "bob": 2})
    made.add(11, "room.changed", version=2, changed={"capacity": {"old": 2, "new": 3}})
    made.call(20, {"cho": 3})
    counts = {"joined": 3, "called_total": 3}
    assert "PASS" == gather(records(SLOTS, counts), made.write(tmp_path / "raised")).verdict
    made = Book(SLOTS.change(capacity=3))
    made.call(10, {"ann": 1, "bob": 2})
    made.add(11, "room.changed", version=2, changed={"capacity": {"old": 3, "new": 2}})
    made.call(20, {"cho": 3})
    assert "FAIL" == gather(records(SLOTS, counts), made.write(tmp_path / "lowered")).verdict


def test_what_is_done_by_hand(tmp_path: Path) -> None:
    """People called by hand are out of turn and beside the pace; only force exceeds capacity."""
    made = book()
    made.call(13, {"eve": 9})
    folder = made.write(tmp_path)
    counts = COUNTS | {"called_total": 5}
    detail = {"ticket": "eve", "force": True}
    forced = Action(START_MS + 13_100, "kim", "page", "call", detail)
    sale = gather(records(SLOTS, counts, actions=[forced]), folder)
    assert ("PASS", 1) == (sale.verdict, sale.forced)
    gentle = Action(START_MS + 13_100, "kim", "page", "call", detail | {"force": False})
    sale = gather(records(SLOTS, counts, actions=[gentle]), folder)
    assert {"capacity"} == {name for name, word in verdicts(sale).items() if word == "FAIL"}


def test_a_session_that_activity_extends(tmp_path: Path) -> None:
    """A session that ran out holds no place, though its event comes a little later."""
    policy = Policy(capacity=1, session_s=10, renewable=True)
    made = Book(policy)
    made.call(1, {"ann": 0})
    made.enter(2, "ann")
    made.call(40, {"bob": 30})
    made.end(41, "expired", "ann")
    counts = {"joined": 2, "called_total": 2, "entered": 1, "expired": 1}
    assert "PASS" == gather(records(policy, counts), made.write(tmp_path / "late")).verdict
    del made.events[-1]
    sale = gather(records(policy, counts), made.write(tmp_path / "never"))
    assert "FAIL" == verdicts(sale)["capacity"]


def test_without_an_archive() -> None:
    """Nothing is known about promises, and the report says how to change that."""
    sale = gather(records(SLOTS, COUNTS), None)
    assert ("incomplete", True) == (sale.verdict, sale.passed)
    assert {"incomplete"} == set(verdicts(sale).values())
    assert "set `archive` to a folder" in sale.missing[0]
    assert NOTHING | COUNTS == sale.counts


def test_an_archive_of_another_time(tmp_path: Path) -> None:
    """A folder without a file from that time counts as none."""
    sale = gather(records(SLOTS, {}), tmp_path)
    assert ["the archive has nothing of this time"] == [w.partition(":")[0] for w in sale.missing]


def gap(folder: Path) -> None:
    """Make the archive miss something."""
    made = book()
    made.add(55, "gap", since="2030-03-17T18:00:30Z", until="2030-03-17T18:00:55Z")
    made.write(folder)


def broken_line(folder: Path) -> None:
    """Insert an invalid line."""
    path = next((book().write(folder) / ROOM).iterdir())
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], b'{"id": 7\n', b'"x"\n', *lines[3:]]))


def half_a_line(folder: Path) -> None:
    """Cut the last line."""
    path = next((book().write(folder) / ROOM).iterdir())
    path.write_bytes(path.read_bytes()[:-9])


def lost(folder: Path) -> None:
    """Leave out an entry that the room has counted."""
    made = book()
    del made.events[1]
    made.write(folder)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (gap, "has a gap from 2030-03-17 18:00:30 UTC to 2030-03-17 18:00:55 UTC"),
        (broken_line, "2 lines of the archive cannot be read"),
        (half_a_line, "1 lines of the archive cannot be read"),
        (lost, "the archive has 2 of 3 (entered)"),
    ],
)
def test_what_is_missing_is_said(
    damage: Callable[[Path], None], reason: str, tmp_path: Path
) -> None:
    """A report on a damaged archive names the damage, and calls no promise kept."""
    damage(tmp_path)
    sale = gather(records(SLOTS, COUNTS), tmp_path)
    assert not sale.complete
    assert reason in " ".join(sale.missing)
    assert "PASS" not in verdicts(sale).values()


def test_a_history_that_does_not_reach_back(tmp_path: Path) -> None:
    """Then the counts are the archive's, and the report is incomplete."""
    folder, beginning = book().write(tmp_path), records(SLOTS, COUNTS, before=None)
    sale = gather(beginning, folder)
    assert 3 == sale.counts["entered"]
    assert ("the history of the room does not reach back to the beginning",) == sale.missing
    all_of_it = gather(dataclasses.replace(beginning, after=NOTHING | COUNTS), folder)
    assert all_of_it.complete, "the archive has everything that the room ever counted"
    assert 4 == all_of_it.counts["joined"]


def test_counters_of_another_moment_prove_nothing(tmp_path: Path) -> None:
    """A sample in the middle of a rush does not contradict the archive."""
    rush = dataclasses.replace(records(SLOTS, COUNTS | {"entered": 1}), exact=False)
    assert gather(rush, book().write(tmp_path)).complete


def test_an_archive_that_began_late(tmp_path: Path) -> None:
    """The history knows of calls from before the archive."""
    made = Book(SLOTS)
    made.call(600, {"ann": 1})
    points = [point(0, called_total=50), point(7, called_total=90), point(10, called_total=91)]
    beginning = records(SLOTS, {"called_total": 91}, points=points)
    sale = gather(beginning, made.write(tmp_path))
    assert "the archive begins at 2030-03-17 18:10:00 UTC, after 90 calls" == sale.missing[0]


def test_what_is_written_together_happens_in_its_time(tmp_path: Path) -> None:
    """A line has people of the same step: each has a moment, with other people's steps between."""
    made = Book(SLOTS.change(capacity=1))
    start_us = START_MS * 1000
    people: list[dict[str, Any]] = [
        {"id": "ann", "at_ms": START_MS + 100, "place_us": start_us},
        {"id": "bob", "at_ms": START_MS + 300, "place_us": start_us + 8},
        {"id": "cho", "at_ms": START_MS + 500, "place_us": start_us + 16},
    ]
    made.add(0.5, "people.called", people=people)
    made.add(0.5, "people.entered", people=[p | {"at_ms": p["at_ms"] + 50} for p in people])
    ended = [p | {"at_ms": p["at_ms"] + 200} for p in people]
    made.add(0.5, "people.ended", reason="finished", people=ended)
    counts = {"joined": 3, "called_total": 3, "entered": 3, "finished": 3}
    policy = made.policy.change(batch=None, every_s=None)
    made.policy = policy
    sale = gather(records(policy, counts), made.write(tmp_path))
    assert "PASS" == sale.verdict, [promise.first for promise in sale.promises]
    assert 1 == sale.most_held


def test_a_busy_millisecond(tmp_path: Path) -> None:
    """Anybody who goes in and out at one moment makes room for somebody called at it."""
    made = Book(Policy(capacity=1))
    made.call(1, {"ann": 0})
    made.call(2, {"bob": 0.5})
    made.enter(2, "ann", "bob")
    made.end(2, "finished", "ann")
    made.end(2, "finished", "bob")
    counts = {"joined": 2, "called_total": 2, "entered": 2, "finished": 2}
    sale = gather(records(made.policy, counts), made.write(tmp_path))
    assert "PASS" == sale.verdict, [promise.first for promise in sale.promises]


def test_what_came_before_only_tells_who_is_where(tmp_path: Path) -> None:
    """People from before the period count for capacity, but not for any figure."""
    made = Book(SLOTS)
    made.call(-30, {"ann": -40, "bob": -39})
    made.enter(-29, "ann", "bob")
    made.call(20, {"cho": 1})
    sale = gather(records(SLOTS, {"called_total": 1}), made.write(tmp_path))
    assert "FAIL" == verdicts(sale)["capacity"]
    assert 1 == sale.waits.called


def test_an_empty_room(tmp_path: Path) -> None:
    """Nobody came: nothing is known, and nothing breaks."""
    sale = gather(records(Policy(), {}), tmp_path)
    assert Waits() == sale.waits
    assert [] == sale.by_arrival()
    assert 0 == sale.most_waiting


def test_a_limit_of_reading(tmp_path: Path) -> None:
    """A page reads only a limited amount, and says so."""
    sale = gather(records(SLOTS, COUNTS), book().write(tmp_path), limits=Limits(most_bytes=300))
    assert "the archive is too long for a page" in " ".join(sale.missing)


def test_estimates(tmp_path: Path) -> None:
    """What newcomers were told is compared with the wait of people who came in that minute."""
    made = Book(Policy())
    made.call(300, {"ann": 0})
    made.call(400, {"bob": 61})
    points = [point(0, told_s=330), point(1, told_s=1_000), point(5, waited_s=300)]
    counts = {"joined": 2, "called_total": 2}
    sale = gather(records(Policy(), counts, points=points), made.write(tmp_path))
    assert [(300.0, 330.0), (339.0, 1_000.0)] == list(sale.pairs)
    assert (2, 0.5) == (sale.estimates.answers, sale.estimates.near)
    without = gather(records(Policy(), counts, points=points), None)
    assert [(300.0, 1_000.0)] == list(without.pairs)


def test_waits_by_arrival(tmp_path: Path) -> None:
    """People who came together are told together."""
    made = Book(Policy())
    made.call(100, {"ann": 0, "bob": 0.2})
    made.call(200, {"cho": 70})
    sale = gather(records(Policy(), {"joined": 3, "called_total": 3}), made.write(tmp_path))
    assert [(2, 100.0), (1, 130.0)] == [(g.people, g.longest_s) for g in sale.by_arrival()]


def crowd(people: int, folder: Path) -> Path:
    """Write the archive of many people, who come and go five hundred at a time."""
    made = Book(Policy(session_s=60))
    for start in range(0, people, 500):
        at_s = start / 100
        names = [f"visitor-{number:012}" for number in range(start, start + 500)]
        made.call(at_s + 5, {name: at_s + n / 1_000 for n, name in enumerate(names)})
        made.enter(at_s + 6, *names)
        made.end(at_s + 9, "finished", *names)
    return made.write(folder)


def test_memory_does_not_grow_with_events(tmp_path: Path) -> None:
    """A crowd costs some bytes per person: a million fit into a small machine's memory."""
    peaks = []
    for people in (5_000, 25_000):
        folder = crowd(people, tmp_path / str(people))
        tracemalloc.start()
        sale = gather(records(Policy(), {"called_total": people}), folder)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert people == sale.waits.called
    assert (peaks[1] - peaks[0]) / 20_000 < 200
