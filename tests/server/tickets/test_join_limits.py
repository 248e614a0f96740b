"""How many new places one address gets: counted per room, by all workers together."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.support.clients import Reply, ask, request
from tests.support.in_process import serving_here
from tests.support.servers import Server as Backend
from tests.support.serving import ADMIN, Serving, serving
from waitroom.models import Policy, WhenAway
from waitroom.server.http.rate_limits import Buckets
from waitroom.web.names import TICKET_COOKIE

PER_MINUTE = 3
TRIES = 12


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Run two workers that trust this machine about addresses."""
    limits = {"joins_per_minute": PER_MINUTE, "proxies": "127.0.0.1", "workers": 2}
    with serving(tmp_path_factory.mktemp("limited"), **limits) as server:
        yield server


@pytest.fixture
def path(limited: Serving) -> str:
    """Make a room, and return where to join it."""
    return f"/v1/rooms/{limited.new_room(mode='paused')}/tickets"


def join(
    served: Serving, path: str, address: str, headers: dict[str, str] | None = None, body: str = ""
) -> Reply:
    """Join on a new connection, which any worker may take."""
    given = {"X-Forwarded-For": address, **(headers or {})}
    return ask(served.port, request("POST", path, given, body.encode()))


def tried(served: Serving, path: str, address: str, headers: dict[str, str]) -> list[Reply]:
    """Join repeatedly; refused joins are told so, and the first few are not refused."""
    began = time.monotonic()
    sources = [address % turn if "%" in address else address for turn in range(1, TRIES + 1)]
    replies = [join(served, path, source, headers) for source in sources]
    refilled = (time.monotonic() - began) * PER_MINUTE / 60
    got = sum(reply.status == 201 for reply in replies)
    assert {201, 429} == {reply.status for reply in replies}
    assert PER_MINUTE <= got <= PER_MINUTE + refilled
    return [reply for reply in replies if reply.status == 429]


@pytest.mark.attack
@pytest.mark.parametrize(
    "address",
    ["192.0.2.1", "2001:db8::%x", "192.0.2.1:%d", "[2001:db8::%x]:443", "::ffff:192.0.2.1"],
)
def test_one_network_gets_its_share_of_a_room(limited: Serving, path: str, address: str) -> None:
    """Neither another worker, nor another address in the /64, nor a port gives more places."""
    refusals = tried(limited, path, address, {})
    assert {"too_many_requests"} == {refusal.code for refusal in refusals}
    waits = [int(refusal.header("retry-after") or 0) for refusal in refusals]
    assert all(1 <= wait <= 60 / PER_MINUTE for wait in waits)
    assert 201 == join(limited, path, "198.51.100.1").status, "others still join"


def test_another_room_has_a_share_of_its_own(limited: Serving, path: str) -> None:
    """Anybody who has used up one room's joins can still join another."""
    tried(limited, path, "192.0.2.1", {})
    other = f"/v1/rooms/{limited.new_room(mode='paused')}/tickets"
    assert 201 == join(limited, other, "192.0.2.1").status


@pytest.mark.attack
def test_a_neighbour_who_returns_is_not_limited(limited: Serving, path: str) -> None:
    """Behind the same NAT a ticket, a repeated key and a known member keep their places."""
    room = path.split("/")[3]
    mine = join(limited, path, "192.0.2.1").json()["ticket"]
    key = {"Idempotency-Key": secrets.token_hex(16)}
    repeated = join(limited, path, "192.0.2.1", key).json()["position"]
    while join(limited, path, "192.0.2.1").status == 201:
        pass
    for _ in range(2 * PER_MINUTE):
        back = join(limited, path, "192.0.2.1", {"Cookie": f"{TICKET_COOKIE}{room}={mine}"})
        assert (200, mine) == (back.status, back.json()["ticket"])
        again = join(limited, path, "192.0.2.1", key)
        assert (200, repeated) == (again.status, again.json()["position"])
        member = join(limited, path, "192.0.2.1", ADMIN, '{"visitor": "kim"}')
        assert member.status in (200, 201)


async def test_while_the_backend_is_away_each_process_counts(
    valkey: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A room that is open while away admits no more from one address than it would otherwise."""
    async with (
        serving_here(valkey.url, tmp_path) as (server, base),
        httpx2.AsyncClient(base_url=base, timeout=20) as http,
    ):
        room = f"t-{secrets.token_hex(6)}"
        await server.engine.create(room, Policy(when_away=WhenAway.OPEN))
        server.joins = Buckets(PER_MINUTE, clock=lambda: 0.0)
        monkeypatch.setattr(server.backend_health, "is_away", lambda _: True)
        replies = [await http.post(f"/v1/rooms/{room}/tickets") for _ in range(PER_MINUTE + 2)]
        assert [200] * PER_MINUTE + [429] * 2 == [reply.status_code for reply in replies]
        assert ("20", "inside") == (replies[-1].headers["retry-after"], replies[0].json()["state"])
        assert {"joins": [2]} == server.counters.snapshot()["limited"]


@pytest.mark.attack
def test_a_forged_ticket_is_no_way_around(limited: Serving, path: str) -> None:
    """A cookie that is not one of our tickets makes nobody a returning visitor."""
    forged = {"Cookie": f"{TICKET_COOKIE}{path.split('/')[3]}=AAAA"}
    assert tried(limited, path, "192.0.2.1", forged)


@pytest.mark.attack
def test_a_new_key_each_time_is_no_way_around(limited: Serving, path: str) -> None:
    """Only a repeated Idempotency-Key is free; each new one is a new place."""
    keys = [{"Idempotency-Key": secrets.token_hex(16)} for _ in range(TRIES)]
    began = time.monotonic()
    replies = [join(limited, path, "192.0.2.1", key).status for key in keys]
    refilled = (time.monotonic() - began) * PER_MINUTE / 60
    assert PER_MINUTE <= replies.count(201) <= PER_MINUTE + refilled
    assert {201, 429} == set(replies)
