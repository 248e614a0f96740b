"""Remove people: named ones, or all that a state and an age describe."""

from __future__ import annotations

from typing import Annotated

import typer

from waitroom.cli import text
from waitroom.cli.command import RoomName, Session, Yes, option
from waitroom.cli.tickets import NewerThan, OlderThan, check_id, choose
from waitroom.engine import Engine
from waitroom.errors import InvalidInput
from waitroom.models import State, Stats
from waitroom.operations import people
from waitroom.operations.selection import Selection, pages

Ids = Annotated[
    list[str] | None,
    typer.Argument(metavar="ID", help="Ids or codes of tickets, as `list` shows them."),
]
Ban = Annotated[bool, typer.Option("--ban", help="They cannot join again, until kicked without.")]
StateOf = Annotated[str | None, option("Everybody waiting, called or inside.", "WORD")]


async def kick(
    cli: Session,
    name: RoomName,
    ids: Ids = None,
    state: StateOf = None,
    older_than: OlderThan = None,
    newer_than: NewerThan = None,
    ban: Ban = False,
    yes: Yes = False,
) -> None:
    """Remove people from a room: those named, or all of a state, the waiting ones also by age.

    Says how many are meant and asks before it removes a whole state. Sessions inside are revoked.
    A short code stands for the only ticket here that has it.
    Nobody who is named comes back to a place they had, whether they are in the room or not.

    Example:

      waitroom kick concert q3Jv0eW7hJ5mX2aB
      waitroom kick concert q3Jv0eW7hJ5mX2aB --ban
      waitroom kick concert --state waiting --older-than 2h
      waitroom kick concert --state inside --yes
    """
    if ids:
        if state or older_than or newer_than:
            raise InvalidInput("ids", "give either ids or a state and ages, not both")
        async with cli.engine() as engine:
            tickets = [check_id(word) for word in ids]
            done = await people.kick(engine, cli.trail(engine), name, tickets, ban=ban)
        asked = len(ids)
    else:
        if ban:
            raise InvalidInput("ban", "is for named tickets; give their ids")
        if not state:
            raise InvalidInput("ids", "give ids of tickets, or --state waiting, called or inside")
        selection = choose(state, older_than, newer_than)
        async with cli.engine() as engine:
            now = await engine.stats(name)
            asked = await _count(cli, engine, selection, now)
            if asked:
                cli.confirm(f"Remove {text.people(asked)} who are {state} in {name}?", yes)
            with cli.out.progress() as progress:
                task = progress.add_task("removing", total=asked)
                done = await people.kick_selected(
                    engine,
                    cli.trail(engine),
                    name,
                    selection,
                    now.now_ms,
                    most=asked,
                    on_page=lambda count: progress.update(task, advance=count),
                )
    gone = asked - done.kicked
    why = "had gone already" if not ids else "was not there" if gone == 1 else "were not there"
    missing = f"; {text.number(gone)} {why}" if gone > 0 else ""
    cli.out.show(
        {"name": name, "found": asked, "kicked": done.kicked},
        f"Removed {text.people(done.kicked)}{missing}.",
    )


async def _count(cli: Session, engine: Engine, selection: Selection, now: Stats) -> int:
    if not selection.by_age:
        counts = {State.WAITING: now.waiting, State.CALLED: now.called, State.INSIDE: now.inside}
        return counts[selection.state]
    count = 0
    with cli.out.progress() as progress:
        task = progress.add_task("looking", total=now.waiting)
        async for page in pages(engine, now.room, selection, now.now_ms):
            count += len(page.tickets)
            progress.update(task, completed=count)
    return count
