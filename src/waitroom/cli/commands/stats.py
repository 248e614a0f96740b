"""The numbers of a room, once or live."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from waitroom.cli.command import RoomName, Session
from waitroom.cli.output import table
from waitroom.cli.text import moment, number, span
from waitroom.engine import Engine
from waitroom.errors import BackendUnavailable, InvalidInput
from waitroom.models import Policy, Stats

REFRESH_S = 1.0
Watch = Annotated[bool, typer.Option("--watch", help="Refresh every second until Ctrl-C.")]


async def stats(cli: Session, name: RoomName, watch: Watch = False) -> None:
    """Show how a room stands: who waits, who is inside, and what has happened so far.

    Example:

      waitroom stats concert
      waitroom stats concert --watch
    """
    if watch and cli.out.as_json:
        raise InvalidInput("watch", "--json prints one document; call it again for the next")
    async with cli.engine() as engine:
        if watch:
            await _watch(cli, engine, name)
            return
        room, found = await engine.room(name), await engine.stats(name)
    cli.out.show(found, _heading(found), glance(found, room.policy), "", _counters(found))


def glance(stats: Stats, policy: Policy) -> Table:
    """Return the live numbers, each beside its limit."""
    lines = table("what", "count", "note", right=("count",), header=False)
    oldest = f"longest wait {span(stats.oldest_wait_ms / 1000)}" if stats.oldest_wait_ms else ""
    full = _of(policy.queue_limit)
    lines.add_row("waiting", number(stats.waiting), ", ".join(filter(None, (full, oldest))))
    lines.add_row("called", number(stats.called), "")
    used = f"{_of(policy.capacity)} with those called" if policy.capacity else ""
    lines.add_row("inside", number(stats.inside), used)
    if policy.per_s is not None:
        window = f"entries in {span(policy.per_s)}"
        lines.add_row(window, number(stats.entries_in_window), _of(policy.max_entries))
    if stats.hold_until_ms is not None:
        lines.add_row("on hold", "", f"nobody is called until {moment(stats.hold_until_ms)}")
    return lines


def _of(limit: int | None) -> str:
    return "" if limit is None else f"of {number(limit)}"


def _heading(stats: Stats) -> Text:
    when = moment(stats.now_ms)
    return Text.assemble((stats.room, "bold"), f", {stats.mode}, version {stats.version}, {when}\n")


def _counters(stats: Stats) -> Table:
    lines = table("what", "count", right=("count",), header=False)
    lines.add_row(Text("so far", "bold"), "")
    for name, count in stats.counters.items():
        lines.add_row(name.removesuffix("_total").replace("_", " "), number(count))
    return lines


async def _watch(cli: Session, engine: Engine, name: str) -> None:
    """Show the numbers every second; Ctrl-C is the regular end, an outage is not."""
    shown: RenderableType = ""
    console = cli.out.console
    await engine.stats(name)  # an unknown room is an error, not a screen
    try:
        with Live(console=console, auto_refresh=False, transient=False) as live:
            while True:
                try:
                    room, found = await engine.room(name), await engine.stats(name)
                    numbers = (_heading(found), glance(found, room.policy), "", _counters(found))
                    shown, note = Group(*numbers), ""
                except BackendUnavailable as error:
                    note = f"! {error}; trying again"
                page = Group(shown, Text(f"\n{note or 'Ctrl-C ends this.'}", style="dim"))
                if console.is_terminal:
                    live.update(page, refresh=True)
                else:
                    console.print(note or shown)
                await asyncio.sleep(REFRESH_S)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()
