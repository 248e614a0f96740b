"""Rooms from a TOML file: shows the difference first, like a plan, and then applies it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from waitroom.cli import policy
from waitroom.cli.command import Session, Yes
from waitroom.cli.output import table
from waitroom.cli.text import number
from waitroom.engine import Engine
from waitroom.errors import InvalidInput, UnknownRoom
from waitroom.models import Policy, Room
from waitroom.operations import rooms
from waitroom.operations.trail import Trail
from waitroom.settings import declared_rooms

File = Annotated[Path, typer.Argument(metavar="FILE", help="TOML with tables `\\[rooms.NAME]`.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the difference and end.")]


@dataclass(frozen=True, slots=True)
class Step:
    """What to do for one room: create it, change some fields, or nothing."""

    room: str
    policy: Policy
    current: Room | None
    changed: dict[str, tuple[Any, Any]] = field(default_factory=dict)

    @property
    def action(self) -> str:
        """One word for it."""
        if self.current is None:
            return "create"
        return "change" if self.changed else "none"


async def apply(cli: Session, file: File, yes: Yes = False, dry_run: DryRun = False) -> None:
    """Make rooms as a TOML file declares them, after showing the difference.

    Each table is the whole policy of its room: a field that it does not name has the preset's value
    or the default. Rooms that the file does not name are left alone. A room that somebody changes
    between the question and the answer is not overwritten.

    Example:

      waitroom apply rooms.toml --dry-run
      waitroom apply rooms.toml
      waitroom apply rooms.toml --yes --json
    """
    declared = declared_rooms(file)
    if not declared:
        raise InvalidInput("file", f"{file} declares no rooms; write tables like [rooms.concert]")
    async with cli.engine() as engine:
        steps = [await _compare(engine, name, wanted) for name, wanted in declared.items()]
        others = len(set(await engine.rooms()) - set(declared))
        todo = [step for step in steps if step.action != "none"]
        if not cli.out.as_json:
            cli.out.show(None, _plan(steps), _summary(steps, others))
        if todo and not dry_run:
            cli.confirm(f"Apply to {number(len(todo))} {_rooms(len(todo))}?", yes)
            for step in todo:
                await _do(engine, cli.trail(engine), step)
    applied = bool(todo) and not dry_run
    document = {"applied": applied, "left_alone": others, "steps": [_document(s) for s in steps]}
    cli.out.show(document, *(["Applied."] if applied else []))


async def _compare(engine: Engine, name: str, wanted: Policy) -> Step:
    try:
        current = await engine.room(name)
    except UnknownRoom:
        return Step(name, wanted, None)
    return Step(name, wanted, current, policy.compared(current.policy, wanted))


async def _do(engine: Engine, trail: Trail, step: Step) -> None:
    if step.current is None:
        await rooms.create(engine, trail, step.room, step.policy)
        return
    changes = {name: new for name, (_, new) in step.changed.items()}
    await rooms.change(engine, trail, step.room, changes, step.current.version)


def _plan(steps: list[Step]) -> Table:
    """Return the difference: + create, ~ change, = unchanged."""
    lines = table("sign", "room", "field", "old", "", "new", header=False)
    for step in steps:
        zone = step.policy.time_zone
        if step.current is None:
            fields = policy.compared(Policy(), step.policy)
            lines.add_row("+", step.room, *([] if fields else ["with the defaults"]))
            for name, (_, new) in fields.items():
                lines.add_row("", "", name, "", "", policy.shown(name, new, zone))
        elif step.changed:
            lines.add_row("~", step.room)
            for name, (old, new) in step.changed.items():
                before, after = (policy.shown(name, value, zone) for value in (old, new))
                lines.add_row("", "", name, before, "→", after)
        else:
            lines.add_row("=", step.room, "unchanged")
    return lines


def _summary(steps: list[Step], others: int) -> str:
    count = {word: sum(step.action == word for step in steps) for word in _WORDS}
    text = ", ".join(f"{number(n)} {_WORDS[word]}" for word, n in count.items())
    left = f"; {number(others)} other {_rooms(others)} left alone" if others else ""
    return f"\n{text}{left}."


_WORDS = {"create": "to create", "change": "to change", "none": "unchanged"}


def _rooms(count: int) -> str:
    return "room" if count == 1 else "rooms"


def _document(step: Step) -> dict[str, Any]:
    return {
        "room": step.room,
        "action": step.action,
        "changed": {name: {"old": old, "new": new} for name, (old, new) in step.changed.items()},
        "policy": step.policy.as_dict(),
    }
