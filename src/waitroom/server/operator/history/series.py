"""Samples of a room's last hours in the operator API: one every few seconds."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, create_model

from waitroom.engine import MOST_SAMPLES
from waitroom.history import COUNTERS, PEOPLE
from waitroom.server.context import Here
from waitroom.server.http.auth import Viewer
from waitroom.server.http.openapi import RoomName
from waitroom.server.operator.api import Shown, api_router

router = api_router(409)


_NUMBERS: dict[str, Any] = dict.fromkeys(("at_ms", *PEOPLE, *COUNTERS), (int, ...))
SampleBody: type[Shown] = create_model(
    "SampleBody",
    __base__=Shown,
    __doc__="A room at a moment; the counters go up only.",
    **_NUMBERS,
)


class SeriesBody(BaseModel):
    """Samples, oldest first."""

    samples: list[SampleBody]  # type: ignore[valid-type]


@router.get("/rooms/{room}/series", operation_id="getSeries")
async def series(
    server: Here, _: Viewer, room: RoomName, minutes: Annotated[int, Query(ge=1, le=1440)] = 60
) -> SeriesBody:
    """Return samples of the last minutes, oldest first."""
    now_ms = (await server.engine.stats(room)).now_ms
    samples = await server.engine.series(
        room, since_ms=now_ms - minutes * 60_000, limit=MOST_SAMPLES
    )
    return SeriesBody(samples=[SampleBody.of(sample) for sample in samples])
