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
from waitroom.cli.rooms import glance
from waitroom.cli.text import moment, number
from waitroom.engine import Engine
from waitroom.errors import BackendUnavailable, InvalidInput
from waitroom.models import Stats

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
        room, now = await engine.room(name), await engine.stats(name)
    cli.out.show(now, _heading(now), glance(now, room.policy), "", _counters(now))


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
    """Show the numbers every second; Ctrl-C is the normal end, an outage is not."""
    shown: RenderableType = ""
    console = cli.out.console
    await engine.stats(name)  # an unknown room must be an error, not an empty screen
    try:
        with Live(console=console, auto_refresh=False, transient=False) as live:
            while True:
                try:
                    room, now = await engine.room(name), await engine.stats(name)
                    numbers = (_heading(now), glance(now, room.policy), "", _counters(now))
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
