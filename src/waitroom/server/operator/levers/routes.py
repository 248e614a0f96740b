"""Levers: show what one will do, do it, undo it. Each names the room, and is logged."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, Request, Response

from waitroom.credentials.roles import Role
from waitroom.models import check_room_name
from waitroom.operations import people, reinstating, rooms
from waitroom.operations import undo as undoing
from waitroom.operations.rooms import check_role
from waitroom.server.context import Here
from waitroom.server.operator.levers import wishes
from waitroom.server.operator.levers.facts import sentence
from waitroom.server.operator.levers.preview import preview
from waitroom.server.operator.levers.wishes import Lever, Wish
from waitroom.server.operator.page import OperatorForm, Page, PageRoute
from waitroom.server.operator.room import view as room_view
from waitroom.server.pages.route import redirect

router = APIRouter(prefix="/admin/rooms/{room}", route_class=PageRoute, include_in_schema=False)


@router.get("/confirm")
async def confirm(server: Here, request: Request, room: str) -> Response:
    """Show what a lever will do; nothing is changed yet."""
    page = await Page.of(server, request, Role.OPERATOR)
    return await _confirm(page, room, request.query_params)


@router.post("/confirm")
async def confirm_text(server: Here, request: Request, room: str) -> Response:
    """Show it for a text, which is too long for an address; nothing is changed yet."""
    page = await Page.of(server, request, Role.OPERATOR)
    form = {name: str(value) for name, value in (await request.form()).items()}
    page.check(form.get("token", ""))
    return await _confirm(page, room, form)


async def _confirm(page: Page, room: str, form: Mapping[str, str]) -> Response:
    server = page.server
    board = await room_view.fresh(server, check_room_name(room))
    wish = wishes.read(form, board.policy)
    check_role(page.who.key.role, wish.changes)
    shown = preview(board, wish)
    zone = board.policy.time_zone
    return page.html(
        "operator/levers/confirm.html",
        room=room_view.view(board, server.backend_health.away),
        wish=wish,
        preview=shown,
        facts=[sentence(page.text, fact, zone) for fact in shown.facts],
        op=secrets.token_hex(8),
    )


@router.post("/do")
async def do(server: Here, request: Request, room: str) -> Response:
    """Do what was confirmed, and go back to the room."""
    page = await Page.of(server, request, Role.OPERATOR)
    form = {name: str(value) for name, value in (await request.form()).items()}
    page.check(form.get("token", ""))
    policy = (await server.engine.room(check_room_name(room))).policy
    wish, op_id = wishes.read(form, policy), form.get("op") or None
    entry_id = await _do(page, room, wish, form.get("version", ""), op_id)
    back = f"/admin/rooms/{room}" + (f"/people/{quote(wish.ticket)}" if wish.person else "")
    return redirect(back + (f"?done={entry_id}" if entry_id else ""))


async def _do(page: Page, room: str, wish: Wish, version: str, op_id: str | None) -> str:
    engine, trail, force = page.server.engine, page.trail, wish.force
    if wish.lever not in (Lever.ADMIT, Lever.CALL, Lever.KICK, Lever.REINSTATE):
        if not wish.changes:  # a second click: it is already done
            return ""
        known = int(version) if version.isdecimal() and len(version) < 16 else None
        _, entry_id = await rooms.change(engine, trail, room, wish.changes, known, op_id=op_id)
        return entry_id
    if wish.lever is Lever.KICK:
        ids, ban = [wish.ticket], wish.ban
        return (await people.kick(engine, trail, room, ids, ban=ban, op_id=op_id)).entry_id
    if wish.lever is Lever.REINSTATE:
        returned = await reinstating.reinstate(
            engine, trail, room, wish.ticket, lift_ban=wish.lift_ban, force=force, op_id=op_id
        )
        return returned.entry_id
    if wish.lever is Lever.CALL:
        called = await people.call(engine, trail, room, wish.ticket, force=force, op_id=op_id)
    else:
        called = await people.admit(engine, trail, room, wish.count, force=force, op_id=op_id)
    return called.entry_id


@router.post("/undo")
async def undo(
    page: OperatorForm, room: str, entry: Annotated[str, Form(max_length=40)] = ""
) -> Response:
    """Undo the last change, unless somebody has changed the room since."""
    check_room_name(room)
    _, entry_id, _ = await undoing.undo(page.server.engine, page.trail, room, entry_id=entry)
    return redirect(f"/admin/rooms/{room}?done={entry_id}")
