"""`plan`: calculates settings from the figures of a site. It needs no server."""

from __future__ import annotations

from typing import Annotated

from rich.table import Table
from rich.text import Text

from waitroom.cli.command import Session, option
from waitroom.cli.output import table
from waitroom.cli.text import number, people, plain, read_seconds, size, span
from waitroom.planner import Inputs, Plan, Word
from waitroom.planner import plan as planned
from waitroom.planner.outcome import BYTES_PER_WAITER, POLL_IN_FRONT_S, POLL_S

_MARKS = {
    Word.HOLDS: ("✓ ", "bold green"),
    Word.ABOVE_TARGET: ("! ", "bold yellow"),
    Word.ABOVE_CAPACITY: ("✗ ", "bold red"),
    Word.ABOVE_ORIGIN: ("✗ ", "bold red"),
}

Tps = Annotated[float, option("Most calls per second that the site behind can take.")]
SessionS = Annotated[str, option("How long a visit takes on average.", "SECONDS")]
Calls = Annotated[float, option("Calls of one visit.")]
Failure = Annotated[float, option("Share of calls that fail and are made again.", "SHARE")]
Target = Annotated[float, option("Share of the capacity to fill.", "SHARE")]
Headroom = Annotated[float, option("Share of the computed capacity to leave unused.", "SHARE")]
Crowd = Annotated[int, option("How many people are expected.")]
ArriveS = Annotated[str, option("Over how long they come; 0 is all at once.", "SECONDS")]
EveryS = Annotated[str, option("How often people are let in.", "SECONDS")]
Batch = Annotated[int | None, option("A batch to judge; else the one that the formulas give.")]
Room = Annotated[str, option("The room to make the settings for.", "NAME")]


async def plan(
    cli: Session,
    tps: Tps = 1_000,
    session_s: SessionS = "300",
    calls: Calls = 6,
    failure_rate: Failure = 0.15,
    target: Target = 0.8,
    headroom: Headroom = 0.08,
    crowd: Crowd = 100_000,
    arrive_s: ArriveS = "60",
    every_s: EveryS = "10",
    batch: Batch = None,
    room: Room = "concert",
) -> None:
    """Plan a room: how many people to let in how often, and what that does to the site behind.

    Takes figures of your site, and ends with settings to use. A length of time is a number of
    seconds, or like 90s, 10m, 2h; a share is like 0.8. With no options it shows an example.

    Example:

      waitroom plan
      waitroom plan --tps 400 --session-s 4m --calls 9 --crowd 50000 --arrive-s 2m --room sale
      waitroom plan --tps 400 --batch 600 --json
    """
    given = Inputs(
        tps=tps,
        session_s=read_seconds("session_s", session_s),
        calls=calls,
        failure_rate=failure_rate,
        target=target,
        headroom=headroom,
        crowd=crowd,
        arrive_s=read_seconds("arrive_s", arrive_s),
        every_s=read_seconds("every_s", every_s),
        batch=batch,
    )
    made = planned(given, room)
    cli.out.show(made.as_dict(), *_inputs(given), _chain(made), *_outcomes(made), *_end(made))


def _inputs(given: Inputs) -> list[str]:
    come = f"come within {span(given.arrive_s)}" if given.arrive_s else "come all at once"
    return [
        f"{_calls(given.tps)} per second at most, visits of {span(given.session_s)} with "
        f"{_calls(given.calls)}, of which {_percent(given.failure_rate)} fail.",
        f"{people(given.crowd)} {come}. "
        f"Headroom {_percent(given.headroom)}, target {_percent(given.target)} of the rest.\n",
    ]


def _chain(plan: Plan) -> Table:
    """Return the numbers of the formulas, exact and rounded."""
    given, exact, rounded = plan.inputs, plan.exact, plan.rounded
    less = f", less {_percent(given.headroom)}" if given.headroom else ""
    visit = "(calls × (1 + failure rate))"
    every = span(given.every_s)
    lines = table("by formula", "exact", "rounded", "how", right=("exact", "rounded"), wrap=["how"])
    rows: list[tuple[str, float, float, str]] = [
        ("people at once", exact.concurrent, rounded.concurrent, f"TPS × visit / {visit}{less}"),
        ("target", exact.target, rounded.target, f"{_percent(given.target)} of these"),
        ("period, s", exact.period_s, rounded.period_s, "visit / (target / at once), whole min"),
        ("per period", exact.per_period, rounded.per_period, f"TPS × period / {visit}{less}"),
        ("per minute", exact.per_minute, rounded.per_minute, "rounded up"),
        (f"per {every}", exact.per_slot, rounded.per_slot, "rounded up"),
    ]
    for name, first, second, how in rows:
        lines.add_row(name, _rounded(first), _rounded(second), Text(how, "dim"))
    if plan.judged.batch != rounded.per_slot:
        lines.add_row(f"chosen per {every}", "", number(plan.judged.batch), "")
    return lines


def _outcomes(plan: Plan) -> list[str | Table]:
    """Return the results of the chosen and the recommended pace, side by side."""
    every = span(plan.inputs.every_s)
    both = (plan.judged, plan.recommended)
    shown = both if plan.judged.batch != plan.recommended.batch else both[1:]
    heads = [f"{number(choice.batch)} per {every}" for choice in shown]
    lines = table("what comes of it", *heads, "note", right=heads, wrap=["note"])
    lines.columns[-1].header = ""
    target, capacity = _rounded(plan.rounded.target), _rounded(plan.rounded.concurrent)
    rows: list[tuple[str, list[str], str]] = [
        (
            "inside at once",
            [number(choice.inside) for choice in shown],
            f"target {target}, capacity {capacity}",
        ),
        (
            "load, calls per s",
            [_rounded(choice.load_tps) for choice in shown],
            f"of {_number(plan.inputs.tps)}",
        ),
        ("most people waiting", [number(choice.most_waiting) for choice in shown], ""),
        ("wait of the last", [span(choice.last_wait_s) for choice in shown], "if nobody gives up"),
        (
            "the line lives",
            [span(choice.queue_lives_s) for choice in shown],
            "from the first to come",
        ),
        (
            "memory",
            [size(choice.memory_bytes) for choice in shown],
            f"{BYTES_PER_WAITER} bytes a person",
        ),
        ("polls per s", [_rounded(choice.polls_per_s) for choice in shown], _polling()),
    ]
    for name, cells, note in rows:
        lines.add_row(name, *cells, Text(note, "dim"))
    return ["", lines, ""]


def _end(plan: Plan) -> list[str | Text]:
    """Return the verdict, the notes and the settings."""
    notes = [f"  {note}" for note in plan.notes]
    verdict = Text.assemble(_MARKS[plan.word], (plan.verdict, "bold"))
    return [verdict, *notes, "\nAs TOML:\n", plan.toml, "\nAs a command:\n", plan.command]


def _polling() -> str:
    return f"next batch every {plain(POLL_IN_FRONT_S)} s, others every {plain(POLL_S)} s"


def _number(value: float) -> str:
    return f"{value:,.3f}".rstrip("0").rstrip(".")


def _calls(count: float) -> str:
    return f"{_number(count)} call" + ("" if count == 1 else "s")


def _percent(share: float) -> str:
    return f"{plain(share * 100)} %"


def _rounded(value: float) -> str:
    """Return the nearest whole number; small numbers keep two decimals."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:,.2f}"
