"""`waitroom audit`: who did what, on the screen or as JSON lines for an archive."""

from __future__ import annotations

import dataclasses
import json
from typing import Annotated, Any

import typer

from waitroom.cli.command import Session, option
from waitroom.cli.output import table
from waitroom.cli.text import moment, read_since
from waitroom.engine.audit import Audit, Entry, Log
from waitroom.errors import InvalidInput

_COLUMNS = ("when", "who", "way", "from", "action", "room", "detail")
_NOTED_EVERY = 10_000

Since = Annotated[
    str | None, option("From an age like 2h or 7d, or a time like 2030-03-01T20:00+09:00.", "TIME")
]
RoomOf = Annotated[str | None, option("Only of this room.", "NAME", "--room")]
SignIns = Annotated[bool, typer.Option("--sign-ins", help="Who signed in, instead of actions.")]
Limit = Annotated[int, typer.Option(metavar="NUMBER", min=1, max=500, help="Most to show.")]
Export = Annotated[bool, typer.Option("--export", help="All of it as JSON lines, oldest first.")]


async def audit(
    cli: Session,
    since: Since = None,
    room: RoomOf = None,
    sign_ins: SignIns = False,
    limit: Limit = 50,
    export: Export = False,
) -> None:
    """Show who did what, newest first; or export everything that is kept, oldest first.

    An export is one JSON object per line, and what it has done so far goes to stderr. Operators,
    commands and files that declare rooms are all in it.

    Example:

      waitroom audit --room concert
      waitroom audit --since 24h --export > audit.jsonl
      waitroom audit --sign-ins --json
    """
    if export and cli.out.as_json:
        raise InvalidInput("export", "prints JSON lines already; leave out --json")
    since_ms = 0 if since is None else read_since("since", since)
    log = Log.SIGN_INS if sign_ins else Log.ACTIONS
    async with cli.engine() as engine:
        if export:
            await _export(cli, engine.audit, log, since_ms, room)
            return
        entries = await _newest(engine.audit, log, since_ms, room, limit)
    lines = table(*_COLUMNS, wrap=("detail",))
    for entry in entries:
        lines.add_row(
            moment(entry.at_ms),
            entry.key_name,
            entry.way,
            entry.address,
            entry.action,
            entry.room or "",
            json.dumps(entry.detail, ensure_ascii=False),
        )
    documents = [document(entry) for entry in entries]
    cli.out.show({"entries": documents}, lines if entries else "There are no entries.")


async def _newest(
    log_of: Audit, log: Log, since_ms: int, room: str | None, limit: int
) -> list[Entry]:
    entries: list[Entry] = []
    before = None
    while len(entries) < limit:
        page = await log_of.page(before=before, limit=limit - len(entries), room=room, log=log)
        entries += [entry for entry in page.entries if entry.at_ms >= since_ms]
        before = page.before
        if before is None or int(before.partition("-")[0]) < since_ms:
            break
    return entries


async def _export(cli: Session, log_of: Audit, log: Log, since_ms: int, room: str | None) -> None:
    """Write batch after batch: memory does not grow with the log."""
    read = written = noted = 0
    async for entries in log_of.since(since_ms, log=log):
        for entry in entries:
            if room is None or entry.room == room:
                typer.echo(json.dumps(document(entry), ensure_ascii=False))
                written += 1
        read += len(entries)
        if read - noted >= _NOTED_EVERY:
            noted = read
            cli.out.notes.print(f"{read:,} read, up to {moment(entries[-1].at_ms)}", style="dim")
    cli.out.notes.print(f"Exported {written:,} entries.", style="dim")


def document(entry: Entry) -> dict[str, Any]:
    """Return an entry in the form of the API."""
    return dataclasses.asdict(entry)
