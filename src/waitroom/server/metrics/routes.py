"""`GET /metrics`: asks the workers and the backend, and answers in the format of Prometheus."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Sequence

from fastapi import APIRouter, Request, Response
from starlette.datastructures import State

from waitroom.errors import Unavailable, WaitroomError
from waitroom.operations.webhooks import Standing, standings
from waitroom.server.context import Here, Server
from waitroom.server.metrics.families import Facts, RoomFigures, render
from waitroom.server.rooms.board import REFRESH_S

router = APIRouter(tags=["operations"])

MOST_ROOMS = 1_000
"""Most rooms with their own numbers; `waitroom_rooms_left_out` says how many have none."""

GATHER_S = 5.0
"""Longest time to ask for rooms; Prometheus gives up after ten seconds unless told otherwise."""

AT_ONCE = 16
FRESH_S = 2 * REFRESH_S


@router.get(
    "/metrics",
    operation_id="getMetrics",
    summary="Numbers for Prometheus",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}, "application/openmetrics-text": {}}}},
)
async def metrics(server: Here, request: Request) -> Response:
    """What this server does and the state of its rooms, in the text format of Prometheus.

    OpenMetrics on request. Open to everybody who reaches the port, so block it from outside at your
    proxy; it holds names of rooms and numbers, no tickets.
    """
    # The numbers of rooms may be slightly older; those of the workers are current.
    facts = await _shared(request.app.state, server)
    facts = dataclasses.replace(
        facts, sum=await server.shared_counters.read(), draining=server.draining
    )
    # With a thousand rooms it takes long enough that visitors would notice, so not on the loop.
    accept = request.headers.get("accept", "")
    body, content_type = await asyncio.to_thread(render, facts, accept)
    headers = {"content-type": content_type, "cache-control": "no-store"}
    return Response(body, headers=headers)


async def _shared(kept: State, server: Server) -> Facts:
    """Return facts about rooms; concurrent scrapes share one round of questions."""
    task: asyncio.Task[Facts] | None = getattr(kept, "scrape", None)
    if task is None or task.done():
        task = kept.scrape = asyncio.create_task(gather(server))
    return await asyncio.shield(task)  # a scrape that gives up must not cancel it for others


async def gather(server: Server) -> Facts:
    """Ask workers and backend; while the backend is away, the numbers of rooms are left out."""
    names: tuple[str, ...] = ()
    rooms: list[RoomFigures] = []
    hooks: list[Standing] = []
    lengths: dict[str, int] = {}
    try:
        async with asyncio.timeout(GATHER_S):
            server.backend_health.check()
            names = await server.engine.rooms()
            rooms = await _ask(server, names[:MOST_ROOMS])
            lengths = await server.engine.outbox.lengths(names)
            hooks = await standings(server.engine)
        up = True
    except (Unavailable, TimeoutError):
        up = False
    return Facts(
        sum=await server.shared_counters.read(),
        rooms=rooms,
        rooms_in_all=len(names),
        backend_up=up,
        draining=server.draining,
        workers_wanted=server.settings.workers,
        streams_limit=server.settings.streams * server.settings.workers,
        outbox_entries=sum(lengths.values()),
        webhooks=hooks,
    )


async def _ask(server: Server, names: Sequence[str]) -> list[RoomFigures]:
    """Return the figures of rooms, a few at a time, so that visitors do not have to wait."""
    figures: list[RoomFigures] = []
    for start in range(0, len(names), AT_ONCE):
        page = names[start : start + AT_ONCE]
        answers = await asyncio.gather(*(_figures(server, room) for room in page))
        figures += (room for room in answers if room is not None)
    return figures


async def _figures(server: Server, room: str) -> RoomFigures | None:
    board = server.boards.known.get(room)
    try:
        if board is not None and time.monotonic() - board.fresh_at < FRESH_S:
            stats = board.stats
        else:
            stats = await server.engine.stats(room)
            # A room in which nobody waits needs no board, which would be renewed every second.
            board = await server.boards.get(room) if stats.waiting else None
    except Unavailable:
        raise
    except WaitroomError:  # dropped since, only a name in the index, or broken
        return None
    wait = board.wait(stats.waiting + 1) if board else None
    policy = server.engine.policy_of(room)
    return RoomFigures(stats, (wait.low, wait.likely, wait.high) if wait else None, policy)
