"""Play drawn rooms with the real engine, and compare what people were told with what came true.

FULL=1 plays 40 rooms instead of 8, MOST=… limits their size, LARGE=1 adds one of a million people,
SALT=… repeats a run, and WRITE=1 puts the tables into docs/estimates.md. KEEP=folder keeps the
rooms, and FROM=folder asks about kept rooms again, without playing them (see `recorded`). What
counts is written in `waitroom.rehearsal.accuracy`. Every room counts the same, whatever its size: a
figure of many rooms is the mean of the figures of each.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.eta.recorded import Recorder, Recording, kept
from bench.eta.rooms import MOST, Room, drawn
from bench.eta.speed import renewal_ms
from waitroom.models import Eta
from waitroom.rehearsal import rehearse
from waitroom.rehearsal.accuracy import Accuracy, Watch

DOCS = Path(__file__).parents[2] / "docs" / "estimates.md"
_BEGIN, _END = "<!-- bench-eta -->\n", "<!-- /bench-eta -->"
QUICK, FULL = 8, 40
LARGE = 1_000_000
ENOUGH = 100
"""Fewer answers say nothing about a room: hardly anybody waited for two minutes."""

WIDEST_STEP = 5


@dataclass(frozen=True, slots=True)
class Result:
    """A room, and how good each formula was in it."""

    room: Room
    seed: int
    accuracy: dict[Eta, Accuracy]

    @property
    def observed(self) -> Accuracy:
        """The accuracy of `observed`."""
        return self.accuracy.get(Eta.OBSERVED, Accuracy(0))


async def measure(
    number: int, salt: int, most: int, *, large: bool, keep: Path | None = None
) -> list[Result]:
    """Play rooms until there are so many that say something."""
    rng = random.Random(salt)
    results: list[Result] = []
    while len(results) < number:
        result = await play(drawn(rng, most), rng.randrange(10**6), keep)
        if result.observed.answers >= ENOUGH:
            results.append(result)
    if large:
        results.append(await play(drawn(rng, LARGE, LARGE), rng.randrange(10**6), keep))
    return results


async def play(room: Room, seed: int, keep: Path | None = None) -> Result:
    """Rehearse a room once."""
    began = time.perf_counter()
    recorders: list[Recorder] = []

    def recorder(people: int, etas: Sequence[Eta]) -> Recorder:
        recorders.append(Recorder(people, etas))
        return recorders[0]

    watching = Watch if keep is None else recorder
    outcome = await rehearse(room.scenario, seed=seed, etas=tuple(Eta), watching=watching)
    assert outcome.passed, f"{room.name}, seed {seed}: a promise was broken"
    if keep is not None:
        Recording(room, seed, recorders[0].questions, outcome.called_ms).keep(keep)
    _say(began, room, seed)
    return Result(room, seed, outcome.accuracy)


def ask_again(folder: Path) -> list[Result]:
    """Judge the estimator of now by rooms that were kept."""
    results: list[Result] = []
    for recording in kept(folder):
        began = time.perf_counter()
        result = Result(recording.room, recording.seed, recording.judged())
        if result.observed.answers >= ENOUGH:
            results.append(result)
        _say(began, recording.room, recording.seed)
    return results


def _say(began: float, room: Room, seed: int) -> None:
    took_s = time.perf_counter() - began
    print(f"{took_s:6.1f} s  {room.name}, seed {seed}", file=sys.stderr, flush=True)


def families(results: list[Result]) -> dict[str, list[Result]]:
    """Return the rooms of each family; errors are judged where no operator changed anything."""
    found: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        for family, kind in result.room.families.items():
            found[f"{family}: {kind}"].append(result)
    return found


def by_family(results: list[Result]) -> str:
    """Return a table of families, the worst cover first."""
    lines = ["| family | rooms | error | covered | width | jumps |", "|---|---|---|---|---|---|"]
    for name, some in sorted(families(results).items(), key=lambda each: _cover(each[1])):
        width, jumps = _width(some), _jumps(some)
        lines.append(
            f"| {name} | {len(some)} | {_percent(_error(some))} | {_percent(_cover(some))} | "
            f"{width or 0:.2f} | {_percent(jumps)} |"
        )
    return "\n".join(lines) + "\n"


def by_minute(results: list[Result]) -> str:
    """Return a table by the time since the first estimate; every room counts the same."""
    lines = ["| minutes | rooms | error | covered |", "|---|---|---|---|"]
    longest = max(len(result.observed.minutes) for result in results)
    for start in (*range(0, 30, WIDEST_STEP), 30):
        end = start + WIDEST_STEP if start < 30 else longest
        errors, covered = [], []
        for result in results:
            minutes = result.observed.minutes[start:end]
            answers = sum(minute.answers for minute in minutes)
            if answers:
                errors.append(statistics.median(e for minute in minutes for e in minute.errors))
                covered.append(sum(minute.covered for minute in minutes) / answers)
        if errors:
            words = f"{start} to {end}" if start < 30 else "30 and later"
            error, cover = _percent(_mean(errors)), _percent(_mean(covered))
            lines.append(f"| {words} | {len(errors)} | {error} | {cover} |")
    return "\n".join(lines) + "\n"


def figures(results: list[Result]) -> dict[str, float | int | None]:
    """Return the figures of the issue, as percentages."""
    known = [result for result in results if result.room.is_knowable]
    worst = [_error(some) or 0.0 for some in families(known).values()]
    found: dict[str, float | int | None] = {
        "observed_mae_pct": _rounded(_error(results)),
        "observed_cover_pct": _rounded(_cover(results)),
        "observed_jump_pct": _rounded(_jumps(results)),
        "first10_cover_pct": _rounded(_mean(each.observed.first_covered for each in results)),
        "error_worst_family_pct": _rounded(max(worst, default=None)),
        "cover_worst_family_pct": _rounded(
            min(_cover(some) for some in families(results).values())
        ),
    }
    for eta in (Eta.BATCH, Eta.RATE, Eta.SERVICE):
        errors = [each.accuracy[eta].error for each in _longer(results) if eta in each.accuracy]
        found[f"{eta}_mae_pct"] = _rounded(_mean(errors))
    width = _width(results)
    return found | {"width": None if width is None else round(width, 2), "rooms": len(results)}


def write(text: str) -> None:
    """Put the tables into the documentation, between their marks."""
    page = DOCS.read_text("utf-8")
    start, end = page.index(_BEGIN) + len(_BEGIN), page.index(_END)
    DOCS.write_text(page[:start] + text + page[end:], "utf-8")


def _error(results: list[Result]) -> float | None:
    return _mean(each.observed.error for each in _longer(results))


def _width(results: list[Result]) -> float | None:
    return _mean(each.observed.width for each in _longer(results))


def _longer(results: list[Result]) -> list[Result]:
    """Return the rooms with waits from the tenth minute on: only there error and width count."""
    return [each for each in results if each.observed.outlasts_first]


def _cover(results: list[Result]) -> float:
    return _mean(each.observed.covered for each in results) or 0.0


def _jumps(results: list[Result]) -> float | None:
    return _mean(each.observed.jumps for each in results)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.mean(known) if known else None


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 1)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def main() -> None:
    """Measure, print the tables, and end with one JSON object."""
    salt = int(os.environ.get("SALT") or time.time())
    full = bool(os.environ.get("FULL"))
    most = int(os.environ.get("MOST") or (MOST if full else 2_000))
    number = FULL if full else QUICK
    large, keep, again = (os.environ.get(name) for name in ("LARGE", "KEEP", "FROM"))
    folder = Path(keep) if keep else None
    if again:
        results = ask_again(Path(again))
    else:
        results = asyncio.run(measure(number, salt, most, large=bool(large), keep=folder))
    text = f"{by_family(results)}\n{by_minute(results)}"
    print(text)
    if os.environ.get("WRITE"):
        write(text)
    facts = {"estimator_ms": round(renewal_ms(), 2), "most": most, "salt": salt}
    print(json.dumps(figures(results) | facts), flush=True)


if __name__ == "__main__":
    main()
