"""The output: progress while it runs, a table of the figures, one JSON line."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Line:
    """One key of the table: what it means, and the target that a full run must reach."""

    key: str
    about: str
    least: float | None = None
    most: float | None = None

    @property
    def target(self) -> str:
        """The target as text."""
        if self.least is not None:
            return f"≥ {self.least:g}"
        return f"≤ {self.most:g}" if self.most is not None else ""

    def met(self, value: float) -> bool:
        """Tell whether a figure reaches the target."""
        high_enough = self.least is None or value >= self.least
        return high_enough and (self.most is None or value <= self.most)


LINES = (
    Line("poll_us", "server µs per poll, over the whole line"),
    Line("front_poll_us", "the same, of the 10,000 in front"),
    Line("poll_us_10k", "the same, 10,000 waiting in all"),
    Line("seed_poll_us", "as seed 004: one script per poll"),
    Line("raw_poll_us", "ZRANK + ZADD as plain commands"),
    Line("poll_speedup", "seed 004 ÷ ours", least=3),
    Line("poll_vs_raw", "ours ÷ plain commands", most=1),
    Line("poll_growth", "ours ÷ ours at 10,000", most=4),
    Line("bytes_per_waiter", "used_memory per person waiting", most=170),
    Line("rss_per_waiter", "the same, resident"),
    Line("script_p99_ms", "longest verb's p99 in the storm", most=10),
    Line("longest_script_ms", "longest script in the storm"),
    Line("handover_p99_ms", "session over → next one called", most=50),
    Line("handover_p50_ms", "the same, median"),
    Line("keyspace_delivered_pct", "by `expired` notifications, %"),
    Line("joins_per_s", "one process, through the batcher"),
    Line("polls_per_s", "one process, through the batcher"),
    Line("join_batch_ratio", "to one call at a time", least=6),
    Line("poll_batch_ratio", "to one call at a time", least=6),
)


class Reporter:
    """Shows progress: a bar on a terminal, otherwise a plain line per step."""

    def __init__(self) -> None:
        self.console = Console(width=None if sys.stdout.isatty() else 100)
        self._began = time.perf_counter()

    @contextmanager
    def step(self, name: str, total: int) -> Iterator[Callable[[int], None]]:
        """Show one step; it gets a function that counts what is done."""
        if not self.console.is_terminal:
            began = time.perf_counter()
            yield lambda _: None
            now = time.perf_counter()
            took, since = now - began, now - self._began
            print(f"{since:6.1f} s  {name}: {total:,} in {took:.1f} s", flush=True)
            return
        columns = TextColumn("{task.description:<34}"), BarColumn(), MofNCompleteColumn()
        with Progress(*columns, TimeElapsedColumn(), console=self.console) as bar:
            task = bar.add_task(name, total=total)
            yield lambda count: bar.advance(task, count)

    def finish(self, figures: Figures, facts: dict[str, Any]) -> None:
        """Print the engine's table, then everything as one JSON object on the last line."""
        title = f"the engine with {facts['waiting']:,} waiting on {facts['server']}"
        self.show(title, LINES, figures)
        if not facts["full"]:
            self.console.print("Targets are those of a full run: make bench-engine FULL=1")
        self.last_line(figures, facts)

    def show(self, title: str, lines: Sequence[Line], figures: Figures) -> None:
        """Print a table of figures next to their targets."""
        table = Table(title=title)
        for name in ("key", "figure", "target", ""):
            table.add_column(name, justify="right" if name == "figure" else "left", no_wrap=True)
        table.add_column("meaning")
        for line in lines:
            value = figures[line.key]
            mark = ("[green]met" if line.met(value) else "[red]missed") if line.target else ""
            table.add_row(line.key, _shown(value), line.target, mark, line.about)
        self.console.print(table)

    def last_line(self, figures: Figures, facts: dict[str, Any]) -> None:
        """Print everything as one JSON object."""
        facts["seconds"] = round(time.perf_counter() - self._began, 1)
        rounded = {key: round(value, 4) for key, value in figures.items()}
        print(json.dumps({**rounded, **facts}), flush=True)


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def percentile(values: list[float], percent: float) -> float:
    """Return the value that `percent` of all do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]
