"""`/admin/rooms/{room}/preview`: all faces of the waiting page, in any language.

Samples have no script and send no form, so looking at them takes no place.
"""

from __future__ import annotations

import secrets
import time
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from waitroom.errors import NotFound
from waitroom.models import check_room_name
from waitroom.server.context import Here, Server
from waitroom.server.operator.page import Page, PageRoute
from waitroom.server.pages.headers import page_headers
from waitroom.server.pages.languages import DEFAULT, nearest
from waitroom.server.pages.locales import Locales, load_locales
from waitroom.server.preview.samples import samples
from waitroom.server.waiting.faces import Face
from waitroom.server.waiting.page import render
from waitroom.server.waiting.view import PageView

router = APIRouter(prefix="/admin", route_class=PageRoute, include_in_schema=False)
Tag = Annotated[str, Query(max_length=20)]


class Width(StrEnum):
    """How wide the samples are shown."""

    PHONE = "phone"
    DESKTOP = "desktop"


@router.get("/rooms/{room}/preview")
async def preview(
    server: Here, request: Request, room: str, language: Tag = "", width: Width = Width.PHONE
) -> Response:
    """Show every face in a frame; a viewer may look."""
    page = await Page.of(server, request)
    locales = load_locales(server.settings.locales)
    tag = _tag(locales, language, page.lang)
    views = samples(await _base(server, room, locales, tag))
    words = locales[_tag(locales, page.lang)]
    response = page.html(
        "operator/preview.html",
        room=room,
        faces={name: words(f"{view.face}_title") for name, view in views.items()},
        locales=locales,
        language=tag,
        width=width,
        widths=list(Width),
    )
    response.headers["content-security-policy"] += "; frame-src 'self'"
    return response


@router.get("/rooms/{room}/preview/{face}")
async def sample(server: Here, request: Request, room: str, face: str, lang: Tag = "") -> Response:
    """Show one face as visitors would see it."""
    await Page.of(server, request)
    locales = load_locales(server.settings.locales)
    base = await _base(server, room, locales, _tag(locales, lang))
    view = samples(base).get(face)
    if view is None:
        raise NotFound("the waiting page has no such face")
    fonts = bool(view.theme.font)
    headers = page_headers(base.nonce, base.text.lang, fonts=fonts, is_sample=True)
    return HTMLResponse(render(view), headers=headers)


async def _base(server: Server, room: str, locales: Locales, tag: str) -> PageView:
    stored = await server.engine.room(check_room_name(room))
    return PageView(
        room=room,
        face=Face.JOIN,
        now_ms=int(time.time() * 1000),
        nonce=secrets.token_urlsafe(16),
        text=locales[tag],
        locales=locales,
        policy=stored.policy,
        message_at_ms=stored.message_at_ms,
    )


def _tag(locales: Locales, *wanted: str) -> str:
    """Return the first wanted language that the page has."""
    tags = tuple(locales)
    return next(filter(None, (nearest(tag, tags) for tag in wanted if tag)), DEFAULT)
