"""Entry codes of a room: make a batch, revoke one, and write a batch as CSV. No log has a code."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from waitroom.engine import Engine
from waitroom.models import CodeBatch
from waitroom.operations.trail import Trail
from waitroom.report.tables import cell

_PER_PART = 500
CSV_HEAD = ("code", "batch", "uses", "note")


async def create(
    engine: Engine,
    trail: Trail,
    room: str,
    count: int,
    *,
    uses: int = 1,
    note: str = "",
    op_id: str | None = None,
) -> CodeBatch:
    """Make a batch of codes."""
    note = note.strip()
    doing = engine.issue(
        room,
        count,
        uses=uses,
        note=note,
        by=trail.actor.name,
        op_id=trail.op_id("code.create", op_id),
    )
    detail = {"count": count, "uses": uses, "note": note}
    batch = await trail.attempt("code.create", room, doing, **detail)
    await trail.record("code.create", room, batch=batch.batch, **detail)
    return batch


async def revoke(
    engine: Engine,
    trail: Trail,
    room: str,
    batch: str,
    *,
    force: bool = False,
    op_id: str | None = None,
) -> CodeBatch:
    """Let nobody join any more with the codes of a batch."""
    op_id = trail.op_id("code.revoke", op_id)
    doing = engine.revoke(room, batch, force=force, op_id=op_id)
    revoked = await trail.attempt("code.revoke", room, doing, batch=batch, force=force)
    await trail.record("code.revoke", room, batch=revoked.batch, force=force)
    return revoked


def to_csv(engine: Engine, room: str, batch: CodeBatch) -> Iterator[str]:
    """Yield the codes of a batch as CSV, some lines at a time."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(CSV_HEAD)
    rest = [cell(value) for value in (batch.batch, batch.uses, batch.note)]
    for number, code in enumerate(engine.codes(room, batch), 1):
        writer.writerow([code, *rest])
        if number % _PER_PART == 0:
            yield out.getvalue()
            out.seek(0)
            out.truncate()
    yield out.getvalue()
