"""One account, one place: on 50 devices, in 8 processes, through rotations; and nobody is named."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
import redis

from tests.gates.sites import site
from tests.support.clients import ask, request
from tests.support.servers import Server, start_server, wait_for
from tests.support.serving import Serving, serving
from waitroom.accounts import ClaimKey
from waitroom.gates.options import Options
from waitroom.tickets import KeyRing

OLD, NEW = "the-older-secret-of-accounts-" + "o" * 32, "the-newer-secret-of-accounts-" + "n" * 32
ANN = "ann.of.the.accounts@example.com"
DEVICES, PROCESSES = 50, 8
ROOM = "accounts"


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[Server]:
    """Run a server of our own: it is searched as a whole."""
    with start_server("valkey", tmp_path / "valkey") as server:
        yield server


def joined(served: Serving, claims: list[str]) -> set[tuple[str, int]]:
    """Let a device join with each claim, all at once; return the tickets' ids and positions."""

    def join(claim: str) -> tuple[str, int]:
        path = f"{served.base}/v1/rooms/{ROOM}/tickets"
        answer = httpx2.post(path, json={"claim": claim}, timeout=60)
        assert answer.status_code in (200, 201), answer.text
        view = answer.json()
        return KeyRing.from_text(f"{NEW},{OLD}").read(ROOM, view["ticket"]).id, view["position"]

    with ThreadPoolExecutor(DEVICES) as pool:
        return set(pool.map(join, claims))


def claims_of(key: ClaimKey, number: int) -> list[str]:
    """Return claims of ann's, one for each device."""
    account = key.account(ROOM, ANN)
    return [key.claim(ROOM, account, time.time()) for _ in range(number)]


@pytest.mark.attack
def test_one_place_on_every_device_and_through_rotations(tmp_path: Path, backend: Server) -> None:
    """50 devices in 8 processes; then a new secret in front, a renewed key, and the old one's end.

    Whichever key a gate still has, and whichever process answers, the account has one place.
    """
    first = KeyRing.from_text(OLD).claim_key(ROOM)
    renewed = KeyRing.from_text(f"{NEW},{OLD}").claim_key(ROOM, first)
    assert first != renewed
    half = DEVICES // 2
    common: dict[str, Any] = {"redis_url": backend.url, "workers": PROCESSES}
    places = set()
    with serving(tmp_path, secret=OLD, **common) as served:
        assert PROCESSES == len(served.workers)
        served.new_room(ROOM, mode="paused", needs="identity")
        places |= joined(served, claims_of(first, DEVICES))
    with serving(tmp_path, secret=f"{NEW},{OLD}", **common) as served:
        places |= joined(served, claims_of(first, half) + claims_of(renewed, half))
    with serving(tmp_path, secret=NEW, **common | {"workers": 1}) as served:
        places |= joined(served, claims_of(renewed, DEVICES))
        with served.operator() as operator:
            stats = operator.get(f"/v1/admin/rooms/{ROOM}/stats").json()
    assert {(first.account(ROOM, ANN), 1)} == places
    assert (1, 1) == (stats["waiting"], stats["counters"]["joined"])


def test_a_claim_is_used_once_in_all_processes(tmp_path: Path, backend: Server) -> None:
    """One claim, sent by 50 clients at once to two processes: one gets a place, 49 are refused."""
    key = KeyRing.from_text(OLD).claim_key(ROOM)
    with serving(tmp_path, secret=OLD, redis_url=backend.url, workers=2) as served:
        served.new_room(ROOM, mode="paused")
        (claim,) = claims_of(key, 1)

        def join(_: int) -> int:
            path = f"{served.base}/v1/rooms/{ROOM}/tickets"
            return httpx2.post(path, json={"claim": claim}, timeout=60).status_code

        with ThreadPoolExecutor(DEVICES) as pool:
            statuses = sorted(pool.map(join, range(DEVICES)))
    assert [201] + [403] * (DEVICES - 1) == statuses


def user_of(environ: Mapping[str, Any]) -> str | None:
    """Return who has signed in, by a header that stands for a site's session."""
    return environ.get("HTTP_X_USER")


@pytest.mark.attack
def test_nobody_is_named(tmp_path: Path, backend: Server) -> None:
    """From the site through the form to the place, and on: no user id in Redis, logs or events."""
    archive = tmp_path / "archive"
    with serving(tmp_path, secret=OLD, redis_url=backend.url, archive=archive) as served:
        served.new_room(ROOM, capacity=1, go_to="http://shop.test/concert", needs="identity")
        options = Options(
            served.base,
            {"/concert": ROOM},
            hosts=["shop.test"],
            identity=user_of,
            claim_key=KeyRing.from_text(OLD).claim_key(ROOM).text(),
            deadline_s=5,
        )
        with site("wsgi", options) as port:
            reply = ask(port, request("GET", "/concert", {"x-user": ANN, "accept": "text/html"}))
        text = reply.body.decode()
        action, claim = (
            html.unescape(re.search(pattern, text)[1])  # type: ignore[index]
            for pattern in (r'action="([^"]+)"', r'name="claim" value="([^"]+)"')
        )
        with httpx2.Client(timeout=60) as browser:
            origin = {"origin": "http://shop.test", "sec-fetch-site": "same-site"}
            sent = browser.post(action, data={"claim": claim}, headers=origin)
            browser.post(f"{served.base}/v1/rooms/{ROOM}/tickets/me/enter").raise_for_status()
            browser.post(f"{served.base}/v1/rooms/{ROOM}/tickets/me/finish").raise_for_status()
        wait_for(lambda: bool(_told(archive)), "the archive")
        seen = "\n".join(
            [text, str(reply.headers), action, str(sent.headers), served.said(), _told(archive)]
        )
    with redis.Redis.from_url(backend.url) as client:
        seen += "\n".join(f"{key!r} {_value(client, key)!r}" for key in client.scan_iter())
    account = KeyRing.from_text(OLD).claim_key(ROOM).account(ROOM, ANN)
    assert account in seen  # we look in the right places
    for word in (ANN, "ann.of", ANN.encode().hex(), "YW5uLm9m"):
        assert word not in seen
    assert claim not in served.said() + _told(archive)


def _told(archive: Path) -> str:
    """Return the events that were written, once the session has ended in them."""
    text = "".join(path.read_text("utf-8") for path in archive.rglob("*.ndjson"))
    return text if '"people.ended"' in text else ""


def _value(client: redis.Redis, key: bytes) -> object:
    """Return everything that a key holds."""
    kind = client.type(key)
    if kind == b"hash":
        return client.hgetall(key)
    if kind == b"zset":
        return client.zrange(key, 0, -1, withscores=True)
    if kind == b"set":
        return client.smembers(key)
    return client.xrange(key) if kind == b"stream" else client.get(key)
