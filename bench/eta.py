"""`make bench-eta`: how good the estimates are, compared with the real waits.

Every ready scenario is rehearsed with seeds that were not used for tuning, and two more that are
made up at run time. The estimates of some hundred people are noted every ten seconds; see
`waitroom.rehearsal.accuracy` for what counts. The table goes to docs/estimates.md with WRITE=1.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from waitroom.models import Eta
from waitroom.rehearsal import NAMES, find, rehearse
from waitroom.rehearsal.accuracy import Accuracy
from waitroom.rehearsal.scenario import Scenario
from waitroom.rehearsal.scenario_file import read_text

TARGETS = {"error": 15.0, "covered": 85.0, "jumps": 5.0}
SIZES = {"concert-onsale": 10_000, "prequeue": 6_000}
"""How many people the large scenarios get, with limits in proportion; the others are unchanged."""

DOCS = Path(__file__).parents[1] / "docs" / "estimates.md"
_BEGIN, _END = "<!-- bench-eta -->\n", "<!-- /bench-eta -->"


@dataclass(frozen=True, slots=True)
class Result:
    """One rehearsal, and how good each formula was in it."""

    name: str
    seed: int
    accuracy: dict[Eta, Accuracy]

    @property
    def observed(self) -> Accuracy:
        """The accuracy of `observed`."""
        return self.accuracy[Eta.OBSERVED]

    @property
    def distance(self) -> float:
        """The worst of its three figures, relative to its target; above 1 the target is missed."""
        error, covered, jumps = _percents(self.observed)
        return max(
            error / TARGETS["error"],
            (100 - covered) / (100 - TARGETS["covered"]),
            jumps / TARGETS["jumps"],
        )


def made_up(rng: random.Random, kind: str) -> Scenario:
    """Make up a scenario: a room with a pace or with places, and a crowd too large for it."""
    session_s, wait_s = rng.uniform(60, 400), rng.uniform(600, 1_800)
    pace = rng.uniform(1, 8)
    limits = f"batch = {round(10 * pace)}\nevery_s = 10\nsession_s = 900"
    if kind == "places":
        pace = rng.uniform(0.3, 1.2)
        limits = f"capacity = {round(pace * session_s) + 1}\nsession_s = {4 * session_s:.0f}"
    crowd = pace * wait_s
    text = f"""
title = "Made up: {kind}"
lasts_s = 14400
[room]
{limits}
[[arrivals]]
kind = "spike"
people = {round(crowd * rng.uniform(0.5, 0.8))}
within_s = {rng.uniform(60, 600):.0f}
[[arrivals]]
kind = "poisson"
per_s = {pace * rng.uniform(0.3, 0.6):.3f}
for_s = {wait_s:.0f}
[people]
patience = {{ kind = "lognormal", median_s = {rng.uniform(3, 8) * wait_s:.0f}, sigma = 0.6 }}
leaves = {rng.random():.2f}
closes_tab = {rng.uniform(0, 0.1):.2f}
no_shows = {rng.uniform(0, 0.08):.2f}
session = {{ kind = "lognormal", median_s = {session_s:.0f}, sigma = {rng.uniform(0.3, 0.8):.2f} }}
"""
    return read_text(text, f"made up: {kind}", Path(), kind)


async def measure(seeds: list[int], salt: int) -> list[Result]:
    """Rehearse everything."""
    rng = random.Random(salt)
    results = [await play(find(name), seed) for name in NAMES for seed in seeds]
    for kind in ("pace", "places"):
        while True:
            result = await play(made_up(rng, kind), rng.randrange(10**6))
            if Eta.OBSERVED in result.accuracy and result.observed.answers:
                break  # otherwise nobody waited for two minutes, so there is nothing to judge
        results.append(result)
    return results


async def play(scenario: Scenario, seed: int) -> Result:
    """Rehearse a scenario once."""
    began = time.perf_counter()
    people = SIZES.get(scenario.name)
    outcome = await rehearse(scenario, seed=seed, people=people, etas=tuple(Eta))
    assert outcome.passed, f"{scenario.name}, seed {seed}: a promise was broken"
    took_s = time.perf_counter() - began
    print(f"{took_s:6.1f} s  {scenario.name}, seed {seed}", file=sys.stderr, flush=True)
    return Result(scenario.name, seed, outcome.accuracy)


def table(results: list[Result]) -> str:
    """Return all results as Markdown, the worst first."""
    lines = [
        "| scenario | seed | answers | error | covered | jumps | `batch` | `rate` | `service` |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for result in sorted(results, key=lambda each: -each.distance):
        error, covered, jumps = _percents(result.observed)
        others = [_error(result.accuracy.get(eta)) for eta in (Eta.BATCH, Eta.RATE, Eta.SERVICE)]
        lines.append(
            f"| {result.name} | {result.seed} | {result.observed.answers:,} | {error:.1f} % | "
            f"{covered:.1f} % | {jumps:.1f} % | {' | '.join(others)} |"
        )
    return "\n".join(lines) + "\n"


def figures(results: list[Result]) -> dict[str, float | int | bool | None]:
    """Return the worst of all scenarios, because targets must hold for each."""
    observed = [_percents(result.observed) for result in results]
    figures: dict[str, float | int | bool | None] = {
        "observed_mae_pct": round(max(each[0] for each in observed), 1),
        "observed_cover_pct": round(min(each[1] for each in observed), 1),
        "observed_jump_pct": round(max(each[2] for each in observed), 1),
    }
    for eta in (Eta.BATCH, Eta.RATE, Eta.SERVICE):
        errors = [
            100 * each.error
            for result in results
            if (each := result.accuracy.get(eta)) is not None and each.error is not None
        ]
        figures[f"{eta}_mae_pct"] = round(max(errors), 1) if errors else None
    missed = sum(result.distance > 1 for result in results)
    return figures | {"scenarios": len(results), "missed": missed}


def write(text: str) -> None:
    """Put the table into the documentation, between its marks."""
    page = DOCS.read_text("utf-8")
    start, end = page.index(_BEGIN) + len(_BEGIN), page.index(_END)
    DOCS.write_text(page[:start] + text + page[end:], "utf-8")


def _percents(accuracy: Accuracy) -> tuple[float, float, float]:
    return 100 * (accuracy.error or 0), 100 * (accuracy.covered or 0), 100 * (accuracy.jumps or 0)


def _error(accuracy: Accuracy | None) -> str:
    return "–" if accuracy is None or accuracy.error is None else f"{100 * accuracy.error:.1f} %"


def main() -> None:
    """Measure, print the table, and end with one JSON object."""
    salt = int(os.environ.get("SALT") or time.time())
    rng = random.Random(salt)
    seeds = [rng.randrange(1_000, 10**6) for _ in range(3 if os.environ.get("FULL") else 1)]
    results = asyncio.run(measure(seeds, salt))
    text = table(results)
    print(text)
    if os.environ.get("WRITE"):
        write(text)
    print(json.dumps(figures(results) | {"salt": salt}), flush=True)


if __name__ == "__main__":
    main()
