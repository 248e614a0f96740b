"""`waitroom find`: find one person in every room."""

from __future__ import annotations

from typing import Annotated

import typer

from waitroom.cli.command import Session
from waitroom.cli.text import moment
from waitroom.engine import Engine, Steps
from waitroom.models import Event
from waitroom.operations import finding, ways
from waitroom.operations.finding import Findings, Sighting
from waitroom.short_codes import code_of

Words = Annotated[
    str, typer.Argument(metavar="WORDS", help="A code, an id, a whole ticket, or an account.")
]


async def find(cli: Session, words: Words) -> None:
    """Find a person in all rooms, here or gone, as far as there are records.

    Of a single match it shows what happened to them; with the setting `archive`, from there too.

    Ends with 1 if nobody was found.

    Example:

      waitroom find K7Q-4M2
      waitroom find kim@example.com
    """
    async with cli.engine() as engine:
        findings = await finding.find(engine, words)
        steps = await _steps(cli, engine, findings)
    lines = [_line(sighting) for sighting in findings.sightings]
    if steps is not None:
        lines += [f"  {moment(event.at_us // 1000)}  {_said(event)}" for event in steps.events]
        if steps.known_since_ms is not None:
            lines.append(f"  What happened before {moment(steps.known_since_ms)} is not known.")
    if findings.full:
        lines.append("There may be more; search by id.")
    shown: dict[str, object] = {
        "matches": [_fields(sighting) for sighting in findings.sightings],
        "more": findings.full,
    }
    if steps is not None:
        shown |= {"steps": [_step(event) for event in steps.events]}
        shown |= {"steps_since_ms": steps.known_since_ms}
    cli.out.show(shown, "\n".join(lines) or "No match in any room.")
    if not findings.sightings:
        raise typer.Exit(1)


async def _steps(cli: Session, engine: Engine, findings: Findings) -> Steps | None:
    """Return what happened to the person, if exactly one was found."""
    if len(findings.sightings) != 1:
        return None
    person = findings.sightings[0].person
    return await ways.steps_of(engine, person.room, person.id, cli.settings.archive)


def _said(event: Event) -> str:
    return f"{event.kind} ({event.reason})" if event.reason else event.kind


def _step(event: Event) -> dict[str, object]:
    return {"at_ms": event.at_us // 1000, "kind": event.kind, "reason": event.reason}


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
