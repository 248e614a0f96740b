"""Entry codes in the operator API: make a batch, see what is used, revoke it."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Path, Query
from pydantic import BaseModel, Field

from waitroom.entry_codes import MOST_CODES, MOST_USES
from waitroom.models import LONGEST_CODE_NOTE
from waitroom.operations import codes
from waitroom.server.context import Here
from waitroom.server.http.auth import Operator, Viewer
from waitroom.server.http.openapi import RoomName
from waitroom.server.operator.api import Repeat, Shown, Strict, api_router, trail_of

router = api_router(409)


class NewCodes(Strict):
    """Entry codes to make."""

    count: int = Field(ge=1, le=MOST_CODES)
    uses: int = Field(default=1, ge=1, le=MOST_USES, description="How many places each gives.")
    note: str = Field(default="", max_length=LONGEST_CODE_NOTE, description="Whom they are for.")


class CodeBatchBody(Shown):
    """A batch of entry codes, without the codes."""

    batch: str
    count: int
    uses: int
    note: str
    by: str
    made_ms: int | None
    revoked_ms: int | None
    used: int = Field(description="Uses that are taken.")


class CodesMade(CodeBatchBody):
    """A new batch: its codes are shown only this time."""

    codes: list[str]


class CodeBatchesBody(BaseModel):
    """All batches of a room, oldest first."""

    batches: list[CodeBatchBody]


@router.get("/rooms/{room}/codes", operation_id="listCodes")
async def list_codes(server: Here, _: Viewer, room: RoomName) -> CodeBatchesBody:
    """Return the batches of entry codes of a room: made, used, revoked."""
    batches = await server.engine.batches(room)
    return CodeBatchesBody(batches=[CodeBatchBody.of(batch) for batch in batches])


@router.post("/rooms/{room}/codes", operation_id="createCodes", status_code=201)
async def create_codes(
    server: Here, who: Operator, room: RoomName, body: NewCodes, repeat: Repeat = None
) -> CodesMade:
    """Make a batch of entry codes; this answer is the only place where they are shown."""
    engine, trail = server.engine, trail_of(server, who)
    batch = await codes.create(
        engine, trail, room, body.count, uses=body.uses, note=body.note, op_id=repeat
    )
    # A hundred thousand take a second: visitors must not wait for them.
    made = await asyncio.to_thread(list, engine.codes(room, batch))
    return CodesMade(codes=made, **CodeBatchBody.of(batch).model_dump())


@router.delete("/rooms/{room}/codes/{batch}", operation_id="revokeCodes")
async def revoke_codes(
    server: Here,
    who: Operator,
    room: RoomName,
    batch: Annotated[str, Path(max_length=16)],
    force: Annotated[bool, Query(description="Also if the room has forgotten it.")] = False,
) -> CodeBatchBody:
    """Revoke a batch of entry codes: nobody joins with one any more; places are kept."""
    trail = trail_of(server, who)
    return CodeBatchBody.of(await codes.revoke(server.engine, trail, room, batch, force=force))
