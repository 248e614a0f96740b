"""One room: create, change, show, empty and remove it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from waitroom.cli import policy
from waitroom.cli.command import IfVersion, RoomName, Session, Yes, command, group, option
from waitroom.cli.output import table
from waitroom.cli.rooms import document, glance
from waitroom.cli.text import moment, number, people
from waitroom.errors import InvalidInput, UnknownRoom
from waitroom.models import PRESETS, Policy, PolicyChange, Stats, check_room_name, preset
from waitroom.operations import rooms
from waitroom.operations import undo as undoing

app = typer.Typer(name="room")
Preset = Annotated[
    str | None, option(f"Start from one of {', '.join(PRESETS)}.", "WORD", "--preset")
]

EntryId = Annotated[str | None, option("Only if it is this line of the audit log.", "ID")]


@group(app)
def _about() -> None:
    """Create, change, show, empty and remove rooms.

    Example:

      waitroom room create concert --preset slots
      waitroom room set concert --capacity 80
    """


@command(app, options=policy.NEW_OPTIONS)
async def create(cli: Session, name: RoomName, preset_name: Preset = None, **given: Any) -> None:
    """Create a room, from a preset or from the defaults, with changes.

    A length of time is a number of seconds, or like 90s, 10m, 2h. The word none removes a limit.

    Example:

      waitroom room create concert --preset slots --capacity 200 --session-s 5m
      waitroom room create sale --batch 50 --every-s 10 --queue-limit 20000
      waitroom room create draw --opens-at 2030-03-01T20:00+09:00 --before-open draw
    """
    check_room_name(name)
    asked = policy.changes(given)
    wanted = preset(preset_name, **asked) if preset_name else Policy().change(**asked)
    async with cli.engine() as engine:
        room = await rooms.create(engine, cli.trail(engine), name, wanted)
        stats = await engine.stats(name)
    cli.out.show(
        document(room, stats),
        f"Created room {name}.\n",
        policy.described(room.policy),
        f"\nChange it with `waitroom room set {name} …`, watch it with "
        f"`waitroom stats {name} --watch`.",
    )


@command(app, "set", options=policy.OPTIONS)
async def set_(cli: Session, name: RoomName, if_version: IfVersion = None, **given: Any) -> None:
    """Change the policy of a room, at once and without a restart.

    A length of time is a number of seconds, or like 90s, 10m, 2h. The word none removes a limit.

    Example:

      waitroom room set concert --mode paused
      waitroom room set concert --capacity 300 --batch none --every-s none --if-version 4
    """
    asked = policy.changes(given)
    if not asked:
        raise InvalidInput("options", "give at least one to change, like `--capacity 80`")
    async with cli.engine() as engine:
        change, _ = await rooms.change(engine, cli.trail(engine), name, asked, if_version)
    _show_change(cli, change)


@command(app)
async def undo(
    cli: Session, name: RoomName, if_version: IfVersion = None, entry: EntryId = None
) -> None:
    """Take back the last change of a room, whoever made it; a second time, it is made again.

    Only the last change can be undone, and no call or removal of people.

    Example:

      waitroom room undo concert
      waitroom room undo concert --if-version 7
    """
    async with cli.engine() as engine:
        change, _, undone = await undoing.undo(
            engine, cli.trail(engine), name, entry_id=entry, version=if_version
        )
    by = f"Undid the change of {undone.key_name} at {moment(undone.at_ms)}."
    _show_change(cli, change, by, undoes=undone.id)


def _show_change(cli: Session, change: PolicyChange, before: str = "", **more: Any) -> None:
    name, version, differ = change.new.name, change.new.version, change.fields
    lines = table("field", "old", "", "new", header=False)
    zone = change.new.policy.time_zone
    for field, values in differ.items():
        old, new = (policy.shown(field, value, zone) for value in values)
        lines.add_row(field, old, "→", new)
    cli.out.show(
        {
            "name": name,
            "version": version,
            "changed": {field: {"old": old, "new": new} for field, (old, new) in differ.items()},
            "policy": change.new.policy.as_dict(),
            **more,
        },
        *([before] if before else []),
        f"Room {name} is now at version {version}"
        + (":\n" if differ else ", with the same policy as before."),
        *([lines] if differ else []),
    )


@command(app)
async def show(cli: Session, name: RoomName) -> None:
    """Show a room: its policy with units and meaning, and how it stands now.

    Example:

      waitroom room show concert
    """
    async with cli.engine() as engine:
        room, stats = await engine.room(name), await engine.stats(name)
    cli.out.show(
        document(room, stats),
        f"{name}, version {room.version}, since {moment(room.epoch // 1000)}\n",
        glance(stats, room.policy),
        "",
        policy.described(room.policy),
    )


@command(app)
async def clear(cli: Session, name: RoomName, yes: Yes = False) -> None:
    """Empty a room and refuse all its tickets from now on; the policy stays.

    Asks for the room's name, because nobody gets their place back.

    Example:

      waitroom room clear concert
      waitroom room clear concert --yes
    """
    async with cli.engine() as engine:
        cli.confirm_name(name, f"{_occupants(await engine.stats(name))} lose their place.", yes)
        cleared = await rooms.clear(engine, cli.trail(engine), name)
    cli.out.show({"name": name, "cleared": cleared}, f"Cleared room {name}: {people(cleared)} out.")


@command(app)
async def drop(cli: Session, name: RoomName, yes: Yes = False) -> None:
    """Remove a room with its policy and everybody in it.

    Asks for the room's name, because it cannot be undone. A name that is left in the index of rooms
    without a room behind it, as `waitroom doctor` may report, is removed without a question.

    Example:

      waitroom room drop concert
      waitroom room drop concert --yes
    """
    async with cli.engine() as engine:
        try:
            stats = await engine.stats(name)
        except UnknownRoom:
            if name not in await engine.rooms():
                raise
            message = f"Removed the name {name} from the index; there was no such room."
        else:
            warning = f"The room goes, and with it {_occupants(stats)}."
            cli.confirm_name(name, warning, yes)
            message = f"Dropped room {name}."
        dropped = await rooms.drop(engine, cli.trail(engine), name)
    cli.out.show({"name": name, "dropped": dropped}, message)


def _occupants(stats: Stats) -> str:
    called, inside = number(stats.called), number(stats.inside)
    return f"{number(stats.waiting)} waiting, {called} called and {inside} inside"
