"""`/healthz` asks nothing of anybody, `/readyz` says why visitors should not come."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import httpx2
from fastapi import FastAPI

from tests.support.servers import start_server, wait_for
from tests.support.serving import SOON_AWAY, Serving, serving
from waitroom.server.process import health


def eventually(server: Serving, status: int, reasons: list[str], within_s: float = 60) -> None:
    """Wait until `/readyz` answers this."""
    deadline = time.monotonic() + within_s
    while True:
        answer = httpx2.get(f"{server.base}/readyz")
        state = (answer.status_code, answer.json()["reasons"])
        if state == (status, reasons):
            return
        assert time.monotonic() < deadline, f"{state}, not {(status, reasons)}"
        time.sleep(0.02)


def test_a_running_server_is_alive_and_ready(http: httpx2.Client) -> None:
    """Both answer 200, and nobody may cache the answer."""
    for path, expected in (("/healthz", {"status": "ok"}), ("/readyz", {"status": "ready"})):
        answer = http.get(path)
        assert 200 == answer.status_code
        assert expected["status"] == answer.json()["status"]
        assert "no-store" == answer.headers["cache-control"]


async def test_before_start_up_is_done_it_is_not_ready() -> None:
    """A process that has not opened its server yet is alive, and not ready."""
    app = FastAPI()
    app.include_router(health.router)
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
        assert 200 == (await client.get("/healthz")).status_code
        answer = await client.get("/readyz")
    assert (503, ["starting"]) == (answer.status_code, answer.json()["reasons"])


def test_a_backend_that_is_away_takes_nobody_out_of_service(tmp_path: Path) -> None:
    """While it hangs, both are 200, because `when_away` has an answer; `/healthz` says so."""
    with (
        start_server("valkey", tmp_path / "backend") as backend,
        serving(tmp_path, redis_url=backend.url, **SOON_AWAY) as server,
    ):

        def sees(state: str) -> bool:
            return bool(httpx2.get(f"{server.base}/healthz").json()["backend"] == state)

        wait_for(lambda: sees("up"), "a backend that is up")
        os.kill(backend.pid, signal.SIGSTOP)
        try:
            wait_for(lambda: sees("away"), "a backend that is away")
            assert 200 == httpx2.get(f"{server.base}/healthz").status_code
            eventually(server, 200, [])
        finally:
            os.kill(backend.pid, signal.SIGCONT)
        wait_for(lambda: sees("up"), "its return")


def test_a_draining_server_is_not_ready(tmp_path: Path) -> None:
    """After SIGTERM it keeps answering for `drain_s`, and `/readyz` says that it drains."""
    with serving(tmp_path, drain_s=60) as server:
        server.process.send_signal(signal.SIGTERM)
        eventually(server, 503, ["draining"])
        assert 200 == httpx2.get(f"{server.base}/healthz").status_code
        assert 0 == server.stop()  # a second signal ends the drain
