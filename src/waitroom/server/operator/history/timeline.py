"""What operators did to a room and what happened to it, as marks on the operator page's charts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from waitroom.engine import Engine
from waitroom.engine.audit import Audit, Entry
from waitroom.models import Policy, check_room_name
from waitroom.server.context import Here
from waitroom.server.operator import words
from waitroom.server.operator.history.past import USUAL_SPAN_MS, Moment
from waitroom.server.operator.page import DataRoute, Page
from waitroom.server.pages.route import NO_STORE
from waitroom.server.pages.text import Text

MOST_MARKS = 500
"""Only the newest marks: more would cover the chart."""

_LONGEST_TEXT = 200
_PAGES = 3
_LAST_MS = 10**15

router = APIRouter(prefix="/admin", route_class=DataRoute, include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Mark:
    """One mark: `kind` is the action or event, `by` who did it."""

    at_ms: int
    kind: str
    text: str
    by: str = ""
    href: str = ""


@router.get("/rooms/{room}/timeline")
async def timeline(
    server: Here, request: Request, room: str, since_ms: Moment = None, until_ms: Moment = None
) -> Response:
    """Return the marks of a room between two moments, or of the last hour; oldest first."""
    page = await Page.of(server, request)
    now_ms = (await server.engine.stats(check_room_name(room))).now_ms
    until = now_ms if until_ms is None else until_ms
    since = until - USUAL_SPAN_MS if since_ms is None else since_ms
    entries, more = await _entries(server.audit, room, since, until)
    marks = [mark_of(page.text, entry) for entry in entries]
    marks += await _happenings(server.engine, page.text, room, (since, min(until, now_ms)))
    marks.sort(key=lambda mark: mark.at_ms)
    body: dict[str, Any] = {"marks": [asdict(mark) for mark in marks], "more": more}
    return JSONResponse(body, headers=NO_STORE)


async def _entries(
    audit: Audit, room: str, since_ms: int, until_ms: int
) -> tuple[list[Entry], bool]:
    """Return the newest actions in a span, and whether there were more."""
    entries: list[Entry] = []
    before: str | None = f"{min(until_ms + 1, _LAST_MS)}-0"
    for _ in range(_PAGES):
        left = MOST_MARKS - len(entries)
        if before is None or left == 0:
            break
        page = await audit.page(before=before, limit=left, room=room, since_ms=since_ms)
        entries += page.entries
        before = page.before
    return entries, before is not None


def mark_of(text: Text, entry: Entry) -> Mark:
    """Return an entry of the audit log as a mark that links to it."""
    line = " · ".join(words.told(text, entry))
    short = line if len(line) <= _LONGEST_TEXT else f"{line[:_LONGEST_TEXT]}…"
    ms, _, number = entry.id.partition("-")
    after = f"{ms}-{int(number) + 1}"  # that page of the log begins with this entry
    href = f"/admin/audit?room={entry.room}&before={after}"
    return Mark(entry.at_ms, entry.action, short, entry.key_name, href)


async def _happenings(
    engine: Engine, text: Text, room: str, span: tuple[int, int]
) -> Iterator[Mark]:
    """Return what happened to a room by itself in a span."""
    marks = {(mark.kind, mark.at_ms): mark.data for mark in await engine.marks.read(room, *span)}
    # Nobody notices the opening of a room without visitors, so the policy is read too.
    policy = engine.policy_of(room) or Policy()
    moments = {"room.opened": policy.opens_at_ms, "room.ended": policy.ends_at_ms}
    for kind, at_ms in moments.items():
        if at_ms is not None and span[0] <= at_ms <= span[1]:
            marks.setdefault((kind, at_ms), {})
    return (Mark(at_ms, kind, _said(text, kind, data)) for (kind, at_ms), data in marks.items())


def _said(text: Text, kind: str, data: dict[str, Any]) -> str:
    """Say what happened."""
    key = "mark_" + kind.replace(".", "_")
    if kind != "room.limit_reached":
        return text(key)
    return text(key, field=words.field(text, data["limit"]), n=data["value"])
