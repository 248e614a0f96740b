"""What the archive tells about one person, the newest days first and within limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from waitroom.archive import files
from waitroom.archive.files import DAY_MS, ArchivedEvent
from waitroom.archive.person import earlier
from waitroom.archive.reading import Limits

ROOM, ANN, BOB = "sale", "A" * 16, "B" * 16
START_MS = 1_800_057_600_000  # a midnight, UTC
ALL = (0, START_MS + 99 * DAY_MS)


def line(number: int, day: float, kind: str, **data: Any) -> ArchivedEvent:
    """Return an event, this many days after the start."""
    at_ms = START_MS + round(day * DAY_MS)
    return ArchivedEvent(f"{at_ms}-{number}", kind, ROOM, at_ms, data)


def people(*ids: str) -> list[dict[str, Any]]:
    """Return people as an event names them."""
    return [{"id": ticket_id} for ticket_id in ids]


LINES = (
    line(1, 0.1, "people.called", people=[{"id": ANN, "place_us": 7}, *people(BOB)]),
    line(2, 0.2, "people.entered", people=people(ANN)),
    line(3, 1.1, "people.ended", reason="finished", people=people(ANN)),
    line(4, 2.1, "people.called", people=people(BOB)),
    line(5, 3.1, "people.called", people=people(ANN)),
)


def kinds(folder: Path, *, limits: Limits | None = None, span: tuple[int, int] = ALL) -> list[str]:
    """Return what is told about Ann."""
    return [event.kind for event in earlier(folder, ROOM, ANN, span, limits).events]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return an archive of four days."""
    files.write(tmp_path, ROOM, LINES, {})
    return tmp_path


def test_over_days(folder: Path) -> None:
    """Everything that names a ticket comes in order, with reason and place."""
    known = earlier(folder, ROOM, ANN, ALL)
    assert ["called", "entered", "ended", "called"] == [event.kind for event in known.events]
    assert ((7,), "finished") == (known.events[0].places, known.events[2].reason)
    assert LINES[0].at_ms == known.since_ms
    assert [] == kinds(folder, span=(ALL[0], START_MS))
    assert ["ended", "called"] == kinds(folder, span=(LINES[1].at_ms + 1, ALL[1]))


def test_within_limits(folder: Path) -> None:
    """The newest bytes are read, even from a file that does not fit; the start is told."""
    sizes = [path.stat().st_size for path in files.files(folder, ROOM)]
    assert ["ended", "called"] == kinds(folder, limits=Limits(most_bytes=sum(sizes[1:])))
    end = Limits(most_bytes=sum(sizes[1:]) + sizes[0] // 2)
    known = earlier(folder, ROOM, ANN, ALL, end)
    assert ["entered", "ended", "called"] == [event.kind for event in known.events]
    assert LINES[1].at_ms == known.since_ms
    nothing = earlier(folder, ROOM, ANN, ALL, Limits(most_s=-1))
    assert ((), None) == (nothing.events, nothing.since_ms)


def test_gaps(tmp_path: Path) -> None:
    """A gap among the steps is one of them; before the first it is where knowledge ends."""
    gap = line(4, 2.05, "gap")
    files.write(tmp_path, ROOM, [*LINES[:3], gap, LINES[4]], {})
    assert ["called", "entered", "ended", "gap", "called"] == kinds(tmp_path)
    known = earlier(tmp_path, ROOM, ANN, (LINES[2].at_ms + 1, ALL[1]))
    assert (["called"], gap.at_ms) == ([event.kind for event in known.events], known.since_ms)


def test_lines_that_are_none(folder: Path) -> None:
    """Unreadable lines are skipped; without files nothing is known."""
    path = files.files(folder, ROOM)[-1]
    path.write_bytes(path.read_bytes() + b'{"people": "' + ANN.encode() + b'"}\n' + ANN.encode())
    assert ["called", "entered", "ended", "called"] == kinds(folder)
    assert None is earlier(folder, "other", ANN, ALL).since_ms
