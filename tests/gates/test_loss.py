"""After a loss of state the gates say who is inside, so that no place is given twice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.gates.conftest import Sign
from tests.gates.sites import GATES, site
from tests.support.clients import ask, request
from tests.support.in_process import serving_here
from tests.support.servers import Server, start_server, wait_for
from tests.support.serving import ADMIN, Serving, serving
from waitroom.engine.keys import room_key
from waitroom.gates import sessions
from waitroom.gates.announcements import Announcements
from waitroom.gates.gate import Gate
from waitroom.gates.options import Options
from waitroom.gates.remote import Remote
from waitroom.models import Policy
from waitroom.server.http.rate_limits import Buckets
from waitroom.web.names import MOST_PASSES

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
    """An offline gate notices the loss by itself; nobody is admitted beyond those inside."""
    monkeypatch.setattr(sessions, "WATCH_S", 0.5)
    base = f"{fragile.base}/v1/rooms/{ROOM}/tickets"
    fragile.new_room(ROOM, capacity=CAPACITY, session_s=600, recover_s=600)
    people = [httpx2.post(base, json={"enter": True}).json() for _ in range(CAPACITY + 3)]
    passes = [person["pass"] for person in people if person["state"] == "inside"]
    assert CAPACITY == len(passes)

    with (
        site("wsgi", Options(fragile.base, {"/concert": ROOM}, deadline_s=5)) as port,
        fragile.operator() as operator,
    ):

        def all_are_back() -> bool:
            for text in passes:
                assert 200 == ask(port, request("GET", "/concert", {"waitroom-pass": text})).status
            for person in people:
                httpx2.get(f"{base}/{person['ticket']}", timeout=60)
            return numbers(fragile.base) == (3, 0, CAPACITY)

        assert numbers(fragile.base) == (3, 0, CAPACITY)
        store.command("FLUSHALL")
        wait_for(all_are_back, "everybody, in their place")
        refused = [operator.post(f"/v1/admin/rooms/{ROOM}/admit", json={"count": 3})]
        store.command("HSET", room_key(ROOM, "meta"), "hold_until", 0)
        refused.append(operator.post(f"/v1/admin/rooms/{ROOM}/admit", json={"count": 3}))
        assert ["holding", "no_capacity"] == [reply.json()["code"] for reply in refused]
        assert numbers(fragile.base) == (3, 0, CAPACITY)
        assert GATES[0].verifier.live(ROOM, time.time())


def numbers(base: str) -> tuple[int, int, int]:
    """Return how many wait, are called and are inside; nobody, while the room is missing."""
    path = f"{base}/v1/admin/rooms/{ROOM}/stats"
    stats = httpx2.get(path, headers=ADMIN, timeout=60).json()
    return stats.get("waiting", 0), stats.get("called", 0), stats.get("inside", 0)


def enter(base: str) -> str:
    """Go inside; return the pass."""
    view = httpx2.post(f"{base}/v1/rooms/{ROOM}/tickets", json={"enter": True}, timeout=60).json()
    assert "inside" == view["state"]
    return str(view["pass"])


def test_a_gate_with_a_thousand_sessions(fragile: Serving, store: Server, sign: Sign) -> None:
    """All of them come back, batch after batch."""
    many = 1_000
    fragile.new_room(ROOM, capacity=many, session_s=600, recover_s=600)
    enter(fragile.base)
    gate = Gate(Options(fragile.base, {"/concert": ROOM}, deadline_s=5))
    gate.verifier.load(httpx2.get(f"{fragile.base}/.well-known/jwks.json", timeout=60).json())
    ends_s = int(time.time()) + 600
    for sid in range(2, many + 2):
        text = sign(ROOM, f"{sid:016}", sid, ends_s=ends_s)
        assert gate.verifier.read(ROOM, text, time.time()) is not None
    store.command("FLUSHALL")

    def all_are_back() -> bool:
        gate.sessions.tidy(time.monotonic())  # as requests to the site cause it to
        return numbers(fragile.base)[-1] == many

    wait_for(all_are_back, "all sessions")
    gate.close()


async def test_nothing_is_lost_while_waitroom_asks_to_wait(store: Server, tmp_path: Path) -> None:
    """A gate that is told to come later keeps its passes, and sends them when it may."""
    now = 0.0
    async with serving_here(store.url, tmp_path) as (server, base):
        server.announces = Buckets(60, 1, clock=lambda: now)
        await server.engine.create(ROOM, Policy(capacity=9, session_s=600, recover_s=600))
        text = await asyncio.to_thread(enter, base)
        await asyncio.to_thread(store.command, "FLUSHALL")
        remote = Remote(base, 5, 60)
        outbox = Announcements(remote)

        outbox.add(["forged"] * MOST_PASSES + [text])  # two batches, and the second is refused

        def refused() -> bool:
            limited = server.counters.snapshot()["limited"]
            return limited == {"announces": [1]} and not outbox.empty

        def sent() -> bool:
            outbox.send()  # as `tidy` does
            return outbox.empty and numbers(base)[-1] == 1

        await asyncio.to_thread(wait_for, refused, "a refusal")
        assert 0 == (await server.engine.stats(ROOM)).inside
        now = 60.0
        await asyncio.to_thread(wait_for, sent, "the rest")
        await asyncio.to_thread(remote.close)


def test_a_refusal_is_in_the_log_once(fragile: Serving, caplog: pytest.LogCaptureFixture) -> None:
    """A gate behind a proxy that blocks this request says so, and does not try for ever."""
    remote = Remote(f"{fragile.base}/v1/admin", 5, 60)  # nothing accepts announcements there
    outbox = Announcements(remote)
    outbox.add(["a"] * (3 * MOST_PASSES))
    wait_for(lambda: "inner address" in caplog.text, "a warning")
    assert outbox.empty
    remote.close()
    assert 1 == caplog.text.count("inner address")
