"""Entry codes: makes batches of them, lists and revokes them."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from waitroom.cli.command import Session, Yes, command, group, option
from waitroom.cli.output import table
from waitroom.cli.text import moment
from waitroom.entry_codes import MOST_CODES, MOST_USES
from waitroom.operations import codes

app = typer.Typer(name="code")
RoomOption = Annotated[str, option("The room that the codes are for.", "ROOM", "--room")]
Count = Annotated[int, option(f"How many, up to {MOST_CODES:,}.", "N", "--count")]
Uses = Annotated[int, option(f"How many places each gives, up to {MOST_USES:,}.", "N", "--uses")]
Note = Annotated[str, option("Whom they are for, as lists show it.", "TEXT", "--note")]
Batch = Annotated[str, typer.Argument(metavar="BATCH", help="The first four letters of its codes.")]
Force = Annotated[bool, option("Also a batch that the room has forgotten.", None, "--force")]


@group(app)
def _about() -> None:
    """Make, list and revoke entry codes, for rooms that need one and for others.

    Example:

      waitroom code create --room concert --count 5000 --note "fan club" > codes.csv
      waitroom code list --room concert
    """


@command(app)
async def create(
    cli: Session, room: RoomOption, count: Count, uses: Uses = 1, note: Note = ""
) -> None:
    """Make a batch of entry codes for a room, and print them as CSV.

    Codes are stored nowhere, so save what is printed. With `needs = code` only people with a code
    can join: `waitroom room set concert --needs code`.

    Example:

      waitroom code create --room concert --count 5000 --uses 1 --note "fan club" > codes.csv
    """
    async with cli.engine() as engine:
        batch = await codes.create(engine, cli.trail(engine), room, count, uses=uses, note=note)
        if cli.out.as_json:
            made = list(engine.codes(room, batch))
            cli.out.show({**dataclasses.asdict(batch), "codes": made})
            return
        for part in codes.to_csv(engine, room, batch):
            typer.echo(part, nl=False)
    cli.out.notes.print(f"Made {count:,} codes, batch {batch.batch}.", markup=False)


@command(app, "list")
async def list_(cli: Session, room: RoomOption) -> None:
    """List the batches of entry codes of a room: made, used, revoked.

    Example:

      waitroom code list --room concert
    """
    async with cli.engine() as engine:
        batches = await engine.batches(room)
    right = ("codes", "uses each", "used")
    lines = table("batch", *right, "made", "by", "revoked", "note", right=right)
    for batch in batches:
        lines.add_row(
            batch.batch,
            f"{batch.count:,}",
            f"{batch.uses:,}",
            f"{batch.used:,}",
            moment(batch.made_ms) if batch.made_ms else "",
            batch.by,
            moment(batch.revoked_ms) if batch.revoked_ms else "",
            batch.note,
        )
    empty = f"There are no codes yet; make some with `waitroom code create --room {room}`."
    document = {"batches": [dataclasses.asdict(batch) for batch in batches]}
    cli.out.show(document, lines if batches else empty)


@command(app)
async def revoke(
    cli: Session, batch: Batch, room: RoomOption, force: Force = False, yes: Yes = False
) -> None:
    """Revoke a batch of entry codes: nobody joins with one any more. People with a place keep it.

    Example:

      waitroom code revoke K7Q2 --room concert
    """
    async with cli.engine() as engine:
        cli.confirm(f"Revoke all codes of batch {batch} in {room}?", yes)
        gone = await codes.revoke(engine, cli.trail(engine), room, batch, force=force)
    cli.out.show(
        dataclasses.asdict(gone),
        f"Revoked batch {gone.batch}: {gone.count:,} codes, {gone.used:,} uses were taken.",
    )
