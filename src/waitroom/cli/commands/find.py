"""`waitroom find`: one person among all, in every room."""

from __future__ import annotations

from typing import Annotated

import typer

from waitroom.cli.command import Session
from waitroom.cli.text import moment
from waitroom.operations import finding
from waitroom.operations.finding import Sighting
from waitroom.short_codes import code_of

Words = Annotated[
    str, typer.Argument(metavar="WORDS", help="A code, an id, a whole ticket, or an account.")
]


async def find(cli: Session, words: Words) -> None:
    """Find a person in all rooms, here or gone, as far as anything tells of them.

    Ends with 1 if nobody was found.

    Example:

      waitroom find K7Q-4M2
      waitroom find kim@example.com
    """
    async with cli.engine() as engine:
        findings = await finding.find(engine, words)
    lines = [_line(sighting) for sighting in findings.sightings]
    if findings.full:
        lines.append("There may be more; give an id.")
    shown = {
        "matches": [_fields(sighting) for sighting in findings.sightings],
        "more": findings.full,
    }
    cli.out.show(shown, "\n".join(lines) or "Nobody is known by that.")
    if not findings.sightings:
        raise typer.Exit(1)


def _line(sighting: Sighting) -> str:
    person, since = sighting.person, sighting.since_ms
    state = f"{person.state} ({sighting.reason})" if sighting.reason else str(person.state)
    where = f", position {person.position}" if person.position else ""
    when = f", since {moment(since)}" if since else ""
    return f"{person.room}  {code_of(person.id)}  {person.id}  {state}{where}{when}"


def _fields(sighting: Sighting) -> dict[str, object]:
    person = sighting.person
    return {
        "room": person.room,
        "id": person.id,
        "short_code": code_of(person.id),
        "state": person.state,
        "reason": sighting.reason,
        "since_ms": sighting.since_ms,
        "position": person.position,
    }
