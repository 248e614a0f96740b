"""Is the process alive, and should it be sent visitors?

`/healthz` asks nothing of anybody: a supervisor that restarts a process because Redis is away would
make things worse. `/readyz` is for balancers: they take a process out that drains or cannot serve.
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


class Ready(BaseModel):
    """Whether visitors should be sent here, and if not, why."""

    status: Literal["ready", "not_ready"] = "ready"
    reasons: list[str] = Field(
        default_factory=list,
        description="`starting`, `draining` and `backend_away`; empty when ready",
        examples=[["draining"]],
    )


@router.get("/healthz", summary="Is the process alive?")
async def healthz(response: Response) -> Alive:
    """200 as long as the process answers at all. Redis or Valkey is not asked."""
    response.headers.update(NO_STORE)
    return Alive()


@router.get(
    "/readyz",
    summary="Should visitors be sent here?",
    responses={503: {"model": Ready, "description": "Starting, draining, or the backend is away"}},
)
async def readyz(request: Request, response: Response) -> Ready:
    """200 when visitors may come; 503 while starting, draining, or while the backend is away."""
    response.headers.update(NO_STORE)
    reasons = why_not(request)
    if not reasons:
        return Ready()
    response.status_code = 503
    return Ready(status="not_ready", reasons=reasons)


def why_not(request: Request) -> list[str]:
    """Return the reasons not to send visitors here; empty if there is none."""
    server: Server | None = getattr(request.app.state, "server", None)
    if server is None:
        return ["starting"]
    reasons = ["draining"] if server.draining else []
    return [*reasons, "backend_away"] if server.backend_health.away else reasons
