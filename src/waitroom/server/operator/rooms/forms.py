"""Rooms on the operator page: create, copy and change them field by field, empty or remove them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from waitroom.credentials.roles import Role
from waitroom.errors import InvalidRoomName, RoomExists, VersionConflict
from waitroom.models import PRESETS, Policy, check_room_name, preset
from waitroom.operations import rooms
from waitroom.server.context import Here, Server
from waitroom.server.operator.page import AdminPage, Page, PageRoute
from waitroom.server.operator.rooms import policy_form
from waitroom.server.operator.rooms.policy_form import Draft
from waitroom.server.pages.route import redirect

router = APIRouter(prefix="/admin", route_class=PageRoute, include_in_schema=False)

PLAIN = "none"
"""What the page calls a room without a preset."""

_FIRST = ("title", "capacity", "session_s", "opens_at", "time_zone", "go_to")
_ALWAYS_LATER = {"eta", "recover_s"}
"""Fields of presets that few people change."""


# Making -------------------------------------------------------------------------------------


@router.get("/new-room")
async def new_room(
    server: Here,
    request: Request,
    begin: Annotated[str, Query(max_length=20)] = "",
    copy: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """Show the form of a new room, filled with a preset or with the policy of another one."""
    page = await Page.of(server, request, Role.ADMIN)
    base = await _base(server, begin, copy)
    return _new(page, policy_form.read({}, base), begin, copy, name=f"{copy}-copy"[:64])


@router.post("/new-room")
async def create_room(server: Here, request: Request) -> Response:
    """Make the room, or show what is wrong at its field."""
    page = await Page.of(server, request, Role.ADMIN)
    form = await _form(page)
    begin, copy = form.get("begin", ""), form.get("copy", "")
    draft = policy_form.read(form, await _base(server, begin, copy))
    name, name_error = form.get("name", "").strip(), ""
    try:
        check_room_name(name)
        if not draft.errors:
            await rooms.create(server.engine, page.trail, name, draft.policy)
            return redirect(f"/admin/rooms/{name}")
    except InvalidRoomName:
        name_error = "room_name_wrong"
    except RoomExists:
        name_error = "room_name_taken"
    return _new(page, draft, begin, copy, name=name, name_error=name_error)


async def _base(server: Server, begin: str, copy: str) -> Policy:
    """Return the policy that the form begins with."""
    if copy:
        return (await server.engine.room(check_room_name(copy))).policy
    return Policy() if begin in ("", PLAIN) else preset(begin)


def _new(
    page: Page, draft: Draft, begin: str, copy: str, name: str, name_error: str = ""
) -> Response:
    first = _first_fields(begin)
    wrong = len(draft.errors) + bool(name_error)
    return page.html(
        "operator/rooms/new.html",
        422 if wrong else 200,
        draft=draft,
        first=[draft.field(field) for field in first],
        groups=list(draft.groups(without=first)),
        wrong=wrong,
        begin=begin or PLAIN,
        presets=(PLAIN, *PRESETS),
        copy=copy,
        name="" if name == "-copy" else name,
        name_error=name_error,
    )


def _first_fields(begin: str) -> tuple[str, ...]:
    """Return the most important fields: those that a preset is about, and where people go next."""
    if begin not in PRESETS:
        return _FIRST
    about = policy_form.compared(Policy(), PRESETS[begin]).keys() - _ALWAYS_LATER
    names = about | ({*_FIRST} - {"capacity"})
    return tuple(name for fields in policy_form.GROUPS.values() for name in fields if name in names)


# Changing -----------------------------------------------------------------------------------


@router.get("/rooms/{room}/settings")
async def settings(server: Here, request: Request, room: str) -> Response:
    """Show every field of the policy."""
    page = await Page.of(server, request, Role.OPERATOR)
    known = await server.engine.room(check_room_name(room))
    return _settings(page, room, known.version, policy_form.read({}, known.policy))


@router.post("/rooms/{room}/settings")
async def change_settings(server: Here, request: Request, room: str) -> Response:
    """Show what would change; with `step=apply` change it, with `step=edit` continue editing."""
    page = await Page.of(server, request, Role.OPERATOR)
    form = await _form(page)
    known = await server.engine.room(check_room_name(room))
    version = _version(form)
    if version != known.version:
        raise VersionConflict(room, version, known.version)
    draft = policy_form.read(form, known.policy, _hidden(page))
    if draft.errors or not draft.changes or form.get("step") == "edit":
        return _settings(page, room, version, draft, looked=form.get("step") != "edit")
    if form.get("step") == "apply":
        changes, op_id = dict(draft.changes), form.get("op") or None
        _, entry_id = await rooms.change(
            server.engine, page.trail, room, changes, version, op_id=op_id
        )
        return redirect(f"/admin/rooms/{room}" + (f"?done={entry_id}" if entry_id else ""))
    return page.html(
        "operator/rooms/settings_confirm.html",
        room=room,
        version=version,
        draft=draft,
        changed=policy_form.compared(known.policy, draft.policy),
        waiting=(await server.engine.stats(room)).waiting,
        op=secrets.token_hex(8),
    )


def _settings(
    page: Page, room: str, version: int, draft: Draft, *, looked: bool = False
) -> Response:
    hidden = _hidden(page)
    return page.html(
        "operator/rooms/settings.html",
        422 if draft.errors else 200,
        room=room,
        version=version,
        draft=draft,
        groups=list(draft.groups(without=hidden)),
        wrong=len(draft.errors),
        nothing=looked and not draft.changes and not draft.errors,
    )


def _hidden(page: Page) -> frozenset[str]:
    """Return the fields that this role cannot set, and so does not see."""
    return frozenset() if page.who.key.role is Role.ADMIN else rooms.FOR_ADMINS


def _version(form: Mapping[str, str]) -> int:
    text = form.get("version", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else 0


# Emptying and removing ----------------------------------------------------------------------


@router.get("/rooms/{room}/clear")
async def ask_to_clear(page: AdminPage, room: str) -> Response:
    """Ask before a room is emptied."""
    return await _ask(page, room, "clear")


@router.post("/rooms/{room}/clear")
async def clear(page: AdminPage, room: str) -> Response:
    """Empty a room, once its name is typed."""
    form = await _form(page)
    if not _confirmed(form, room):
        return await _ask(page, room, "clear", form)
    await rooms.clear(page.server.engine, page.trail, room, op_id=form.get("op") or None)
    return redirect(f"/admin/rooms/{room}")


@router.get("/rooms/{room}/drop")
async def ask_to_drop(page: AdminPage, room: str) -> Response:
    """Ask before a room is removed."""
    return await _ask(page, room, "drop")


@router.post("/rooms/{room}/drop")
async def drop(page: AdminPage, room: str) -> Response:
    """Remove a room, once its name is typed."""
    form = await _form(page)
    if not _confirmed(form, room):
        return await _ask(page, room, "drop", form)
    await rooms.drop(page.server.engine, page.trail, room)
    return redirect("/admin")


def _confirmed(form: Mapping[str, str], room: str) -> bool:
    return form.get("confirm", "").strip() == check_room_name(room)


async def _ask(
    page: Page, room: str, action: str, form: Mapping[str, str] | None = None
) -> Response:
    stats = await page.server.engine.stats(check_room_name(room))
    values: dict[str, Any] = {"room": room, "action": action, "stats": stats}
    if form is not None:
        values |= {"typed": form.get("confirm", ""), "op": form.get("op", "")}
    else:
        values |= {"typed": None, "op": secrets.token_hex(8)}
    return page.html("operator/rooms/removal.html", 200 if form is None else 422, **values)


async def _form(page: Page) -> dict[str, str]:
    """Return a form of this session."""
    form = {name: str(value) for name, value in (await page.request.form()).items()}
    page.check(form.get("token", ""))
    return form
