"""`waitroom desk rebuild`: bring the live lines to what the record says, whatever was lost."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from waitroom.cli.command import Session
from waitroom.cli.desk.group import open_lines
from waitroom.cli.text import number

if TYPE_CHECKING:
    from waitroom.desk.record.record import Record

AnyStore = Annotated[
    str | None, typer.Argument(metavar="[STORE]", help="One store alone; without it, all.")
]


async def rebuild(cli: Session, store_id: AnyStore = None) -> None:
    """Bring the live lines in Redis to what the database says, and show what was changed.

    A server does so by itself, at its start and every few seconds. This does it now, person by
    person and whatever the lines knew before: after a restored backup of either, for example.

    Example:

      waitroom desk rebuild
      waitroom desk rebuild han-river --json
    """
    async with open_lines(cli) as desk:
        from waitroom.operations import stores

        if store_id is not None:
            await desk.record.store(store_id)
        done = await stores.rebuild(desk, cli.trail(desk.engine), store_id)
        waiting, called = await _live(desk.record, store_id)
    cli.out.show(
        {
            "lines": done.lines,
            "waiting": waiting,
            "called": called,
            "settled": done.settled,
            "removed": done.removed,
        },
        f"Compared {number(done.lines)} lines with the record: {number(waiting)} parties wait and "
        f"{number(called)} are called.\n{number(done.settled)} were put right, and "
        f"{number(done.removed)} removed that the record does not have.",
    )


async def _live(record: Record, store_id: str | None) -> tuple[int, int]:
    """Return how many parties wait and how many are called, by the record."""
    from waitroom.desk.models import Status

    counts: Counter[Status] = Counter()
    for store, line in await record.open_lines():
        if store_id in (None, store):
            counts.update(party.status for party in await record.live(store, line))
    return counts[Status.WAITING], counts[Status.CALLED]
