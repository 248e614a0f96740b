"""Reads a scenario from TOML. Errors name the field and the line.

tomllib gives no line numbers, so `line_of` finds them: it follows the headers of tables and looks
for the key below them.
"""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from waitroom.errors import InvalidInput, InvalidPolicy
from waitroom.models import MOMENTS, POLICY_FIELDS, Policy, preset
from waitroom.rehearsal.distributions import Spread, fixed
from waitroom.rehearsal.scenario import Arrivals, Behaviour, Change, Fault, Origin, Scenario

Path_ = tuple[str | int, ...]
_DAY = dt.datetime(2030, 3, 18, tzinfo=dt.UTC)
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?", re.ASCII)
_HEADER = re.compile(r"\s*(\[\[?)\s*([A-Za-z0-9_.\"'-]+)\s*\]")
_MOST_PEOPLE = 20_000_000
_MOST_SECONDS = 7 * 86_400.0
_MOST_LINES = 5_000_000

_TOP = ("title", "about", "seed", "starts", "lasts_s", "step_s")
_TABLES = ("room", "people", "host", "arrivals", "changes", "origin", "faults")
_SPREADS = ("patience", "closes_after", "comes_back_after", "enters_after", "session")
_SHARES = ("leaves", "ghosts", "closes_tab", "no_shows", "finishes")
_ARRIVALS = {
    "spike": ("people", "within_s"),
    "poisson": ("per_s", "for_s"),
    "waves": ("people", "within_s", "waves", "every_s"),
    "csv": ("file",),
}


class _Wrong(Exception):
    """An error at a path."""

    def __init__(self, path: Path_, message: str) -> None:
        super().__init__(message)
        self.path, self.message = path, message


def read(file: Path) -> Scenario:
    """Read a scenario file; an InvalidInput names the field and the line."""
    try:
        text = file.read_bytes().decode()
    except OSError as error:
        raise InvalidInput("scenario", f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InvalidInput("scenario", f"{file} is not UTF-8 (line {line})") from None
    return read_text(text, file.stem, file.parent, str(file))


def read_text(text: str, name: str, folder: Path, where: str) -> Scenario:
    """Read a scenario; files that it names are looked up in `folder`."""
    try:
        content = tomllib.loads(text)
    except ValueError as error:  # ends with "(at line 3, column 5)"
        raise InvalidInput("scenario", f"{where} is not TOML: {error}") from None
    try:
        return _Reader(content, folder).scenario(name)
    except _Wrong as wrong:
        field = ".".join(str(part) for part in wrong.path if isinstance(part, str))
        line = line_of(text, wrong.path)
        raise InvalidInput(field, f"{wrong.message} (line {line} of {where})") from None


def line_of(text: str, path: Path_) -> int:
    """Return the line of a field, of the table it should be in, or the first line."""
    names = [part for part in path if isinstance(part, str)]
    number = next((part for part in path if isinstance(part, int)), 0)
    top, best, seen, inside = names[0], 1, -1, len(names) == 1
    for at, line in enumerate(text.splitlines(), 1):
        header = _HEADER.match(line)
        if header:
            table = header[2].strip("\"'")
            seen += table == top
            first = table.partition(".")[0]
            inside = first == top and (header[1] == "[" or seen == number)
            if inside and table == top:
                best = at
            if len(names) > 1 and table == ".".join(names[:2]):
                return at
        elif inside or len(names) == 1:
            for name in names:
                if re.match(rf"\s*[\"']?{re.escape(name)}[\"']?\s*[=.]", line):
                    return at
    return best


class _Reader:
    def __init__(self, content: dict[str, Any], folder: Path) -> None:
        self._content = content
        self._folder = folder
        self._starts = dt.timedelta(hours=10)

    def scenario(self, name: str) -> Scenario:
        content = self._content
        _only(content, (*_TOP, *_TABLES), ())
        self._starts = self._clock(("starts",), content.get("starts", "10:00"))
        arrivals = self._tables("arrivals", self._arrivals)
        if not arrivals:
            raise _Wrong(("arrivals",), "nobody comes; add a table [[arrivals]]")
        made = Scenario(
            name=name,
            title=_text(("title",), content.get("title", name)),
            about=_text(("about",), content.get("about", "")),
            seed=int(_number(("seed",), content.get("seed", 1), 0, 2**53, whole=True)),
            starts_ms=int((_DAY + self._starts).timestamp() * 1000),
            lasts_s=_number(("lasts_s",), content.get("lasts_s", 14_400), 1, _MOST_SECONDS),
            step_s=_number(("step_s",), content.get("step_s", 1), 0.1, 5),
            policy=self._policy(),
            arrivals=arrivals,
            people=self._people(),
            changes=self._tables("changes", self._change),
            faults=self._tables("faults", self._fault),
            origin=self._tables("origin", self._origin),
            host_every_s=self._host(),
        )
        if not 0 < made.expected <= _MOST_PEOPLE:
            raise _Wrong(
                ("arrivals",), f"{made.expected:,.0f} people come; it takes 1 to {_MOST_PEOPLE:,}"
            )
        return made

    def _tables(self, name: str, read: Callable[[Path_, dict[str, Any]], Any]) -> tuple[Any, ...]:
        tables = self._content.get(name, [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise _Wrong((name,), f"must be tables, each under its own [[{name}]]")
        return tuple(read((name, number), table) for number, table in enumerate(tables))

    def _table(self, name: str) -> dict[str, Any]:
        table = self._content.get(name, {})
        if not isinstance(table, dict):
            raise _Wrong((name,), f"must be a table, [{name}]")
        return table

    def _policy(self) -> Policy:
        fields = dict(self._table("room"))
        base = fields.pop("preset", None)
        _only(fields, POLICY_FIELDS, ("room",), ("preset",))
        changes = self._values(("room",), fields)
        try:
            return (Policy() if base is None else preset(str(base))).change(**changes)
        except InvalidPolicy as error:
            raise _Wrong(("room", error.field), _why(error)) from None

    def _values(self, path: Path_, fields: dict[str, Any]) -> dict[str, Any]:
        """Return fields of a policy: "none" removes one, moments are on the rehearsal's day."""
        values = {key: None if value == "none" else value for key, value in fields.items()}
        for name in MOMENTS:
            if values.get(name) is not None:
                since = dt.timedelta(seconds=self._since_start((*path, name), values[name]))
                values[name] = _DAY + self._starts + since
        return values

    def _arrivals(self, path: Path_, table: dict[str, Any]) -> Arrivals:
        kind = _word((*path, "kind"), table.get("kind"), tuple(_ARRIVALS))
        wanted = _ARRIVALS[kind]
        _only(table, ("kind", "at", "at_s", *wanted), path)
        for name in wanted:
            if name not in table and name != "within_s":
                raise _Wrong((*path, name), f"a {kind} needs `{name}`")
        at_s = self._at(path, table, 0.0)
        if kind == "csv":
            return Arrivals(kind="csv", at_s=at_s, moments=self._moments(path, table))
        given = {
            name: _number((*path, name), table[name], 0.001, _MOST_PEOPLE)
            for name in wanted
            if name in table
        }
        if "waves" in given:
            given["waves"] = int(_number((*path, "waves"), table["waves"], 1, 10_000, whole=True))
        return Arrivals(kind=kind, at_s=at_s, **given)  # type: ignore[arg-type]

    def _moments(self, path: Path_, table: dict[str, Any]) -> tuple[tuple[float, float], ...]:
        where = (*path, "file")
        rows = self._csv(where, table["file"], ("at_s",), ("people",))
        return tuple((row[0], 1.0 if row[1] is None else row[1]) for row in rows)  # type: ignore[misc]

    def _csv(
        self, path: Path_, name: Any, must: tuple[str, ...], may: tuple[str, ...]
    ) -> list[tuple[float | None, ...]]:
        file = self._folder / _text(path, name)
        try:
            with file.open(newline="", encoding="utf-8") as lines:
                return _rows(path, file, csv.DictReader(lines), must, may)
        except (OSError, UnicodeDecodeError) as error:
            raise _Wrong(path, f"{file} cannot be read: {error}") from None

    def _people(self) -> Behaviour:
        table = self._table("people")
        _only(table, (*_SPREADS, *_SHARES, "poll_every_s"), ("people",))
        given: dict[str, Any] = {
            name: self._spread(("people", name), table[name]) for name in _SPREADS if name in table
        }
        for name in _SHARES:
            if name in table:
                given[name] = _number(("people", name), table[name], 0, 1)
        if "poll_every_s" in table:
            given["poll_every_s"] = _number(
                ("people", "poll_every_s"), table["poll_every_s"], 1, 3_600
            )
        return Behaviour(**given)

    def _spread(self, path: Path_, value: Any) -> Spread:
        if not isinstance(value, dict):
            return fixed(_number(path, value, 0, _MOST_SECONDS))
        kind = _word(
            (*path, "kind"), value.get("kind"), ("fixed", "lognormal", "exponential", "csv")
        )
        wanted = {"lognormal": ("median_s", "sigma"), "csv": ("file",)}.get(kind, ("median_s",))
        _only(value, ("kind", *wanted), path)
        for name in wanted:
            if name not in value:
                raise _Wrong((*path, name), f"{kind} needs `{name}`")
        if kind == "csv":
            rows = self._csv((*path, "file"), value["file"], ("seconds",), ())
            return Spread("csv", values=tuple(row[0] for row in rows if row[0] is not None))
        median_s = _number((*path, "median_s"), value["median_s"], 0.001, _MOST_SECONDS)
        sigma = _number((*path, "sigma"), value.get("sigma", 0), 0, 3)
        return Spread(kind, median_s, sigma)

    def _change(self, path: Path_, table: dict[str, Any]) -> Change:
        fields = {key: value for key, value in table.items() if key not in ("at", "at_s", "admit")}
        _only(fields, POLICY_FIELDS, path, ("at", "at_s", "admit"))
        admit = 0
        if "admit" in table:
            admit = int(_number((*path, "admit"), table["admit"], 1, 1_000_000, whole=True))
        changes = self._values(path, fields)
        try:
            self._policy().change(**changes)
        except InvalidPolicy as error:
            raise _Wrong((*path, error.field), _why(error)) from None
        return Change(self._at(path, table), changes, admit)

    def _fault(self, path: Path_, table: dict[str, Any]) -> Fault:
        kind = _word((*path, "kind"), table.get("kind"), ("flush", "away"))
        _only(table, ("at", "at_s", "kind", *(("for_s",) if kind == "away" else ())), path)
        for_s = 0.0
        if kind == "away":
            if "for_s" not in table:
                raise _Wrong((*path, "for_s"), "away needs `for_s`")
            for_s = _number((*path, "for_s"), table["for_s"], 1, 86_400)
        return Fault(self._at(path, table), kind, for_s)

    def _origin(self, path: Path_, table: dict[str, Any]) -> Origin:
        _only(table, ("at", "at_s", "takes"), path)
        if "takes" not in table:
            raise _Wrong((*path, "takes"), "says how many people the site takes; it is missing")
        takes = _number((*path, "takes"), table["takes"], 1, _MOST_PEOPLE, whole=True)
        return Origin(self._at(path, table, 0.0), int(takes))

    def _host(self) -> float | None:
        table = self._table("host")
        _only(table, ("every_s",), ("host",))
        if not table:
            return None
        return _number(("host", "every_s"), table["every_s"], 1, 3_600)

    def _at(self, path: Path_, table: Mapping[str, Any], default: float | None = None) -> float:
        if "at" in table and "at_s" in table:
            raise _Wrong((*path, "at_s"), "`at` says the same; give one of them")
        if "at" in table:
            return self._since_start((*path, "at"), table["at"])
        if "at_s" in table:
            return _number((*path, "at_s"), table["at_s"], 0, _MOST_SECONDS)
        if default is None:
            raise _Wrong((*path, "at"), 'when? Give `at = "10:05"`, or `at_s` since the start')
        return default

    def _since_start(self, path: Path_, value: Any) -> float:
        since = (self._clock(path, value) - self._starts).total_seconds()
        return since if since >= 0 else since + 86_400  # after midnight

    def _clock(self, path: Path_, value: Any) -> dt.timedelta:
        if isinstance(value, str) and len(value) > len("2030-03-18"):
            with contextlib.suppress(ValueError):
                value = dt.datetime.fromisoformat(value)
        if isinstance(value, dt.datetime):  # a rehearsal has its own day
            value = value.time()
        if isinstance(value, dt.time):
            return dt.timedelta(hours=value.hour, minutes=value.minute, seconds=value.second)
        match = _CLOCK.fullmatch(value) if isinstance(value, str) else None
        if match and int(match[1]) < 24 and int(match[2]) < 60 and int(match[3] or 0) < 60:
            hours, minutes, seconds = int(match[1]), int(match[2]), int(match[3] or 0)
            return dt.timedelta(hours=hours, minutes=minutes, seconds=seconds)
        raise _Wrong(
            path, f'{value!r:.40} is not a time of day; write it like "10:05" or "10:05:30"'
        )


def _rows(
    path: Path_, file: Path, lines: csv.DictReader[str], must: tuple[str, ...], may: tuple[str, ...]
) -> list[tuple[float | None, ...]]:
    for name in must:
        if name not in (lines.fieldnames or ()):
            raise _Wrong(path, f"{file} has no column {name!r}; its first line names the columns")
    values: list[tuple[float | None, ...]] = []
    for row in lines:
        if len(values) >= _MOST_LINES:
            raise _Wrong(path, f"{file} has more than {_MOST_LINES:,} lines")
        values.append(tuple(_cell(path, file, lines.line_num, row, name) for name in (*must, *may)))
    if not values:
        raise _Wrong(path, f"{file} has no lines below its head")
    return values


def _cell(path: Path_, file: Path, line: int, row: dict[str, Any], name: str) -> float | None:
    text = row.get(name)
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= _MOST_SECONDS:
        raise _Wrong(path, f"{name} in line {line} of {file} is {text!r:.40}, not a number from 0")
    return value


def _only(
    table: Mapping[str, Any], known: tuple[str, ...], path: Path_, more: tuple[str, ...] = ()
) -> None:
    for name in table:
        if name not in known:
            raise _Wrong((*path, name), f"no such field; there are {', '.join((*more, *known))}")


def _text(path: Path_, value: Any) -> str:
    if not isinstance(value, str):
        raise _Wrong(path, f"{value!r:.40} is not text")
    return value


def _word(path: Path_, value: Any, words: tuple[str, ...]) -> Any:
    if value not in words:
        problem = "is missing" if value is None else f"{value!r:.40} is unknown"
        raise _Wrong(path, f"{problem}; it is one of {', '.join(words)}")
    return value


def _number(path: Path_, value: Any, low: float, high: float, *, whole: bool = False) -> float:
    good = isinstance(value, int | float) and not isinstance(value, bool)
    if not good or not low <= value <= high or (whole and value != int(value)):
        kind = "a whole number" if whole else "a number"
        raise _Wrong(path, f"{value!r:.40} is not {kind} from {low:g} to {high:,.0f}")
    return float(value)


def _why(error: InvalidPolicy) -> str:
    return str(error).partition(": ")[2]
