"""The archive's files: every event once, in order, by day, even after a crash."""

from __future__ import annotations

from pathlib import Path

from waitroom.archive import files as archive
from waitroom.archive.files import DAY_MS, ArchivedEvent

START_MS = 1_800_000_000_000 - 1_800_000_000_000 % DAY_MS
OPENED = {"policy": {"capacity": 5}}


def event(number: int, at_ms: int = START_MS) -> ArchivedEvent:
    """Return an event recorded when it happened."""
    return ArchivedEvent(f"{at_ms}-{number}", "room.paused", "concert", at_ms, {"number": number})


def written(folder: Path) -> list[ArchivedEvent]:
    """Return what was written, without the files' own lines about the room."""
    events = archive.read(folder, "concert")
    return [each for each in events if each.type != "archive.opened"]


def test_events_come_back(tmp_path: Path) -> None:
    """What was written is read, in order, with a file per UTC day that begins with the policy."""
    events = [event(1), event(2, START_MS + DAY_MS - 1), event(3, START_MS + DAY_MS)]
    archive.write(tmp_path, "concert", events, OPENED)
    assert events == written(tmp_path)
    assert ["2027-01-15.ndjson", "2027-01-16.ndjson"] == [
        path.name for path in archive.files(tmp_path, "concert")
    ]
    opened = [each for each in archive.read(tmp_path, "concert") if each.type == "archive.opened"]
    assert [OPENED, OPENED] == [each.data for each in opened]


def test_a_repeat_writes_nothing(tmp_path: Path) -> None:
    """Events that are already there are skipped, whoever brings them again."""
    archive.write(tmp_path, "concert", [event(1), event(2)], OPENED)
    archive.write(tmp_path, "concert", [event(1), event(2), event(3)], OPENED)
    assert [event(1), event(2), event(3)] == written(tmp_path)
    assert f"{START_MS}-3" == archive.last_id(tmp_path, "concert")


def test_a_torn_line_is_cut_off(tmp_path: Path) -> None:
    """A half-written line after a crash is no event, and the next line begins cleanly."""
    archive.write(tmp_path, "concert", [event(1)], OPENED)
    (path,) = archive.files(tmp_path, "concert")
    path.write_bytes(path.read_bytes() + event(2).to_line()[:-9])
    assert f"{START_MS}-1" == archive.last_id(tmp_path, "concert")
    assert [event(1)] == written(tmp_path)
    archive.write(tmp_path, "concert", [event(2)], OPENED)
    assert [event(1), event(2)] == written(tmp_path)


def test_a_span(tmp_path: Path) -> None:
    """Only events between two moments, both included, are read."""
    events = [event(1), event(2, START_MS + 5), event(3, START_MS + 3 * DAY_MS)]
    archive.write(tmp_path, "concert", events, OPENED)
    assert [events[1]] == [*archive.read(tmp_path, "concert", START_MS + 1, START_MS + 5)]


def test_nothing_there(tmp_path: Path) -> None:
    """A room without files has no events."""
    assert [] == written(tmp_path)
    assert None is archive.last_id(tmp_path, "concert")


def test_long_lines(tmp_path: Path) -> None:
    """A line longer than one read is found complete."""
    people = [{"id": "x" * 22, "place_us": number} for number in range(5_000)]
    long = ArchivedEvent(f"{START_MS}-1", "people.called", "concert", START_MS, {"people": people})
    archive.write(tmp_path, "concert", [long], OPENED)
    assert long.id == archive.last_id(tmp_path, "concert")
    archive.write(tmp_path, "concert", [long, event(2)], OPENED)
    assert [long, event(2)] == written(tmp_path)
