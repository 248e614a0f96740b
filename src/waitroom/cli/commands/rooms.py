"""All rooms in one table."""

from __future__ import annotations

from typing import Any

from waitroom.cli import policy
from waitroom.cli.command import Session
from waitroom.cli.output import table
from waitroom.cli.rooms import document
from waitroom.cli.text import number
from waitroom.errors import UnknownRoom, WaitroomError
from waitroom.operations.overview import glance_at


async def rooms(cli: Session) -> None:
    """List all rooms with their numbers and limits.

    Example:

      waitroom rooms
      waitroom rooms --json | jq '.rooms[] | select(.stats.waiting > 1000) | .name'
    """
    async with cli.engine() as engine:
        names = await engine.rooms()
        with cli.out.notes.status(f"reading {number(len(names))} rooms"):
            glances = await glance_at(engine, names)
    wide = ("waiting", "called", "inside", "capacity", "pace", "rolling limit", "version")
    lines = table("room", "mode", *wide, right=wide, wrap=("pace", "rolling limit"))
    documents: list[dict[str, Any]] = []
    problems: list[dict[str, str]] = []
    for name, glance in glances.items():
        if isinstance(glance, UnknownRoom):  # a name left in the index, which `doctor` reports
            continue
        if isinstance(glance, WaitroomError):
            problems.append({"room": name, "code": glance.code, "message": str(glance)})
            continue
        room, stats = glance
        documents.append(document(room, stats))
        counts = (number(stats.waiting), number(stats.called), number(stats.inside))
        limits = (
            number(room.policy.capacity),
            policy.admission_pace(room.policy),
            policy.rolling_limit(room.policy),
        )
        lines.add_row(name, stats.mode, *counts, *limits, str(room.version))
    if not documents:
        first = "There are no rooms yet; make one with `waitroom room create NAME --preset slots`."
        cli.out.show({"rooms": documents, "problems": problems}, first)
    else:
        cli.out.show({"rooms": documents, "problems": problems}, lines)
    if not cli.out.as_json:
        for problem in problems:
            cli.out.notes.print(f"! {problem['room']}: {problem['message']}", markup=False)
