"""After a loss of state the gates say who is inside, so that no place is given twice."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.gates.sites import GATES, site
from tests.support.clients import ask, request
from tests.support.counts import count
from tests.support.figures import say
from tests.support.servers import Server, start_server
from tests.support.serving import ADMIN, Serving, serving
from waitroom.gates import sessions
from waitroom.gates.options import Options

ROOM = "concert"
CAPACITY = 5


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Server]:
    """Run a Valkey that may be emptied."""
    (tmp_path / "store").mkdir()
    with start_server("valkey", tmp_path / "store") as server:
        yield server


@pytest.fixture
def fragile(tmp_path: Path, store: Server) -> Iterator[Serving]:
    """Run a Waitroom on it."""
    with serving(tmp_path, redis_url=store.url) as server:
        yield server


def test_gates_announce_the_sessions_they_see(
    fragile: Serving, store: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An offline gate notices the loss by itself; nobody is let in on top of those inside."""
    monkeypatch.setattr(sessions, "WATCH_S", 0.5)
    base = f"{fragile.base}/v1/rooms/{ROOM}/tickets"
    policy = {"capacity": CAPACITY, "session_s": 120, "recover_s": count("loss_recover_s")}
    fragile.new_room(ROOM, **policy)
    people = [httpx.post(base, json={"enter": True}).json() for _ in range(CAPACITY + 3)]
    passes = [person["pass"] for person in people if person["state"] == "inside"]
    assert CAPACITY == len(passes)

    with site("wsgi", Options(fragile.base, {"/concert": ROOM}, deadline_s=2)) as port:

        def all_ask() -> set[int]:
            sent = (request("GET", "/concert", {"waitroom-pass": text}) for text in passes)
            return {ask(port, text).status for text in sent}

        assert {200} == all_ask()
        store.command("FLUSHALL")
        worst, ends = 0, time.monotonic() + count("loss_recover_s") + 4
        while time.monotonic() < ends:
            assert {200} == all_ask()
            for person in people:
                httpx.get(f"{base}/{person['ticket']}", timeout=5)
            room = httpx.get(f"{fragile.base}/v1/admin/rooms/{ROOM}", headers=ADMIN)
            if room.status_code == 200:
                stats = room.json()["stats"]
                worst = max(worst, stats["inside"] + stats["called"])
            time.sleep(0.3)
        say(f"the most inside and called after the loss: {worst} of {CAPACITY}")
        assert CAPACITY == worst
        assert GATES[0].verifier.live(ROOM, time.time())
