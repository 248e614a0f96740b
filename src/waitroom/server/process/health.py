"""Is the process alive, and should visitors be sent to it?

Neither depends on Redis. `/healthz` reports the state of the backend but always answers 200: a
supervisor that restarts a process because Redis is away would make things worse. `/readyz` is for
load balancers: one that removed every process during a short outage of Redis would leave visitors
with nothing, while the room's `when_away` has an answer for them.
"""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from waitroom.server.context import Server

router = APIRouter(tags=["operations"])
NO_STORE = {"cache-control": "no-store"}


class Alive(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"
    backend: Literal["up", "away", "unknown"] = Field(
        description="Redis or Valkey, as this process sees it; `unknown` while starting"
    )


class Ready(BaseModel):
    """Whether visitors should be sent here, and if not, why."""

    status: Literal["ready", "not_ready"] = "ready"
    reasons: list[str] = Field(
        default_factory=list,
        description="`starting` or `draining`; empty when ready",
        examples=[["draining"]],
    )


@router.get("/healthz", operation_id="getHealth", summary="Is the process alive?")
async def healthz(request: Request, response: Response) -> Alive:
    """200 as long as the process answers at all, with what it knows about Redis or Valkey."""
    response.headers.update(NO_STORE)
    server = _server(request)
    if server is None:
        return Alive(backend="unknown")
    return Alive(backend="away" if server.backend_health.away else "up")


@router.get(
    "/readyz",
    operation_id="getReadiness",
    summary="Should visitors be sent here?",
    responses={503: {"model": Ready, "description": "Starting or draining"}},
)
async def readyz(request: Request, response: Response) -> Ready:
    """200 when visitors may come; 503 while starting or draining, never because of the backend."""
    response.headers.update(NO_STORE)
    server = _server(request)
    if server is not None and not server.draining:
        return Ready()
    response.status_code = 503
    return Ready(status="not_ready", reasons=["starting" if server is None else "draining"])


def _server(request: Request) -> Server | None:
    server: Server | None = getattr(request.app.state, "server", None)
    return server
