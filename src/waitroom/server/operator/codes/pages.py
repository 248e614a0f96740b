"""Entry codes on the operator page: what is used, a batch as a file, and its revocation."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from typing import Annotated

from fastapi import APIRouter, Form, Path, Request, Response
from fastapi.responses import StreamingResponse

from waitroom.entry_codes import MOST_CODES, MOST_USES
from waitroom.errors import InvalidInput, UnknownBatch
from waitroom.models import LONGEST_CODE_NOTE, CodeBatch, Needs, check_room_name
from waitroom.operations import codes
from waitroom.server.context import Here
from waitroom.server.operator.page import OperatorForm, Page, PageRoute
from waitroom.server.pages.route import NO_STORE, redirect

router = APIRouter(prefix="/admin", route_class=PageRoute, include_in_schema=False)
Batch = Annotated[str, Path(max_length=16)]
Number = Annotated[str, Form(max_length=10)]


@router.get("/rooms/{room}/codes")
async def list_codes(server: Here, request: Request, room: str) -> Response:
    """Show the batches of a room."""
    return await _list(await Page.of(server, request), room)


@router.post("/rooms/{room}/codes")
async def create_codes(
    page: OperatorForm,
    room: str,
    count: Number = "",
    uses: Number = "1",
    note: Annotated[str, Form(max_length=400)] = "",
    op_id: Annotated[str, Form(max_length=64)] = "",
) -> Response:
    """Make a batch and answer its codes as a file; a repeated form gets the same file."""
    engine, values = page.server.engine, {"count": count, "uses": uses, "note": note}
    try:
        wish = _whole("count", count), _whole("uses", uses)
        batch = await codes.create(
            engine, page.trail, room, wish[0], uses=wish[1], note=note, op_id=op_id or None
        )
    except InvalidInput as error:
        return await _list(page, room, 422, error=error, **values)
    name = f"{room}-{batch.batch}.csv"
    headers = {
        "content-disposition": f'attachment; filename="{name}"',  # a room's name needs no quoting
        "x-content-type-options": "nosniff",
    }
    lines = _slowly(codes.to_csv(engine, room, batch))
    return StreamingResponse(
        lines, media_type="text/csv; charset=utf-8", headers=headers | NO_STORE
    )


@router.get("/rooms/{room}/codes/{batch}/revoke")
async def confirm_revocation(server: Here, request: Request, room: str, batch: Batch) -> Response:
    """Say what a revocation does; nothing is changed yet."""
    page = await Page.of(server, request)
    batches = {each.batch: each for each in await server.engine.batches(check_room_name(room))}
    if batch not in batches:
        raise UnknownBatch("the room has no such batch of codes")
    return page.html("operator/codes/revoke.html", room=room, batch=batches[batch])


@router.post("/rooms/{room}/codes/{batch}/revoke")
async def revoke_codes(page: OperatorForm, room: str, batch: Batch) -> Response:
    """Revoke a batch."""
    await codes.revoke(page.server.engine, page.trail, check_room_name(room), batch)
    return redirect(f"/admin/rooms/{room}/codes")


async def _list(
    page: Page,
    room: str,
    status: int = 200,
    error: InvalidInput | None = None,
    **given: str,
) -> Response:
    engine = page.server.engine
    batches = await engine.batches(check_room_name(room))
    policy = engine.policy_of(room)
    return page.html(
        "operator/codes/list.html",
        status,
        room=room,
        batches=batches,
        made=sum(map(_places, batches)),
        used=sum(batch.used for batch in batches),
        revoked=sum(_places(batch) for batch in batches if batch.revoked_ms),
        invited=policy is not None and policy.needs is Needs.CODE,
        most={"count": MOST_CODES, "uses": MOST_USES, "note": LONGEST_CODE_NOTE},
        op_id=secrets.token_hex(16),
        error=error,
        **({"count": "", "uses": "1", "note": ""} | given),
    )


def _places(batch: CodeBatch) -> int:
    return batch.count * batch.uses


def _whole(name: str, text: str) -> int:
    if not text.isascii() or not text.isdecimal():
        raise InvalidInput(name, "must be a whole number")
    return int(text)


async def _slowly(parts: Iterator[str]) -> AsyncIterator[str]:
    """Yield the parts of a file, and let others go first in between."""
    for part in parts:
        yield part
        await asyncio.sleep(0)
