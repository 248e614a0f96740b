"""Removing people: named ones, or all that a state and an age describe."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

import typer

from waitroom.cli.command import RoomName, Session, Yes
from waitroom.cli.text import number, people
from waitroom.cli.tickets import Choice, NewerThan, OlderThan, check_id, choose, pages
from waitroom.engine import Engine
from waitroom.errors import InvalidInput
from waitroom.models import Page, State, Stats

Ids = Annotated[
    list[str] | None,
    typer.Argument(metavar="ID", help="Ids of tickets, as `list` shows them."),
]
StateOf = Annotated[
    str | None, typer.Option(metavar="WORD", help="Everybody waiting, called or inside.")
]


async def kick(
    cli: Session,
    name: RoomName,
    ids: Ids = None,
    state: StateOf = None,
    older_than: OlderThan = None,
    newer_than: NewerThan = None,
    yes: Yes = False,
) -> None:
    """Remove people from a room: those named, or all of a state, the waiting ones also by age.

    Says how many are meant and asks before it removes a whole state. Sessions inside are revoked.

    Example:

      waitroom kick concert q3Jv0eW7hJ5mX2aB
      waitroom kick concert --state waiting --older-than 2h
      waitroom kick concert --state inside --yes
    """
    if ids:
        if state or older_than or newer_than:
            raise InvalidInput("ids", "give either ids or a state and ages, not both")
        async with cli.engine() as engine:
            asked, kicked = len(ids), await engine.kick(name, map(check_id, ids))
    else:
        if not state:
            raise InvalidInput("ids", "give ids of tickets, or --state waiting, called or inside")
        choice = choose(state, older_than, newer_than)
        async with cli.engine() as engine:
            now = await engine.stats(name)
            asked = await _count(cli, engine, choice, now)
            if asked:
                cli.confirm(f"Remove {people(asked)} who are {state} in {name}?", yes)
            kicked = await _kick_all(cli, engine, choice, now, asked)
    missing = f"; {number(asked - kicked)} had gone already" if kicked < asked else ""
    cli.out.show(
        {"name": name, "found": asked, "kicked": kicked}, f"Removed {people(kicked)}{missing}."
    )


async def _count(cli: Session, engine: Engine, choice: Choice, now: Stats) -> int:
    if not choice.by_age:
        counts = {State.WAITING: now.waiting, State.CALLED: now.called, State.INSIDE: now.inside}
        return counts[choice.state]
    found = 0
    with cli.out.progress() as progress:
        task = progress.add_task("looking", total=now.waiting)
        async for page in pages(engine, now.room, choice, now.now_ms):
            found += len(page.tickets)
            progress.update(task, completed=found)
    return found


async def _kick_all(cli: Session, engine: Engine, choice: Choice, now: Stats, most: int) -> int:
    """Remove page after page.

    The ids are read after the question was answered, which may have taken minutes: whoever was
    waiting then may be inside by now. Those waiting are read just before each page goes. Places
    that are freed by removing called or inside people are given away at once, so these are read
    first and the newcomers spared.
    """
    kicked = 0
    found = pages(engine, now.room, choice, now.now_ms, most=most)
    if choice.state is not State.WAITING:
        found = _at_once([page async for page in found])
    with cli.out.progress() as progress:
        task = progress.add_task("removing", total=most)
        async for page in found:
            kicked += await engine.kick(now.room, [ticket.id for ticket in page.tickets])
            progress.update(task, advance=len(page.tickets))
    return kicked


async def _at_once(read: list[Page]) -> AsyncIterator[Page]:
    for page in read:
        yield page
