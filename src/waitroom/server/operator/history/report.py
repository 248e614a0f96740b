"""The report of a sale on the operator page: choose the period, then read or download it.

The archive is read in a thread that leaves half of the time to others, one report at a time, and
within limits of time and bytes: to read more of it, use `waitroom report`.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
import zipfile
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Annotated
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Query, Request, Response

from waitroom.archive.reading import Limits
from waitroom.archive.thread import ArchiveThread
from waitroom.errors import InvalidInput
from waitroom.models import Policy, check_room_name
from waitroom.moments import from_ms, to_ms
from waitroom.operations.reports import records_of
from waitroom.report.gather import Records, gather
from waitroom.report.sale import Sale
from waitroom.report.sale_page import render
from waitroom.report.tables import TABLES, to_csv
from waitroom.server.context import Here, Server
from waitroom.server.operator.page import Page, PageRoute
from waitroom.server.pages.headers import document_headers
from waitroom.server.pages.route import NO_STORE

LIMITS = Limits(most_bytes=500_000_000, most_s=30.0, gentle=True)
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_USUAL = timedelta(hours=24)

router = APIRouter(prefix="/admin", route_class=PageRoute, include_in_schema=False)
Moment = Annotated[str, Query(max_length=40)]


_thread = ArchiveThread("report")


@router.get("/rooms/{room}/report")
async def choose(server: Here, request: Request, room: str) -> Response:
    """Ask for the period."""
    page = await Page.of(server, request)
    stats = await server.engine.stats(check_room_name(room))
    policy = server.engine.policy_of(room) or Policy()
    now = from_ms(stats.now_ms).astimezone(ZoneInfo(policy.time_zone or "UTC"))
    return page.html(
        "operator/history/report.html",
        room=room,
        zone=policy.time_zone or "UTC",
        since=f"{now - _USUAL:%Y-%m-%dT%H:%M}",
        until=f"{now + timedelta(minutes=1):%Y-%m-%dT%H:%M}",
        archived=server.settings.archive is not None,
    )


@router.get("/rooms/{room}/report/show")
async def show(
    server: Here, request: Request, room: str, since: Moment = "", until: Moment = ""
) -> Response:
    """Show the report, as its own page that prints well."""
    await Page.of(server, request)
    body = await _made(server, room, since, until, _html)
    style = _STYLE.search(body.decode())
    digest = hashlib.sha256(style[1].encode() if style else b"").digest()
    headers = document_headers(base64.b64encode(digest).decode())
    return Response(body, media_type="text/html; charset=utf-8", headers=headers | NO_STORE)


@router.get("/rooms/{room}/report/html")
async def download_html(
    server: Here, request: Request, room: str, since: Moment = "", until: Moment = ""
) -> Response:
    """Return the same as a file."""
    await Page.of(server, request)
    body = await _made(server, room, since, until, _html)
    return _file(body, "text/html; charset=utf-8", f"{room}-report.html")


@router.get("/rooms/{room}/report/csv")
async def download_csv(
    server: Here, request: Request, room: str, since: Moment = "", until: Moment = ""
) -> Response:
    """Return its tables, as CSV files in a ZIP archive."""
    await Page.of(server, request)
    body = await _made(server, room, since, until, _zipped)
    return _file(body, "application/zip", f"{room}-report.zip")


async def _made(
    server: Server, room: str, since: str, until: str, write: Callable[[Sale], bytes]
) -> bytes:
    """Read what is known, and make a file of it in the thread."""
    await server.engine.stats(check_room_name(room))
    zone = ZoneInfo((server.engine.policy_of(room) or Policy()).time_zone or "UTC")
    span = _read("since", since, zone), _read("until", until, zone)
    records = await records_of(server.engine, room, *span)
    return await _thread.run(lambda: write(_gathered(server, records)))


def _gathered(server: Server, records: Records) -> Sale:
    return gather(records, server.settings.archive, limits=LIMITS)


def _read(name: str, text: str, zone: ZoneInfo) -> int:
    """Return a moment of the form, which has no zone: it is in the room's zone."""
    try:
        moment = datetime.fromisoformat(text)
        return to_ms(moment if moment.tzinfo else moment.replace(tzinfo=zone))
    except (ValueError, OverflowError):
        raise InvalidInput(name, f"{text!r:.40} is not a time") from None


def _html(sale: Sale) -> bytes:
    return render(sale).encode()


def _zipped(sale: Sale) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as files:
        for name in TABLES:
            files.writestr(f"{sale.room}/{name}.csv", to_csv(sale, name))
    return out.getvalue()


def _file(body: bytes, media_type: str, name: str) -> Response:
    disposition = f'attachment; filename="{name}"'  # a room's name needs no quoting
    headers = {"content-disposition": disposition, "x-content-type-options": "nosniff"}
    return Response(body, media_type=media_type, headers=headers | NO_STORE)
