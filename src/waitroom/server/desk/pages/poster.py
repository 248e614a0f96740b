"""The poster for a store's door: one A4 page with a QR code, and the code alone as SVG.

The code leads to the join page as somebody who stands at the store sees it.
"""

from __future__ import annotations

import io

import segno
from fastapi import APIRouter, Request, Response
from markupsafe import Markup

from waitroom.server.context import Here
from waitroom.server.desk.access import desk_of
from waitroom.server.desk.page import Page, PageRoute
from waitroom.server.desk.requests import base_url
from waitroom.server.pages.text import LANGUAGES, load_text

router = APIRouter(prefix="/desk/{store}", route_class=PageRoute, include_in_schema=False)
_QUIET = 2  # modules of white around the code; the frame of the poster adds more
_SVG_QUIET = 4  # what the standard asks for, because anything may be beside it


def address(page: Page, store: str) -> str:
    """Return where the code leads."""
    return f"{base_url(page.server, page.request)}/desk/{store}?here=1"


def code(url: str) -> segno.QRCode:
    """Return the code of an address; a quarter of it may be damaged by rain or stickers."""
    return segno.make(url, error="q", micro=False)


@router.get("/poster")
async def poster(server: Here, request: Request, store: str) -> Response:
    """Show the poster, to be printed."""
    page = Page(request, server)
    shown = await desk_of(server).record.store(store)
    url = address(page, store)
    # Segno writes only numbers into it, and no attribute that our policy would refuse.
    picture = Markup(code(url).svg_inline(border=_QUIET, omitsize=True))  # noqa: S704
    second = load_text("desk", next(lang for lang in LANGUAGES if lang != page.lang))
    return page.html("desk/poster.html", store=shown, url=url, qr=picture, second=second)


@router.get("/poster.svg")
async def poster_svg(server: Here, request: Request, store: str) -> Response:
    """Return the code alone."""
    await desk_of(server).record.store(store)
    out = io.BytesIO()
    url = address(Page(request, server), store)
    code(url).save(out, kind="svg", border=_SVG_QUIET, scale=10, title=url, xmldecl=True)
    headers = {
        "cache-control": "no-cache",
        "content-security-policy": "default-src 'none'",
        "x-content-type-options": "nosniff",
    }
    return Response(out.getvalue(), media_type="image/svg+xml", headers=headers)
