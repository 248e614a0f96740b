"""What the framework answers is counted by the route's template."""

from __future__ import annotations

import logging

import httpx2
import pytest
from fastapi import APIRouter, FastAPI
from fastapi.responses import StreamingResponse

from waitroom.server.counters.worker import Counters
from waitroom.server.metrics.middleware import counted


@pytest.fixture
def counters() -> Counters:
    """What was counted."""
    return Counters()


@pytest.fixture
def client(counters: Counters) -> httpx2.AsyncClient:
    """Query an app with its own route, one in a router, one that breaks and one that streams."""
    app, router = FastAPI(), APIRouter(prefix="/v1")

    @app.get("/rooms/{room}")
    async def room(room: str) -> str:
        return room

    @router.post("/rooms/{room}/admit", status_code=201)
    async def admit(room: str) -> str:
        return room

    @router.get("/broken")
    async def broken() -> str:
        raise RuntimeError

    @router.get("/stream")
    async def stream() -> StreamingResponse:
        return StreamingResponse(iter(["data: x\n\n"]), media_type="text/event-stream")

    app.include_router(router)
    transport = httpx2.ASGITransport(counted(app, lambda: counters), raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url="http://test")


def counts(counters: Counters) -> dict[str, int]:
    """Return how many requests there were by route and status."""
    return {label: int(sum(row[:-1])) for label, row in counters.snapshot()["requests"].items()}


async def test_paths_become_templates(client: httpx2.AsyncClient, counters: Counters) -> None:
    """A thousand paths share one label, and unknown ones share another."""
    async with client:
        for n in range(50):
            await client.get(f"/rooms/{n}")
            await client.get(f"/nobody/{n}")
        await client.post("/v1/rooms/x/admit")
        await client.request("BREW", "/rooms/x")
    expected = {"GET /rooms/{room} 200": 50, "GET other 404": 50}
    counted = counts(counters)
    assert expected | {"POST /v1/rooms/{room}/admit 201": 1} == {
        label: number for label, number in counted.items() if not label.startswith("other")
    }
    assert 1 == sum(number for label, number in counted.items() if label.startswith("other"))


async def test_an_error_of_ours_is_counted_and_logged(
    client: httpx2.AsyncClient, counters: Counters, caplog: pytest.LogCaptureFixture
) -> None:
    """A handler that breaks is a 500, and one line in the access log."""
    async with client:
        with caplog.at_level(logging.ERROR, "waitroom.access"):
            await client.get("/v1/broken")
    assert {"GET /v1/broken 500": 1} == counts(counters)
    (record,) = (entry for entry in caplog.records if entry.name == "waitroom.access")
    assert ("GET /v1/broken", 500) == (vars(record)["route"], vars(record)["status"])


async def test_streams_have_no_duration(client: httpx2.AsyncClient, counters: Counters) -> None:
    """An event stream lasts as long as its reader likes, so it would distort the times."""
    async with client:
        await client.get("/v1/stream")
    assert {} == counts(counters)


async def test_before_start_up_nothing_is_counted() -> None:
    """A request that comes before the counters exist is still answered."""
    transport = httpx2.ASGITransport(counted(FastAPI(), lambda: None))
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
        assert 404 == (await client.get("/")).status_code
