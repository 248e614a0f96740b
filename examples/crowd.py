"""A crowd comes to a room with few places: `make run`, or `python examples/crowd.py PEOPLE`.

Everything is real: a private Valkey server in a temporary folder, the Lua, the ticker, and 300
visitors as tasks who join, poll, enter, stay a while, finish, or just close the tab.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from waitroom import Engine, KeyRing, Policy, Refused, State, Stats, Ticker

ROOM = "demo"
PEOPLE = int(sys.argv[1]) if len(sys.argv) > 1 else 300
POLICY = Policy(capacity=20, batch=5, every_s=0.5, session_s=4, enter_within_s=2, presence_s=3)


async def visitor(engine: Engine, ended: Counter[str], arrives_s: float) -> None:
    """Live through one visit."""
    await asyncio.sleep(arrives_s)
    view = await engine.join(ROOM)
    while view.state is State.WAITING:
        if random.random() < 0.005:
            ended["closed the tab"] += 1
            return
        await asyncio.sleep(random.uniform(0.4, 0.8))
        view = await engine.poll(ROOM, view.ticket)
    if view.state is State.GONE or random.random() < 0.05:
        ended["called, never came"] += 1
        return
    try:
        await engine.enter(ROOM, view.ticket)
        await asyncio.sleep(random.uniform(0.3, 2.5))
        await engine.finish(ROOM, view.ticket)
        ended["served"] += 1
    except Refused as error:
        ended[error.code] += 1


def picture(stats: Stats, ended: Counter[str]) -> Panel:
    """Draw the room as it is now."""
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(justify="right", width=10)
    table.add_column(justify="right", width=5)
    table.add_column(ratio=1)
    capacity = POLICY.capacity or 1
    rows = (("waiting", stats.waiting, PEOPLE), ("called", stats.called, capacity))
    for name, number, most in (*rows, ("inside", stats.inside, capacity)):
        table.add_row(name, str(number), ProgressBar(total=most, completed=number))
    done = ", ".join(f"{number} {what}" for what, number in sorted(ended.items())) or "nobody yet"
    limit = f"{stats.called + stats.inside} of at most {capacity} places taken"
    lines = Group(table, Text(f"\n{limit}; done: {done}"))
    pace = f"{POLICY.batch} people every {POLICY.every_s:g} s, at most {capacity} at once"
    return Panel(lines, title=f"room {ROOM!r}: {PEOPLE} people come, {pace}")


async def main() -> None:
    """Show a room from the first visitor to the last."""
    console, ended = Console(), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        ring = KeyRing([b"only for this demonstration: 32 b"])
        engine = await Engine.connect(None, Path(folder), ring)
        async with engine, Ticker(engine):
            await engine.create(ROOM, POLICY)
            crowd = asyncio.gather(
                *(visitor(engine, ended, random.expovariate(1 / 4)) for _ in range(PEOPLE))
            )
            worst = 0
            with Live(picture(await engine.stats(ROOM), ended), console=console) as live:
                while not crowd.done():
                    await asyncio.sleep(0.25 if console.is_terminal else 2)
                    stats = await engine.stats(ROOM)
                    worst = max(worst, stats.called + stats.inside)
                    live.update(picture(stats, ended))
                    if not console.is_terminal:  # no terminal to redraw: print a line instead
                        console.print(f"{stats.waiting} waiting, {stats.inside} inside")
            await crowd
    console.print(f"\nEverybody is through; whenever we looked, never more than {worst} at once.")
    console.print("Your own room: [bold].venv/bin/waitroom room create NAME --preset slots[/bold]")
    console.print("How it works: [bold]ARCHITECTURE.md[/bold]")


if __name__ == "__main__":
    asyncio.run(main())
