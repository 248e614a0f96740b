"""`waitroom list`: who is where in a room."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from waitroom.cli.command import RoomName, Session, option
from waitroom.cli.text import moment, span
from waitroom.cli.tickets import NewerThan, OlderThan, choose
from waitroom.models import Listed, State
from waitroom.operations.selection import pages
from waitroom.short_codes import code_of

StateOf = Annotated[str, option("waiting, called or inside.", "WORD")]
Limit = Annotated[int, typer.Option(metavar="NUMBER", min=1, help="Most tickets to show.")]
After = Annotated[str | None, option("Go on where an earlier list ended.", "CURSOR")]
Code = Annotated[str | None, option("Only who has this short code, in any state.", "CODE")]
All = Annotated[bool, typer.Option("--all", help="Show all, however many.")]


async def list_(
    cli: Session,
    name: RoomName,
    state: StateOf = "waiting",
    limit: Limit = 100,
    after: After = None,
    older_than: OlderThan = None,
    newer_than: NewerThan = None,
    all_: All = False,
    code: Code = None,
) -> None:
    """List the tickets of a room: those waiting in their order, others by their deadline.

    Before the opening of a draw nobody sees the order: those waiting come by id.

    Example:

      waitroom list concert
      waitroom list concert --state inside --limit 20
      waitroom list concert --older-than 10m --all --json
      waitroom list concert --code K7Q-4M2
    """
    if code is not None:
        await _find(cli, name, code)
        return
    selection = choose(state, older_than, newer_than)
    tickets: list[Listed] = []
    cursor, heading = None, _HEADINGS[selection.state]
    async with cli.engine() as engine:
        now_ms = (await engine.stats(name)).now_ms
        most = None if all_ else limit
        async for page in pages(engine, name, selection, now_ms, after=after, most=most):
            cursor = page.after
            if cli.out.as_json:
                tickets += page.tickets
                continue
            # Line by line and not as one table: there may be a million.
            for ticket in page.tickets:
                if heading:
                    cli.out.console.print(heading, style="bold")
                    heading = ""
                typer.echo(_line(ticket, now_ms))
    if cli.out.as_json:
        documents = [_document(ticket) for ticket in tickets]
        cli.out.show({"name": name, "state": state, "tickets": documents, "after": cursor})
    elif heading:
        cli.out.show(None, f"Nobody is {state}." if not after else "There are no more.")
    elif cursor:
        cli.out.notes.print(f"More with --after {cursor}, or --all.", style="dim")


async def _find(cli: Session, name: str, code: str) -> None:
    async with cli.engine() as engine:
        now_ms = (await engine.stats(name)).now_ms
        tickets = (await engine.find(name, code)).tickets
    if cli.out.as_json or not tickets:
        documents = [_document(ticket) for ticket in tickets]
        nobody = f"Nobody in {name} has the code {code}."
        cli.out.show({"name": name, "tickets": documents}, nobody)
        return
    for ticket in tickets:
        cli.out.console.print(f"{ticket.state:<9}{_HEADINGS[ticket.state]}", style="bold")
        typer.echo(f"{'':<9}{_line(ticket, now_ms)}")


_HEADINGS = {
    State.WAITING: f"{'id':<16}  {'code':<7}  {'arrived':<25}  {'waited':>12}  last seen",
    State.CALLED: f"{'id':<16}  {'code':<7}  {'enter by':<25}  {'left':>12}",
    State.INSIDE: f"{'id':<16}  {'code':<7}  {'session ends':<25}  {'left':>12}  session",
}


def _line(ticket: Listed, now_ms: int) -> str:
    start = f"{ticket.id:<16}  {code_of(ticket.id)}  "
    if ticket.state is State.WAITING:
        seen = f"{span(_since(now_ms, ticket.seen_ms))} ago" if ticket.seen_ms else "never"
        if ticket.place is None:
            return f"{start}{'hidden until the opening':<25}  {'':>12}  {seen}"
        arrived = ticket.place // 1000
        return f"{start}{moment(arrived):<25}  {span(_since(now_ms, arrived)):>12}  {seen}"
    left = "no limit" if ticket.until_ms is None else span(_since(ticket.until_ms, now_ms))
    end = f"  {ticket.sid}" if ticket.sid else ""
    return f"{start}{moment(ticket.until_ms):<25}  {left:>12}{end}"


def _since(later_ms: int, earlier_ms: int) -> int:
    return max(0, later_ms - earlier_ms) // 1000


def _document(ticket: Listed) -> dict[str, Any]:
    """Return a ticket without the fields that its state does not have."""
    line = {"id": ticket.id, "short_code": code_of(ticket.id), "state": ticket.state}
    if ticket.state is State.WAITING:
        return line | {"place": ticket.place, "seen_ms": ticket.seen_ms}
    until = {"until_ms": ticket.until_ms}
    return line | until | ({"sid": ticket.sid} if ticket.state is State.INSIDE else {})
