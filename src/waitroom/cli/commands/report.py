"""`report`: what really happened in a room, compared with the plan."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from waitroom.cli.command import Session, option
from waitroom.cli.output import table
from waitroom.cli.text import number, read_since
from waitroom.errors import InvalidInput
from waitroom.operations.reports import records_of
from waitroom.rehearsal import NAMES, find, rehearse
from waitroom.report import plan as plans
from waitroom.report.gather import Records, gather
from waitroom.report.plan import Plan
from waitroom.report.sale import WORDS, Sale
from waitroom.report.summary import beside_plan, sentences
from waitroom.report.tables import TABLES, to_csv
from waitroom.report.words import moment, percent, span

_MARKS = {
    "PASS": ("✓ PASS", "green"),
    "FAIL": ("✗ FAIL", "bold red"),
    "incomplete": ("? incomplete", "yellow"),
    "not tested": ("– not tested", "dim"),
}
_FIRST = {
    "PASS": ("✓ Every promise was kept.", "bold green"),
    "FAIL": ("✗ A promise was broken.", "bold red"),
    "incomplete": ("? Incomplete: not everything about this sale is known.", "bold yellow"),
}

RoomName = Annotated[str, typer.Argument(metavar="ROOM", help="The room.")]
Since = Annotated[
    str, option("From an age like 2h or 7d, or a time like 2030-03-01T20:00+09:00.", "TIME")
]
Until = Annotated[str, option("Until then, given the same way; 0s is now.", "TIME")]
PlanFile = Annotated[
    str | None,
    option("A scenario, which is then rehearsed, or saved `rehearse --json`.", "FILE", "--plan"),
]
Out = Annotated[Path | None, option("Where the HTML report goes, if it is wanted.", "FILE")]
Csv = Annotated[
    Path | None, option("A folder for all tables, or a file .csv for the timeline.", "PATH")
]


async def report(
    cli: Session,
    room: RoomName,
    since: Since = "24h",
    until: Until = "0s",
    plan: PlanFile = None,
    out: Out = None,
    csv: Csv = None,
) -> None:
    """Report on a sale: what happened, beside the plan, and every promise checked.

    Load and limits, waits by arrival, estimates against the truth, and who did what when. Promises
    are checked from the archive of events (the setting `archive`); without it, or where it has
    gaps, the report says "incomplete". The exit code is 1 if a promise was broken.

    Example:

      waitroom report concert --since 3h --out concert.html
      waitroom report concert --since 2030-03-01T19:00+09:00 --until 2030-03-01T23:00+09:00
      waitroom report concert --since 3h --plan rehearsal.json --csv tables --json
    """
    _check(out, csv)
    planned = await _plan(cli, plan)
    async with cli.engine() as engine:
        since_ms, until_ms = read_since("since", since), read_since("until", until)
        records = await records_of(engine, room, since_ms, until_ms)
    sale = await _gathered(cli, records, planned)
    files = _write(sale, out, csv)
    cli.out.show(sale.figures() | {"files": files}, *_lines(sale, files))
    if not sale.passed:
        raise typer.Exit(1)


def _check(out: Path | None, csv: Path | None) -> None:
    """Say what is wrong before reading anything, which may take minutes."""
    if out is not None and importlib.util.find_spec("jinja2") is None:
        raise InvalidInput("out", "jinja2 is missing; run `pip install 'waitroom[server]'`")
    for name, path in (("out", out), ("csv", csv)):
        if path is not None and not path.absolute().parent.is_dir():
            folder = path.absolute().parent
            raise InvalidInput(name, f"there is no folder {folder}; make it first")


async def _plan(cli: Session, name: str | None) -> Plan | None:
    """Read a saved plan, or rehearse a scenario to get one."""
    if name is None:
        return None
    if name not in NAMES and not name.endswith(".toml"):
        return _saved_plan(Path(name))
    scenario = find(name)
    with cli.out.progress() as bar:
        task = bar.add_task(scenario.title, total=round(scenario.expected))
        outcome = await rehearse(
            scenario,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    return plans.of_rehearsal(outcome.figures())


def _saved_plan(path: Path) -> Plan:
    try:
        return plans.read(json.loads(path.read_text("utf-8")))
    except OSError as error:
        raise InvalidInput("plan", f"{path} cannot be read: {error.strerror}") from None
    except ValueError:
        raise InvalidInput("plan", f"{path} is no JSON and no scenario") from None


async def _gathered(cli: Session, records: Records, planned: Plan | None) -> Sale:
    with cli.out.progress() as bar:
        task = bar.add_task("archive, bytes", total=None)
        return await asyncio.to_thread(
            gather,
            records,
            cli.settings.archive,
            planned,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )


def _write(sale: Sale, out: Path | None, csv: Path | None) -> list[str]:
    """Write the requested files; return where they are."""
    texts: dict[Path, str] = {}
    if out is not None:
        from waitroom.report.sale_page import render  # needs Jinja2, which nothing else here does

        texts[out] = render(sale)
    if csv is not None and csv.suffix == ".csv":
        texts[csv] = to_csv(sale, "timeline")
    elif csv is not None:
        texts |= {csv / f"{name}.csv": to_csv(sale, name) for name in TABLES}
    for path, text in texts.items():
        try:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8", newline="")
        except OSError as error:
            raise InvalidInput("out", f"{path} cannot be written: {error.strerror}") from None
    return [str(path) for path in texts]


def _lines(sale: Sale, files: list[str]) -> list[str | Table | Text]:
    lines: list[str | Table | Text] = [Text(*_FIRST[sale.verdict])]
    lines += [f"  {reason}" for reason in sale.missing]
    lines += [f"\n{sale.room}, {moment(sale.since_ms)} to {moment(sale.until_ms)} UTC"]
    lines += [*sentences(sale), "", _promises(sale), "", _summary(sale)]
    if sale.plan is not None:
        lines += ["", _beside(sale)]
    lines += [f"Written: {path}" for path in files]
    return lines


def _promises(sale: Sale) -> Table:
    lines = table("promise", "verdict", "tested", "what was found", right=["tested"],
                  wrap=["what was found"])  # fmt: skip
    for promise in sale.promises:
        text = promise.text
        if promise.broken:
            text = f"broken {promise.broken:,} times; first: {promise.first}"
        style = "red" if promise.broken else "dim"
        mark = Text(*_MARKS[sale.verdict_of(promise)])
        lines.add_row(promise.name, mark, number(promise.checked), Text(text, style))
    return lines


def _summary(sale: Sale) -> Table:
    lines = table("people", "number", right=["number"], header=False)
    for name, word in WORDS.items():
        lines.add_row(word, number(sale.counts[name]))
    lines.add_row("most people waiting", number(sale.most_waiting))
    lines.add_row("most called + inside", number(sale.most_held))
    waits = sale.waits
    if waits.called:
        lines.add_row("median wait", span(waits.median_s))
        lines.add_row("nine of ten waited less than", span(waits.p90_s))
        lines.add_row("longest wait", span(waits.longest_s))
    if sale.estimates.error is not None and sale.estimates.near is not None:
        lines.add_row("estimate, median error", percent(sale.estimates.error))
        lines.add_row("waits within a quarter of it", percent(sale.estimates.near))
    lines.add_row("actions of operators", number(len(sale.actions)))
    return lines


def _beside(sale: Sale) -> Table:
    name = sale.plan.name if sale.plan else ""
    lines = table(name, "planned", "came", right=["planned", "came"])
    for figure in beside_plan(sale):
        lines.add_row(figure.name, figure.planned, figure.came)
    return lines
