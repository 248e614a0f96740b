"""The app is plain ASGI: under another server it gives the same answers, without the lane."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
import uvicorn

from tests.support.servers import Server as Backend
from tests.support.servers import free_port, wait_for
from tests.support.serving import ADMIN_KEY, SECRET, serving
from waitroom.server.app import create
from waitroom.settings import Settings

OPERATOR = {"Authorization": f"Bearer {ADMIN_KEY}"}


@pytest.fixture
def under_uvicorn(valkey: Backend, tmp_path: Path) -> Iterator[str]:
    """Run the app under uvicorn."""
    port = free_port()
    settings = Settings(
        redis_url=valkey.url,
        data_dir=tmp_path,
        secret=SECRET,
        admin_key=ADMIN_KEY,
        port=port,
        poll_within_s=30,
        answer_within_s=30,
        away_after_s=30,
    )
    config = uvicorn.Config(create(settings), port=port, log_level="error", lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=asyncio.run, args=(server.serve(),))
    thread.start()
    wait_for(lambda: server.started, "uvicorn")
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


def visit(base: str, room: str) -> list[tuple[int, object]]:
    """Go through a visit, and return the statuses and states."""
    with httpx2.Client(base_url=base, timeout=60) as client:
        policy = {"name": room, "policy": {"capacity": 1, "session_s": 60}}
        made = client.post("/v1/admin/rooms", json=policy, headers=OPERATOR)
        joined = client.post(f"/v1/rooms/{room}/tickets")
        path = f"/v1/rooms/{room}/tickets/{joined.json()['ticket']}"
        answers = [made, joined, client.get(path), client.post(f"{path}/enter")]
        check = {"Authorization": f"Bearer {answers[-1].json()['pass']}"}
        answers += [
            client.get("/v1/check", headers=check),
            client.post(f"{path}/finish"),
            client.get(path),
            client.get(f"{path}/events"),
            client.get(f"/rooms/{room}"),
            client.post(f"/v1/rooms/{room}/tickets", content=b"x" * 20_000),
            client.head("/healthz"),
        ]
        return [(answer.status_code, _state(answer)) for answer in answers]


def _state(answer: httpx2.Response) -> object:
    if not answer.content or "json" not in answer.headers["content-type"]:
        return answer.headers.get("content-type")
    body = answer.json()
    return body.get("state") or body.get("code")


def test_the_same_answers_under_uvicorn(
    under_uvicorn: str, valkey: Backend, tmp_path: Path
) -> None:
    """A visit from the first request to the last, on both."""
    with serving(tmp_path, redis_url=valkey.url) as ours:
        assert visit(ours.base, "ours") == visit(under_uvicorn, "theirs")
