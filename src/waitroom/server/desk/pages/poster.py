"""What a store shows at its door: a poster to print, and a screen whose QR code rotates.

The code shows that a guest is there, so only hosts may see these pages.
"""

from __future__ import annotations

import io

import segno
from fastapi import APIRouter, Request, Response
from markupsafe import Markup

from waitroom.credentials.roles import Role
from waitroom.desk.models import OnSite, Store
from waitroom.desk.on_site import ROTATE_S
from waitroom.errors import Unauthorized
from waitroom.server.context import Here, Server
from waitroom.server.desk.access import caller_of, desk_of
from waitroom.server.desk.page import Page, PageRoute
from waitroom.server.desk.requests import base_url, door_url
from waitroom.server.pages.route import NotSignedIn
from waitroom.server.pages.text import LANGUAGES, load_text

router = APIRouter(prefix="/desk/{store}", route_class=PageRoute, include_in_schema=False)
_QUIET = 2  # modules of white around the code; the frame of the poster adds more
_SVG_QUIET = 4  # required by the standard, because anything may be beside it
_SVG_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'",
    "x-content-type-options": "nosniff",
}


async def _store_of_host(server: Server, request: Request, store: str) -> Store:
    """Return the store, if one of its hosts asks."""
    shown = await desk_of(server).record.store(store)
    try:
        caller = await caller_of(server, request, store)
    except Unauthorized:
        raise NotSignedIn from None
    caller.need(store, Role.VIEWER)
    return shown


def _printed_url(server: Server, request: Request, store: Store) -> str:
    """Return where the poster leads: a rotating code cannot be printed."""
    if store.on_site is OnSite.ROTATING:
        return f"{base_url(server, request)}/desk/{store.id}"
    return door_url(server, request, store)


def code(url: str) -> segno.QRCode:
    """Return the code of an address; a quarter of it may be damaged by rain or stickers."""
    return segno.make(url, error="q", micro=False)


@router.get("/poster")
async def poster(server: Here, request: Request, store: str) -> Response:
    """Show the poster, to be printed."""
    shown = await _store_of_host(server, request, store)
    page = Page(request, server)
    url = _printed_url(server, request, shown)
    # Segno writes only numbers into it, and no attribute that our policy would refuse.
    picture = Markup(code(url).svg_inline(border=_QUIET, omitsize=True))  # noqa: S704
    second = load_text("desk", next(lang for lang in LANGUAGES if lang != page.lang))
    return page.html("desk/poster.html", store=shown, url=url, qr=picture, second=second)


@router.get("/poster.svg")
async def poster_svg(server: Here, request: Request, store: str) -> Response:
    """Return the code of the poster alone."""
    shown = await _store_of_host(server, request, store)
    return _svg(_printed_url(server, request, shown))


@router.get("/screen")
async def screen(server: Here, request: Request, store: str) -> Response:
    """Show the current code on a tablet at the door; its script asks for the next one."""
    shown = await _store_of_host(server, request, store)
    page = Page(request, server)
    second = load_text("desk", next(lang for lang in LANGUAGES if lang != page.lang))
    return page.html("desk/screen.html", store=shown, second=second, refresh_s=ROTATE_S // 2)


@router.get("/screen.svg")
async def screen_svg(server: Here, request: Request, store: str) -> Response:
    """Return the current code alone."""
    shown = await _store_of_host(server, request, store)
    return _svg(door_url(server, request, shown))


def _svg(url: str) -> Response:
    out = io.BytesIO()
    code(url).save(out, kind="svg", border=_SVG_QUIET, scale=10, title=url, xmldecl=True)
    return Response(out.getvalue(), media_type="image/svg+xml", headers=_SVG_HEADERS)
