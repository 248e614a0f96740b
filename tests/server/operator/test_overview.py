"""The overview of the operator page: true at first sight, and all rooms in the order of need."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.servers import Server as Backend
from tests.support.servers import start_server
from tests.support.serving import ADMIN_KEY, SECRET
from waitroom.models import preset
from waitroom.server.app import App
from waitroom.server.context import Server
from waitroom.server.operator import fresh_boards
from waitroom.server.operator.fresh_boards import Missing
from waitroom.server.operator.overview import views
from waitroom.server.operator.room_view import RoomView
from waitroom.settings import Settings

TEN_MINUTES_S = 600.0


@contextlib.asynccontextmanager
async def opened(url: str, folder: Path, away_after_s: float = 30) -> AsyncIterator[App]:
    """Run a server in this process, so that a test can age what it knows."""
    settings = Settings(
        redis_url=url,
        secret=SECRET,
        data_dir=folder,
        admin_key=ADMIN_KEY,
        answer_within_s=30,
        away_after_s=away_after_s,
    )
    app = App(settings)
    async with app.life():
        yield app


@contextlib.asynccontextmanager
async def signed_in(app: App) -> AsyncIterator[httpx.AsyncClient]:
    """Return a browser, as far as cookies go, of somebody who is signed in to that server."""
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as page:
        answer = await page.post("/admin/sign-in", data={"key": ADMIN_KEY})
        assert 303 == answer.status_code
        yield page


async def quiet_rooms(server: Server, count: int) -> list[str]:
    """Make rooms that somebody looked at ten minutes ago, and nobody since."""
    names = [f"quiet-{secrets.token_hex(6)}" for _ in range(count)]
    for name in names:
        await server.engine.create(name, preset("slots", capacity=2))
        board = await server.boards.get(name)
        board.fresh_at -= TEN_MINUTES_S
        board.wanted_at -= TEN_MINUTES_S
    return names


async def test_ten_quiet_minutes_are_no_alarm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fresh page shows the numbers of now, not old ones in red; so does a room never seen."""
    monkeypatch.setattr(fresh_boards, "PATIENCE_S", 60.0)  # whatever the machine does meanwhile
    with start_server("valkey", tmp_path) as backend:
        async with opened(backend.url, tmp_path) as app, signed_in(app) as page:
            names = await quiet_rooms(app.server, 3)
            unseen = f"unseen-{secrets.token_hex(6)}"
            await app.server.engine.create(unseen, preset("slots", capacity=2))
            shown = (await page.get("/admin")).text
    assert "All is well" in shown
    assert all(name in shown for name in [*names, unseen])
    assert " s old" not in shown
    assert '<a href="?only=need">0</a>' in shown
    assert 'class="note bad"><' not in shown


async def test_a_backend_that_hangs_is_an_alarm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page waits a moment only, then shows old numbers as old, and what is missing as such."""
    monkeypatch.setattr(fresh_boards, "PATIENCE_S", 0.05)
    with start_server("valkey", tmp_path) as backend:
        async with opened(backend.url, tmp_path, away_after_s=0.5) as app, signed_in(app) as page:
            (known,) = await quiet_rooms(app.server, 1)
            with hanging(backend):
                old, unseen = await views(app.server, [known, "never-seen"])
                answer = await page.get("/admin")
    assert isinstance(old, RoomView)
    assert ("bad", Missing("never-seen", "")) == (old.level, unseen)
    assert (503, True) == (answer.status_code, "Redis does not answer" in answer.text)


@contextlib.contextmanager
def hanging(backend: Backend) -> Iterator[None]:
    """Let a backend hang while the block runs."""
    os.kill(backend.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(backend.pid, signal.SIGCONT)
