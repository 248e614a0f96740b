"""The archive: all events of a room as NDJSON files, one per UTC day, kept as long as you want.

`<folder>/<room>/<YYYY-MM-DD>.ndjson`, one JSON object per line: id, type, room, at, data. The first
line of a file, `archive.opened`, gives the room's settings when the file began. A line is written
once: ids only grow, and a line that a crash left half-written is cut off before the next line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from waitroom.moments import from_ms, to_ms, written

DAY_MS = 86_400_000
_TAIL = 65_536


@dataclass(frozen=True, slots=True)
class ArchivedEvent:
    """One line: what happened in a room, and when."""

    id: str
    type: str
    room: str
    at_ms: int
    data: Mapping[str, Any]

    @property
    def position(self) -> tuple[int, int]:
        """Its position in the order of the room."""
        return position_of(self.id)

    def to_line(self) -> bytes:
        """Return the event as a line of a file."""
        fields = {
            "id": self.id,
            "type": self.type,
            "room": self.room,
            "at": written(from_ms(self.at_ms)),
            "data": self.data,
        }
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    @classmethod
    def of_line(cls, line: bytes) -> ArchivedEvent:
        """Read a line; ValueError if it is not a valid line."""
        try:
            fields = json.loads(line)
            at_ms = to_ms(datetime.fromisoformat(fields["at"]))
            return cls(fields["id"], fields["type"], fields["room"], at_ms, fields["data"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"no line of an archive: {error}") from None


def position_of(event_id: str) -> tuple[int, int]:
    """Return an id as two comparable numbers."""
    ms, _, number = event_id.partition("-")
    return int(ms), int(number or 0)


def read(
    folder: Path, room: str, since_ms: int | None = None, until_ms: int | None = None
) -> Iterator[ArchivedEvent]:
    """Yield the events of a room in their order; skip a last line that is incomplete."""
    for path in files(folder, room, since_ms, until_ms):
        with path.open("rb") as lines:
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                event = ArchivedEvent.of_line(line)
                early = since_ms is not None and event.at_ms < since_ms
                if not early and (until_ms is None or event.at_ms <= until_ms):
                    yield event


def files(
    folder: Path, room: str, since_ms: int | None = None, until_ms: int | None = None
) -> list[Path]:
    """Return the files of a room, oldest first; for a period, those that may have events of it."""
    every = sorted((folder / room).glob("[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9].ndjson"))
    paths = []
    for path in every:
        day = to_ms(datetime.fromisoformat(path.stem).replace(tzinfo=UTC))
        # A file has what was written on its day: events of an outage may be a day older.
        is_early = since_ms is not None and day + DAY_MS <= since_ms
        if not is_early and (until_ms is None or day <= until_ms + DAY_MS):
            paths.append(path)
    return paths


def last_id(folder: Path, room: str) -> str | None:
    """Return the id of the last complete line of a room; None if there is none."""
    for path in reversed(files(folder, room)):
        with path.open("rb") as stored:
            end = stored.seek(0, os.SEEK_END)
            tail, start = b"", end
            while start > 0 and tail.rstrip(b"\n").count(b"\n") < 2:
                start = max(0, start - _TAIL)
                stored.seek(start)
                tail = stored.read(end - start)
        whole = tail[: tail.rfind(b"\n") + 1].splitlines()
        if whole:
            return ArchivedEvent.of_line(whole[-1]).id
    return None


def write(
    folder: Path, room: str, events: Sequence[ArchivedEvent], opened: Mapping[str, Any]
) -> None:
    """Append events to the files of the days they were noted on; on return they are on disk.

    `opened` is what the first line of a new file says about the room. Events that are already in
    the files are skipped. OSError if the disk is full: then a line may be there in part.
    """
    done = last_id(folder, room)
    known = position_of(done) if done is not None else (0, 0)
    days: dict[str, list[ArchivedEvent]] = {}
    for event in events:
        if event.position > known:
            days.setdefault(f"{from_ms(event.position[0]):%Y-%m-%d}", []).append(event)
    for day, of_day in days.items():
        _append(folder / room / f"{day}.ndjson", of_day, opened)


def _append(path: Path, events: Sequence[ArchivedEvent], opened: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    first = events[0]
    fresh = not path.exists() or path.stat().st_size == 0
    head = ArchivedEvent("0-0", "archive.opened", first.room, first.position[0], opened)
    with path.open("ab") as out:
        _cut(path)
        out.write(b"".join(event.to_line() for event in ((head,) if fresh else ()) + tuple(events)))
        out.flush()
        os.fsync(out.fileno())
    if fresh:
        _sync_folder(path.parent)


def _cut(path: Path) -> None:
    """Remove everything after the last complete line."""
    with path.open("rb+") as stored:
        end = stored.seek(0, os.SEEK_END)
        while end > 0:
            start = max(0, end - _TAIL)
            stored.seek(start)
            newline = stored.read(end - start).rfind(b"\n")
            end = start + newline + 1 if newline >= 0 else start
            if newline >= 0:
                break
        stored.truncate(end)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
