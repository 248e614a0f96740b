"""`load`: a crowd of real clients for a running server."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from waitroom.cli.command import Session, option
from waitroom.cli.output import table
from waitroom.cli.text import NONE, number, people, read_seconds, span
from waitroom.errors import InvalidInput, TooMany
from waitroom.load import Outcome, Plan
from waitroom.load import run as loaded
from waitroom.load.checks import Verdict
from waitroom.load.outcome import SHARES, WORDS
from waitroom.load.person import Stage
from waitroom.load.plan import Limits
from waitroom.load.room import Front
from waitroom.load.target import find

_MARKS = {
    Verdict.OK: ("✓ ok", "green"),
    Verdict.FAILED: ("✗ failed", "bold red"),
    Verdict.UNKNOWN: ("– unknown", "yellow"),
}
_STEPS = ("join", "poll", "enter", "finish", "leave")

Url = Annotated[str, typer.Argument(metavar="URL", help="The server: http://127.0.0.1:8080.")]
RoomOf = Annotated[str, option("The room to come to.", "NAME")]
People = Annotated[int, option("How many people come.")]
Arrive = Annotated[str, option("Over how long they come.", "SECONDS")]
Stay = Annotated[str, option("How long they stay inside, on average.", "SECONDS")]
Leave = Annotated[float, option("Share who give up if they wait for long.", "SHARE")]
NoShow = Annotated[float, option("Share who do not come when called.", "SHARE")]
For = Annotated[str, option("When to stop, whoever still waits.", "SECONDS", "--for")]
Connections = Annotated[int, option("Most connections at once, of all processes.")]
Processes = Annotated[int, option("Processes that the crowd is split into.")]
Seed = Annotated[int, option("Who comes when, stays how long, and gives up.")]
Capacity = Annotated[int | None, option("The room's `capacity`, to check it.")]
MaxEntries = Annotated[int | None, option("The room's `max_entries`, to check it.")]
PerS = Annotated[str | None, option("The room's `per_s`.", "SECONDS")]
Key = Annotated[
    str | None,
    typer.Option(
        metavar="KEY", envvar="WAITROOM_KEY", help="An API key, to read the room's limits."
    ),
]
Make = Annotated[
    str | None, option("Make the room first, of this preset and the limits given.", "PRESET")
]
Own = Annotated[
    bool,
    typer.Option("--i-own-this-host", help="Load a server that is not on this machine."),
]


async def load(
    cli: Session,
    url: Url,
    room: RoomOf = "load",
    people: People = 1_000,
    arrive: Arrive = "60",
    stay: Stay = "5",
    leave: Leave = 0.05,
    no_show: NoShow = 0.02,
    longest: For = "600",
    connections: Connections = 100,
    processes: Processes = 1,
    seed: Seed = 1,
    capacity: Capacity = None,
    max_entries: MaxEntries = None,
    per_s: PerS = None,
    key: Key = None,
    make: Make = None,
    i_own_this_host: Own = False,
) -> None:
    """Load a running server with a crowd, and check from outside that it is fast and fair.

    People join, poll when they are told to, enter when called, stay and finish; some give up, some
    never come. What they saw is checked: order, limits, positions, nobody lost. The exit code is 1
    if a check failed. Ctrl-C ends it early, with a report. A length of time is a number of seconds,
    or like 90s, 10m.

    Example:

      waitroom load http://127.0.0.1:8080 --room concert --people 5000 --arrive 60s
      waitroom load http://127.0.0.1:8080 --key wr_… --make slots --capacity 200 --processes 2
      waitroom load http://127.0.0.1:8080 --room sale --max-entries 100 --per-s 60 --json
    """
    window_s = None if per_s is None else read_seconds("per_s", per_s)
    limits = Limits(capacity, max_entries, window_s)
    plan = Plan(
        target=find(url, anywhere=i_own_this_host),
        room=room,
        people=people,
        arrive_s=read_seconds("arrive", arrive),
        stay_s=read_seconds("stay", stay),
        leave=leave,
        no_show=no_show,
        longest_s=read_seconds("for", longest),
        connections=connections,
        processes=processes,
        seed=seed,
    )
    if make is not None:
        await _make(plan, key, make, limits)
    with cli.out.progress() as bar:
        task = bar.add_task("People come", total=people)

        def progress(stages: Counter[str], errors: int) -> None:
            status = f"{stages[Stage.WAITING]:,} waiting, {stages[Stage.INSIDE]:,} inside"
            status += f", {errors:,} errors" if errors else ""
            bar.update(task, completed=stages[Stage.DONE], description=status)

        outcome = await loaded(plan, key=key, limits=limits, progress=progress)
    cli.out.show(outcome.as_dict(), *_lines(outcome))
    if not outcome.passed:
        raise typer.Exit(1)


async def _make(plan: Plan, key: str | None, preset: str, limits: Limits) -> None:
    if key is None:
        raise InvalidInput(
            "make",
            "only an API key of role admin makes rooms; give --key. "
            '`waitroom key create --role admin --name "load test"` makes one',
        )
    named = {name: getattr(limits, name) for name in ("capacity", "max_entries", "per_s")}
    front = Front(plan.target, key)
    try:
        changes = {name: value for name, value in named.items() if value is not None}
        await front.make(plan.room, preset, changes)
    finally:
        await front.aclose()


def _lines(outcome: Outcome) -> list[str | Table | Text]:
    plan = outcome.plan
    rate = outcome.requests / max(outcome.lasted_s, 1e-3)
    lines: list[str | Table | Text] = [
        f"{people(plan.people)} for room {plan.room!r} at {plan.target.url}: "
        f"{number(outcome.requests)} requests in {span(outcome.lasted_s)}, {rate:,.0f} per second"
        f"{', stopped early' if outcome.interrupted else ''}.\n",
        _checks(outcome),
        "",
        _latencies(outcome),
        "",
        _ends(outcome),
        "",
    ]
    if outcome.noted.errors:
        lines += [_errors(outcome), ""]
    if any(TooMany.code == code for _, _, code in outcome.noted.errors):
        hint = "The server limits joins per address; for a test, set its `joins_per_minute` to 0.\n"
        lines.append(Text(hint, "yellow"))
    lines.append(f"Busiest: {_usage(outcome)}")
    lines.append(f"Limit: {outcome.bottleneck.who}. {outcome.bottleneck.why.capitalize()}.\n")
    good = Text("✓ No check failed.", "bold green")
    lines.append(good if outcome.passed else Text("✗ A check failed.", "bold red"))
    return lines


def _checks(outcome: Outcome) -> Table:
    lines = table("check", "verdict", "what was seen", wrap=["what was seen"])
    for check in outcome.checks:
        style = "red" if check.verdict is Verdict.FAILED else "dim"
        lines.add_row(check.name, Text(*_MARKS[check.verdict]), Text(check.detail, style))
    return lines


def _latencies(outcome: Outcome) -> Table:
    columns = [f"p{100 * share:g}" for share in SHARES]
    lines = table("ms", "answers", *columns, "max", right=["answers", *columns, "max"])
    for name in (*_STEPS, "lateness"):
        latency = outcome.noted.latency.get(name)
        if latency is None or not latency.count:
            continue
        at = [NONE if (seconds := latency.at(share)) is None else _ms(seconds) for share in SHARES]
        shown = "(sent late by)" if name == "lateness" else name
        lines.add_row(shown, number(latency.count), *at, _ms(latency.most_s))
    return lines


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:,.1f}"


def _ends(outcome: Outcome) -> Table:
    lines = table("people", "number", right=["number"], header=False)
    for end, count in outcome.ended.items():
        lines.add_row(WORDS[end], number(count))
    return lines


def _errors(outcome: Outcome) -> Table:
    lines = table("errors", "status", "code", "times", right=["times"])
    for (step, status, code), count in outcome.noted.errors.most_common(20):
        lines.add_row(step, str(status or NONE), code, number(count))
    return lines


def _usage(outcome: Outcome) -> str:
    usage = outcome.usage

    def cores(value: float | None) -> str:
        return "unknown" if value is None else f"{value:.2f} cores"

    parts = [f"server {cores(usage.server)}"]
    if usage.workers:
        parts[0] += f" ({usage.workers} worker{'s' if usage.workers > 1 else ''})"
    if usage.lag_s is not None:
        parts[0] += f", loop up to {1000 * usage.lag_s:.0f} ms late"
    parts += [f"backend {cores(usage.backend)}", f"load test {cores(usage.own)} per process"]
    if usage.machine is not None:
        parts.append(f"this machine {usage.machine:.0%} in use")
    return "; ".join(parts) + "."
