"""One address cannot flood a room, nor talk its way around the limit."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Iterator

import pytest

from tests.support.clients import Reply, Wire, ask, metric, request, scrape
from tests.support.counts import count
from tests.support.figures import say
from tests.support.serving import ADMIN, Serving, serving

PER_MINUTE = 300
PROXY = "127.0.0.2"
AT_ONCE = 4


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Run a server that trusts one proxy: all of 127/8 is this machine, except that address."""
    given = {"joins_per_minute": PER_MINUTE, "proxies": PROXY, "public_url": "https://w.example"}
    with serving(tmp_path_factory.mktemp("limit"), **given) as server:
        yield server


@pytest.fixture
def path(served: Serving) -> str:
    """Make a room that drops nobody, however long a flood takes; return where to join it."""
    return f"/v1/rooms/{served.new_room(mode='paused', presence_s=None)}/tickets"


async def flood(
    served: Serving, path: str, *, forwarded: str | None = None, source: str = "127.0.0.1"
) -> tuple[list[Reply], float]:
    """Join as often and as fast as one address can; `%` in `forwarded` differs each time."""
    turns = iter(range(count("joins_from_one")))
    replies: list[Reply] = []

    async def join() -> None:
        async with Wire(served.port, source) as wire:
            for turn in turns:
                address = forwarded and forwarded.replace("%", f"198.51.{turn >> 8}.{turn & 255}")
                headers = {"X-Forwarded-For": address} if address else {}
                replies.append(await wire.ask("POST", path, headers))

    began = time.monotonic()
    await asyncio.gather(*(join() for _ in range(AT_ONCE)))
    return replies, time.monotonic() - began


def accepted(replies: list[Reply], took_s: float) -> int:
    """Return how many were let through; all others were told to come back later."""
    assert {201, 429} == {reply.status for reply in replies}
    refused = [reply for reply in replies if reply.status == 429]
    assert {"too_many_requests"} == {reply.code for reply in refused}
    assert all(1 <= int(reply.header("retry-after") or 0) <= 60 for reply in refused)
    good = len(replies) - len(refused)
    assert PER_MINUTE <= good <= PER_MINUTE + PER_MINUTE / 60 * took_s + 2
    return good


@pytest.mark.attack
async def test_a_flood_from_one_address(served: Serving, path: str) -> None:
    """Beyond the limit: 429 with Retry-After, even with a new made-up X-Forwarded-For each time."""
    before = metric(scrape(served.port), "waitroom_limited_total", limit="joins")
    replies, took_s = await flood(served, path, forwarded="%")
    good = accepted(replies, took_s)
    counted = metric(scrape(served.port), "waitroom_limited_total", limit="joins") - before
    assert len(replies) - good == counted
    ticket = next(reply for reply in replies if reply.status == 201).json()["ticket"]
    assert 200 == ask(served.port, request("GET", f"{path}/{ticket}")).status, "may still poll"
    async with Wire(served.port, PROXY) as wire:
        other = await wire.ask("POST", path, {"X-Forwarded-For": "203.0.113.5"})
        assert (201, good + 1) == (other.status, other.json()["waiting"]), "others still join"
    say(f"{len(replies)} joins from one address in {took_s:.1f} s: {good} accepted")


@pytest.mark.attack
async def test_a_flood_through_the_proxy(served: Serving, path: str) -> None:
    """What the visitor wrote before the proxy's entry does not count."""
    accepted(*await flood(served, path, forwarded="%, 203.0.113.9", source=PROXY))


async def test_a_known_visitor_is_not_limited(served: Serving, path: str) -> None:
    """A site that joins its members with a key may do so for many, from one address."""
    async with Wire(served.port) as wire:
        for number in range(PER_MINUTE // 5):
            body = json.dumps({"visitor": f"member {number}"}).encode()
            assert 201 == (await wire.ask("POST", path, ADMIN, body)).status


def test_cookies_are_secure_where_the_public_url_is(served: Serving, path: str) -> None:
    """Behind https every cookie is Secure, even though the proxy talks http to us."""
    headers = {"Cookie": "a=1", "Idempotency-Key": secrets.token_hex(8), **ADMIN}
    reply = ask(served.port, request("POST", path, headers, b'{"visitor": "x"}'))
    assert ["Secure"] == [cookie.rpartition("; ")[2] for cookie in reply.all("set-cookie")]
