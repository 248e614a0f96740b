"""`rehearse`: play a scenario on a private server. No room of yours is touched."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from waitroom.cli.command import Session, option
from waitroom.cli.output import table
from waitroom.cli.text import number, people, span
from waitroom.errors import InvalidInput
from waitroom.rehearsal import NAMES, Outcome, Scenario, find
from waitroom.rehearsal import rehearse as rehearsed
from waitroom.rehearsal.outcome import WORDS

_MARKS = {
    "PASS": ("✓ PASS", "green"),
    "FAIL": ("✗ FAIL", "bold red"),
    "not tested": ("– not tested", "dim"),
}
_FEWEST, _MOST = 10, 20_000_000

ScenarioName = Annotated[
    str | None,
    typer.Argument(metavar="SCENARIO", help="A ready one by its name, or a TOML file."),
]
People = Annotated[int | None, option("Number of people; limits scale with it.")]
Seed = Annotated[int | None, option("Another seed than the scenario's own.")]
Report = Annotated[Path | None, option("Where the HTML report goes, if it is wanted.", "FILE")]


async def rehearse(
    cli: Session,
    scenario: ScenarioName = None,
    people: People = None,
    seed: Seed = None,
    report: Report = None,
) -> None:
    """Rehearse: a crowd of up to millions, played in minutes, and every promise put to the test.

    The real scripts run on a private server with a clock of their own; no room of yours is
    touched. The exit code is 1 if a promise was broken. Without a scenario it lists the ready ones.

    Example:

      waitroom rehearse
      waitroom rehearse booking-50 --report booking.html
      waitroom rehearse concert-onsale --people 1000000 --seed 7
      waitroom rehearse saturday.toml --json
    """
    if scenario is None:
        _list(cli)
        return
    if people is not None and not _FEWEST <= people <= _MOST:
        raise InvalidInput("people", f"{people} is not allowed; it takes {_FEWEST} to {_MOST:,}")
    if seed is not None and not 0 <= seed <= 2**53:
        raise InvalidInput("seed", f"{seed} is not allowed; it takes 0 to 2^53")
    chosen = find(scenario)
    if report is not None:
        _check_report(report)
    with cli.out.progress() as bar:
        task = bar.add_task(chosen.title, total=people or round(chosen.expected))
        outcome = await rehearsed(
            chosen,
            seed=seed,
            people=people,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    where = _written(outcome, report)
    cli.out.show(outcome.as_dict() | {"report": where}, *_lines(outcome, where))
    if not outcome.passed:
        raise typer.Exit(1)


def _list(cli: Session) -> None:
    scenarios = [find(name) for name in NAMES]
    lines = table("scenario", "people", "about", right=["people"], wrap=["about"])
    for scenario in scenarios:
        lines.add_row(
            scenario.name, number(round(scenario.expected)), " ".join(scenario.about.split())
        )
    document = [
        {"name": scenario.name, "title": scenario.title, "people": round(scenario.expected)}
        for scenario in scenarios
    ]
    cli.out.show(document, lines, "\nPlay one: waitroom rehearse booking-50 --report report.html")


def _check_report(report: Path) -> None:
    """Say what is wrong before the rehearsal, which may take minutes."""
    if importlib.util.find_spec("jinja2") is None:
        raise InvalidInput("report", "jinja2 is missing; run `pip install 'waitroom[server]'`")
    folder = report.absolute().parent
    if not folder.is_dir():
        raise InvalidInput("report", f"there is no folder {folder}; make it first")


def _written(outcome: Outcome, report: Path | None) -> str | None:
    if report is None:
        return None
    from waitroom.rehearsal.report import render  # needs Jinja2, which nothing else here does

    try:
        report.write_text(render(outcome), "utf-8")
    except OSError as error:
        raise InvalidInput("report", f"{report} cannot be written: {error.strerror}") from None
    return str(report)


def _lines(outcome: Outcome, where: str | None) -> list[str | Table | Text]:
    scenario: Scenario = outcome.scenario
    speed = outcome.lasted_s / outcome.took_s if outcome.took_s else 0
    played = f"{span(outcome.lasted_s)} played in {span(outcome.took_s)}"
    lines: list[str | Table | Text] = [
        f"{scenario.title}: {people(outcome.people)}, seed {outcome.seed}; "
        f"{played} ({speed:,.0f} times as fast).\n",
        _promises(outcome),
        "",
        _summary(outcome),
        "",
    ]
    kept = Text("✓ Every promise was kept.", "bold green")
    lines.append(kept if outcome.passed else Text("✗ A promise was broken.", "bold red"))
    if where is not None:
        lines.append(f"The report is in {where}.")
    return lines


def _promises(outcome: Outcome) -> Table:
    lines = table("promise", "verdict", "tested", "what was found", right=["tested"],
                  wrap=["what was found"])  # fmt: skip
    for promise in outcome.promises:
        text = (
            f"broken {promise.broken:,} times; first: {promise.first}"
            if promise.broken
            else promise.text
        )
        style = "red" if promise.broken else "dim"
        lines.add_row(
            promise.name, Text(*_MARKS[promise.verdict]), number(promise.checked), Text(text, style)
        )
    return lines


def _summary(outcome: Outcome) -> Table:
    lines = table("people", "number", right=["number"], header=False)
    for word, count in outcome.ended.items():
        if count:
            lines.add_row(WORDS[word], number(count))
    lines.add_row("most people waiting", number(outcome.most_waiting))
    lines.add_row("most called + inside", number(outcome.most_held))
    waits = outcome.waits
    if waits.called:
        lines.add_row("median wait", span(waits.median_s))
        lines.add_row("nine of ten waited less than", span(waits.p90_s))
        lines.add_row("longest wait", span(waits.longest_s))
    if outcome.scenario.origin:
        lines.add_row("site behind had too many", span(outcome.origin_over_s))
    for eta, accuracy in outcome.accuracy.items():
        if accuracy.error is not None and accuracy.covered is not None:
            lines.add_row(f"estimate ({eta}), median error", f"{100 * accuracy.error:.1f} %")
            lines.add_row(
                f"estimate ({eta}), waits within range", f"{100 * accuracy.covered:.1f} %"
            )
    return lines
