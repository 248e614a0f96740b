"""A room's past for charts: spans of seconds, minutes or ten minutes, column by column.

API and page get the same JSON. A row of nulls marks the beginning of a gap: a line that is drawn
through the columns breaks there by itself.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field, create_model

from waitroom.engine import MOST_SAMPLES
from waitroom.history import COUNTERS, HistoryPoint, Step, point_of, with_rests
from waitroom.models import Mode, Policy, Stats, check_room_name
from waitroom.server.context import Here, Server
from waitroom.server.http.auth import Viewer
from waitroom.server.http.openapi import RoomName
from waitroom.server.http.packing import packed_json
from waitroom.server.operator.api import api_router
from waitroom.server.operator.page import DataRoute, Page
from waitroom.server.pages.route import NO_STORE

SAMPLE_MS = 5_000
SAMPLES_KEPT_MS = 2 * 3_600_000
USUAL_SPAN_MS = 3_600_000
_LONGEST_BREAK_MS = 3 * SAMPLE_MS
_MOST_MS = 10**13

StepName = Literal["sample", "minute", "ten"]
Moment = Annotated[int | None, Query(ge=0, le=_MOST_MS, description="Unix time in ms.")]
StepQuery = Annotated[
    StepName | None,
    Query(description="Samples of 5 s for two hours, minutes for 48 hours, tens for 30 days."),
]
Numbers = list[int | None]


class Gap(BaseModel):
    """A time of which nothing is known: no server was running to sample the room."""

    since_ms: int
    until_ms: int


class Limits(BaseModel):
    """What the policy allows now; null is no limit."""

    capacity: int | None
    per_minute: float | None = Field(description="Calls or entries.")
    queue_limit: int | None


_COUNTERS: dict[str, Any] = dict.fromkeys(COUNTERS, (Numbers, ...))
_Counters: type[BaseModel] = create_model("_Counters", **_COUNTERS)


class HistoryBody(_Counters):  # type: ignore[valid-type,misc]
    """A room's past as columns of the same length, oldest first.

    Numbers are those at the end of a span; counters only go up. A row of nulls marks the beginning
    of a gap. The last span may not be over yet.
    """

    step: StepName
    step_ms: int
    since_ms: int
    until_ms: int
    at_ms: list[int] = Field(description="When the span begins.")
    waiting: Numbers
    called: Numbers
    inside: Numbers
    most_waiting: Numbers = Field(description="The most who waited at the same time in the span.")
    waited_s: Numbers = Field(
        description="How long the last one called from the head had waited; null if nobody was."
    )
    told_s: Numbers = Field(description="The likely wait that a newcomer was told.")
    mode: list[Mode | None]
    capacity: Numbers
    per_minute: list[float | None] = Field(description="The most calls or entries allowed then.")
    gaps: list[Gap]
    limits: Limits


_COLUMNS = tuple(
    spec.name
    for spec in dataclasses.fields(HistoryPoint)
    if spec.name in HistoryBody.model_fields and spec.name != "at_ms"
)


api = api_router()
pages = APIRouter(prefix="/admin", route_class=DataRoute, include_in_schema=False)


@api.get("/rooms/{room}/history", operation_id="getHistory", response_model=HistoryBody)
async def history(
    server: Here,
    _: Viewer,
    room: RoomName,
    since_ms: Moment = None,
    until_ms: Moment = None,
    step: StepQuery = None,
) -> Response:
    """Return a room's past, for the last hour or between two moments."""
    body = await _json(server, check_room_name(room), since_ms, until_ms, step)
    return Response(body, media_type="application/json", headers=NO_STORE)


@pages.get("/rooms/{room}/history")
async def page_history(
    server: Here,
    request: Request,
    room: str,
    since_ms: Moment = None,
    until_ms: Moment = None,
    step: StepQuery = None,
) -> Response:
    """Return the same to a page of an operator who is signed in."""
    await Page.of(server, request)
    body = await _json(server, check_room_name(room), since_ms, until_ms, step)
    return await asyncio.to_thread(packed_json, request, body, NO_STORE)


async def _json(
    server: Server, room: str, since_ms: int | None, until_ms: int | None, step: StepName | None
) -> bytes:
    """Return a room's past as columns."""
    now = await server.engine.stats(room)
    until = now.now_ms if until_ms is None else min(until_ms, now.now_ms)
    since = until - USUAL_SPAN_MS if since_ms is None else since_ms
    chosen = step or _step(since, now.now_ms)
    points: Sequence[HistoryPoint] = ()
    if chosen == "sample":
        points = await _samples(server, room, since, until, now)
        if not points and step is None:  # a room that was idle for long has no samples left
            chosen = "minute"
    if chosen != "sample":
        points = await server.engine.history(room, since, until, Step(chosen))
    policy = server.engine.policy_of(room) or Policy()
    # In a thread: tens of thousands of numbers must not make this process's visitors wait.
    return await asyncio.to_thread(encoded, chosen, points, (since, until), policy)


def _step(since_ms: int, now_ms: int) -> StepName:
    """Return the finest step that is kept from a moment on."""
    if since_ms >= now_ms - SAMPLES_KEPT_MS:
        return "sample"
    return "minute" if since_ms >= now_ms - Step.MINUTE.kept_ms else "ten"


async def _samples(
    server: Server, room: str, since_ms: int, until_ms: int, now: Stats
) -> list[HistoryPoint]:
    """Return samples, and the points where a quiet time ends."""
    samples = await server.engine.series(room, since_ms=since_ms, limit=MOST_SAMPLES)
    points = with_rests((point_of(sample, SAMPLE_MS) for sample in samples), now)
    return [point for point in points if since_ms <= point.at_ms <= until_ms]


def encoded(
    step: StepName, points: Sequence[HistoryPoint], span: tuple[int, int], policy: Policy
) -> bytes:
    """Return points as the JSON of a `HistoryBody`; not through it, as it may be a megabyte."""
    step_ms = SAMPLE_MS if step == "sample" else Step(step).span_ms
    gaps = [*_gaps(points, step_ms)]
    # A point, or the moment at which a gap begins.
    rows: list[HistoryPoint | int] = [*points, *(gap["since_ms"] for gap in gaps)]
    rows.sort(key=_moment)
    body: dict[str, Any] = {"step": step, "step_ms": step_ms}
    body |= {"since_ms": span[0], "until_ms": span[1], "at_ms": [_moment(row) for row in rows]}
    for name in _COLUMNS:
        body[name] = [None if isinstance(row, int) else getattr(row, name) for row in rows]
    body |= {"gaps": gaps, "limits": {name: getattr(policy, name) for name in Limits.model_fields}}
    return msgspec.json.encode(body)


def _moment(row: HistoryPoint | int) -> int:
    return row if isinstance(row, int) else row.at_ms


def _gaps(points: Sequence[HistoryPoint], step_ms: int) -> Iterator[dict[str, int]]:
    """Yield the times between points of which nothing is known."""
    longest_ms = _LONGEST_BREAK_MS if step_ms == SAMPLE_MS else step_ms
    for point, after in pairwise(points):
        if after.at_ms - point.at_ms > longest_ms and not after.idle:
            yield {"since_ms": point.at_ms + step_ms, "until_ms": after.at_ms}
