"""All rooms in one table."""

from __future__ import annotations

import asyncio
from typing import Any

from waitroom.cli import policy
from waitroom.cli.command import Session
from waitroom.cli.output import table
from waitroom.cli.text import number
from waitroom.engine import Engine
from waitroom.errors import UnknownRoom, WaitroomError
from waitroom.models import Room, Stats

AT_ONCE = 16


async def look(engine: Engine, names: tuple[str, ...]) -> list[tuple[Room, Stats] | WaitroomError]:
    """Return each room with its numbers, or what is wrong with it."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(name: str) -> tuple[Room, Stats] | WaitroomError:
        async with turns:
            try:
                stats = await engine.stats(name)
                policy = engine.policy_of(name)  # the one of that very reply
                if policy is None:
                    raise UnknownRoom(name)
                return Room(name, policy, stats.version, stats.epoch), stats
            except WaitroomError as error:
                return error

    return await asyncio.gather(*(one(name) for name in names))


async def rooms(cli: Session) -> None:
    """List all rooms with their numbers and limits.

    Example:

      waitroom rooms
      waitroom rooms --json | jq '.rooms[] | select(.stats.waiting > 1000) | .name'
    """
    async with cli.engine() as engine:
        names = await engine.rooms()
        with cli.out.notes.status(f"reading {number(len(names))} rooms"):
            found = await look(engine, names)
    wide = ("waiting", "called", "inside", "capacity", "pace", "rolling limit", "version")
    lines = table("room", "mode", *wide, right=wide, wrap=("pace", "rolling limit"))
    documents: list[dict[str, Any]] = []
    problems: list[dict[str, str]] = []
    for name, one in zip(names, found, strict=True):
        if isinstance(one, UnknownRoom):  # a name left in the index, which `doctor` reports
            continue
        if isinstance(one, WaitroomError):
            problems.append({"room": name, "code": one.code, "message": str(one)})
            continue
        room, stats = one
        documents.append(document(room, stats))
        counts = (number(stats.waiting), number(stats.called), number(stats.inside))
        limits = (
            number(room.policy.capacity),
            policy.pace(room.policy),
            policy.rolling(room.policy),
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


def document(room: Room, stats: Stats) -> dict[str, Any]:
    """Return a room with its numbers as JSON."""
    return {
        "name": room.name,
        "version": room.version,
        "epoch": room.epoch,
        "policy": room.policy.as_dict(),
        "stats": stats,
    }
