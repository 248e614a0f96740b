"""Announcing passes after a loss of state: what comes back, what is ignored, what it costs.

The server's own metrics count the scripts, as an operator would see them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.clients import metric, scrape
from tests.support.in_process import serving_here
from tests.support.servers import Server as Backend
from tests.support.servers import start_server
from tests.support.serving import SECRET, Serving, serving
from waitroom.passes import PassKeys
from waitroom.server.http.rate_limits import Buckets
from waitroom.server.lifecycle import ANNOUNCES_AT_ONCE, ANNOUNCES_PER_MINUTE
from waitroom.server.rooms.passes import Passes
from waitroom.server.site import announcing
from waitroom.web.names import MOST_PASSES

CALLS = "waitroom_backend_call_seconds_count"
KEYS = PassKeys.derive(SECRET)


@pytest.fixture
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    """Run a Valkey that may be emptied."""
    with start_server("valkey", tmp_path_factory.mktemp("backend")) as server:
        yield server


@pytest.fixture
def fragile(tmp_path_factory: pytest.TempPathFactory, backend: Backend) -> Iterator[Serving]:
    """Run a server on it."""
    with serving(tmp_path_factory.mktemp("fragile"), redis_url=backend.url) as server:
        yield server


def enter(server: Serving, room: str, people: int = 1) -> list[dict[str, Any]]:
    """Admit people; return their tickets."""
    with httpx2.Client(base_url=server.base, timeout=20) as http:
        url = f"/v1/rooms/{room}/tickets"
        views = [http.post(url, json={"enter": True}).json() for _ in range(people)]
    assert ["inside"] * people == [view["state"] for view in views]
    return views


def announce(server: Serving, passes: list[str]) -> httpx2.Response:
    """Announce passes as a gate does."""
    return httpx2.post(f"{server.base}/v1/passes/announce", json={"passes": passes}, timeout=20)


def calls(server: Serving, verb: str) -> int:
    """Return how many scripts of a verb have run."""
    return int(metric(scrape(server.port), CALLS, verb=verb))


def inside(server: Serving, room: str) -> int:
    """Return how many are inside, as the operator sees it."""
    with server.operator() as operator:
        return int(operator.get(f"/v1/admin/rooms/{room}/stats").json()["inside"])


def sign(room: str, sid: int, *, ends_in_s: int = 60) -> str:
    """Return a pass that the server accepts as its own."""
    now_s = int(time.time())
    return KEYS.sign(room, f"{sid:016}", sid, now_s, now_s + ends_in_s, "waitroom")


def test_lost_sessions_come_back_while_the_room_holds(fragile: Serving, backend: Backend) -> None:
    """They are inside again, and newcomers wait meanwhile; a finished session stays finished."""
    room = fragile.new_room(capacity=2, session_s=300, recover_s=600)
    passes = [view["pass"] for view in enter(fragile, room, 2)]
    backend.command("FLUSHALL")
    for text in passes:
        bearer = {"authorization": f"Bearer {text}"}
        assert 204 == httpx2.get(f"{fragile.base}/v1/check", headers=bearer).status_code

    assert {"inside": 2} == announce(fragile, [*passes, "forged"]).json()

    late = httpx2.post(f"{fragile.base}/v1/rooms/{room}/tickets", json={"enter": True}).json()
    assert ("waiting", 2) == (late["state"], inside(fragile, room))
    bearer = {"authorization": f"Bearer {passes[0]}"}
    httpx2.post(f"{fragile.base}/v1/passes/finish", headers=bearer).raise_for_status()
    assert {"inside": 1} == announce(fragile, passes).json()
    assert 1 == inside(fragile, room)


@pytest.mark.attack
def test_who_was_removed_does_not_get_in_by_a_loss(fragile: Serving, backend: Backend) -> None:
    """While the room holds, a pass of a kicked or finished session is refused; others are not."""
    room = fragile.new_room(capacity=3, session_s=300, recover_s=600)
    kicked, finished, honest = enter(fragile, room, 3)
    with fragile.operator() as operator:
        ids = {"ticket_ids": [kicked["ticket"][24:40]]}
        operator.post(f"/v1/admin/rooms/{room}/kick", json=ids).raise_for_status()
    bearer = {"authorization": f"Bearer {finished['pass']}"}
    httpx2.post(f"{fragile.base}/v1/passes/finish", headers=bearer).raise_for_status()
    backend.command("FLUSHALL")

    def check(view: dict[str, Any]) -> int:
        headers = {"authorization": f"Bearer {view['pass']}"}
        return httpx2.get(f"{fragile.base}/v1/check", headers=headers, timeout=20).status_code

    assert [401, 401, 204] == [check(view) for view in (kicked, finished, honest)]
    assert {"inside": 0} == announce(fragile, [kicked["pass"], finished["pass"]]).json()
    assert {"inside": 1} == announce(fragile, [honest["pass"]]).json()


def test_copies_and_longer_passes_are_one_session(fragile: Serving, backend: Backend) -> None:
    """Each lost session costs one script, however often and with whichever pass it is announced."""
    room = fragile.new_room(capacity=20, session_s=300, recover_s=600)
    enter(fragile, room)  # otherwise there would be nothing to lose
    backend.command("FLUSHALL")
    assert 0 == inside(fragile, room)  # the loss is noticed here, not by a call that is counted
    short, long = sign(room, 7, ends_in_s=30), sign(room, 7, ends_in_s=90)
    before = calls(fragile, "renew"), calls(fragile, "check")

    reply = announce(fragile, [short] * 10 + [long] * 10 + [short] * 10 + [sign(room, 8)] * 10)

    assert {"inside": 2} == reply.json()
    assert (2, 1) == (
        calls(fragile, "renew") - before[0],
        calls(fragile, "check") - before[1],
    )
    with fragile.operator() as operator:
        rows = operator.get(f"/v1/admin/rooms/{room}/tickets?state=inside").json()["tickets"]
    assert 2 == len(rows)


def test_nothing_is_written_while_a_room_does_not_hold(served: Serving) -> None:
    """Passes of sessions inside are counted, others not; one read for all, no write."""
    room = served.new_room(capacity=5, session_s=300)
    passes = [view["pass"] for view in enter(served, room, 3)]
    before = calls(served, "renew"), calls(served, "check")

    reply = announce(served, [*passes, *(sign(room, sid) for sid in range(100, 120))])

    assert {"inside": 3} == reply.json()
    assert (before[0], before[1] + 1) == (calls(served, "renew"), calls(served, "check"))
    assert 3 == inside(served, room)


def test_what_proves_no_session_counts_for_nothing(served: Serving) -> None:
    """Forged, over, of an unknown room, or issued while the backend was away: no script."""
    room = served.new_room(capacity=5, session_s=300)
    (view,) = enter(served, room)
    forged = view["pass"][:-4] + "AAAA"
    before = calls(served, "check"), calls(served, "renew")
    worthless = [forged, "", "x.y.z", sign(room, 5, ends_in_s=-60), sign(room, 0)]

    assert {"inside": 0} == announce(served, worthless).json()
    assert before == (calls(served, "check"), calls(served, "renew"))
    assert {"inside": 1} == announce(served, [sign("nowhere", 3), view["pass"]]).json()


def test_how_many_passes_one_request_takes(served: Serving) -> None:
    """Fifty, and the signature of a fifty-first is not even checked."""
    assert 200 == announce(served, ["x"] * MOST_PASSES).status_code
    reply = announce(served, ["x"] * (MOST_PASSES + 1))
    assert (422, "passes") == (reply.status_code, reply.json()["field"])


async def test_signatures_leave_the_event_loop_to_others() -> None:
    """Everybody else gets a turn after every few signatures."""
    turns = 0

    async def take_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(take_turns())
    texts = [sign("concert", sid) for sid in range(1, MOST_PASSES + 1)]
    sessions = await announcing.sessions_of(Passes(KEYS, "waitroom"), texts)
    other.cancel()
    assert MOST_PASSES == len(sessions)
    assert turns >= MOST_PASSES // announcing.SIGNATURES_PER_TURN


async def test_an_address_that_announces_all_the_time_waits(
    valkey: Backend, tmp_path: Path
) -> None:
    """After a burst it is told when to come again; other addresses do not notice."""
    now, path, body = 0.0, "/v1/passes/announce", {"passes": ["forged"]}
    elsewhere = httpx2.AsyncHTTPTransport(local_address="127.0.0.9")
    async with (
        serving_here(valkey.url, tmp_path) as (server, base),
        httpx2.AsyncClient(base_url=base, timeout=20) as gate,
        httpx2.AsyncClient(base_url=base, timeout=20, transport=elsewhere) as other,
    ):
        server.announces = Buckets(12, 3, clock=lambda: now)
        replies = [await gate.post(path, json=body) for _ in range(5)]
        assert [200, 200, 200, 429, 429] == [reply.status_code for reply in replies]
        refusal = replies[-1]
        assert ("5", "too_many_requests") == (
            refusal.headers["retry-after"],
            refusal.json()["code"],
        )
        assert {"announces": [2]} == server.counters.snapshot()["limited"]
        assert 200 == (await other.post(path, json=body)).status_code
        now = 5.0
        assert 200 == (await gate.post(path, json=body)).status_code


def test_a_gate_with_ten_thousand_sessions_is_not_limited() -> None:
    """They fit into an address's burst; the rest follows at a thousand a second."""
    assert 10_000 <= ANNOUNCES_AT_ONCE * MOST_PASSES
    assert 1_000 <= ANNOUNCES_PER_MINUTE / 60 * MOST_PASSES
