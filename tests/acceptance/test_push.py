"""Web Push end to end: two worker processes, a real push service, a browser that reads."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from tests.support.push_service import CONTACT, Browser, PushService, push_service
from tests.support.serving import ADMIN, SECRET, Serving, serving
from waitroom.push.vapid import VapidKey

# The estimate is a minute each, but people are only called by hand: the first keeps the turn.
PACE: dict[str, Any] = {"batch": 1, "every_s": 60, "eta": "batch", "capacity": 1}
PACE |= {"presence_s": None, "enter_within_s": None}
FAR = 8


@dataclass
class Scene:
    """A server that sends push messages, and the push service that receives them."""

    served: Serving
    service: PushService
    http: httpx2.AsyncClient

    async def join(self, room: str) -> dict[str, Any]:
        """Take a place."""
        answer = await self.http.post(f"/v1/rooms/{room}/tickets")
        view: dict[str, Any] = answer.raise_for_status().json()
        return view

    async def subscribe(self, room: str, ticket: str, browser: Browser, **more: Any) -> int:
        """Subscribe a browser; return the status."""
        body = {**browser.json, "lang": "ko", **more}
        path = f"/v1/rooms/{room}/tickets/{ticket}/push"
        return (await self.http.post(path, json=body)).status_code

    async def kick(self, room: str, *codes: str) -> None:
        """Remove people by their codes."""
        path = f"/v1/admin/rooms/{room}/kick"
        (await self.http.post(path, json={"ticket_ids": codes}, headers=ADMIN)).raise_for_status()

    async def call(self, room: str, code: str) -> None:
        """Call somebody by hand."""
        body = {"ticket_id": code, "force": True}
        answer = await self.http.post(f"/v1/admin/rooms/{room}/call", json=body, headers=ADMIN)
        answer.raise_for_status()


@pytest_asyncio.fixture
async def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    """Run both; the server trusts the certificate of the push service."""
    async with push_service(tmp_path) as service:
        monkeypatch.setenv("SSL_CERT_FILE", str(service.certificate))
        hosts = f"127.0.0.1:{service.port}"
        with serving(tmp_path, workers=2, push=CONTACT, push_hosts=hosts) as served:
            async with httpx2.AsyncClient(base_url=served.base, timeout=60) as http:
                yield Scene(served, service, http)


async def test_near_and_called(scene: Scene) -> None:
    """A closed tab is told that its turn is near, then that it has come: each once."""
    room, service = scene.served.new_room(title="Aurora", **PACE), scene.service
    people = [await scene.join(room) for _ in range(FAR)]
    mine, browser = people[-1], service.browser("mine")
    assert 204 == await scene.subscribe(room, mine["ticket"], browser)
    await scene.kick(room, *(person["short_code"] for person in people[1:-1]))
    (near,) = await service.until(1)
    assert "곧 차례가 됩니다" == browser.read(near.body)["title"]
    key = VapidKey.derived(SECRET, CONTACT)
    assert CONTACT == near.claims(key.public, service.origin)["sub"]
    await scene.call(room, mine["short_code"])
    _, called = await service.until(2)
    assert "내 차례입니다" == browser.read(called.body)["title"]
    # A message to somebody else, sent later in the same loop: nothing was sent twice before it.
    other = await scene.join(room)
    assert 204 == await scene.subscribe(room, other["ticket"], service.browser("other"))
    await scene.call(room, other["short_code"])
    await service.until(3)
    assert 2 == [delivery.path for delivery in service.messages].count("/mine")


@pytest.mark.attack
async def test_endpoints_of_attackers(scene: Scene) -> None:
    """No endpoint leads into our network, no ticket subscribes another, and each has only one."""
    room, service = scene.served.new_room(**PACE), scene.service
    first, *_, mine = [await scene.join(room) for _ in range(FAR)]
    for endpoint in (
        "http://169.254.169.254/latest/meta-data",
        "https://169.254.169.254/x",
        f"https://localhost:{scene.served.port}/x",
        f"{scene.served.base}/v1/admin/rooms",
        f"https://127.0.0.1:{service.port}@evil.example/x",
    ):
        assert 422 == await scene.subscribe(room, mine["ticket"], Browser(endpoint))
    browser = service.browser("victim")
    assert 404 == await scene.subscribe(room, mine["ticket"][:-4] + "AAAA", browser)
    assert 404 == await scene.subscribe(room, first["short_code"], browser)
    foreign = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors", "origin": "https://evil"}
    cookie = {"cookie": f"waitroom-ticket-{room}={mine['ticket']}"}
    answer = await scene.http.post(
        f"/v1/rooms/{room}/tickets/me/push", json=browser.json, headers=foreign | cookie
    )
    assert 404 == answer.status_code
    for number in range(30):
        assert 204 == await scene.subscribe(room, mine["ticket"], service.browser(f"{number}"))
    await scene.call(room, mine["short_code"])
    assert ["/29"] == [delivery.path for delivery in await service.until(1)]
    assert 410 == await _gone(scene, room)


async def _gone(scene: Scene, room: str) -> int:
    """Return the answer to a ticket that left."""
    left = await scene.join(room)
    await scene.http.delete(f"/v1/rooms/{room}/tickets/{left['ticket']}")
    return await scene.subscribe(room, left["ticket"], scene.service.browser("left"))


async def test_unsubscribe(scene: Scene) -> None:
    """Somebody who unsubscribed is told nothing."""
    room, service = scene.served.new_room(**PACE), scene.service
    *_, mine, other = [await scene.join(room) for _ in range(FAR)]
    assert 204 == await scene.subscribe(room, mine["ticket"], service.browser("mine"))
    path = f"/v1/rooms/{room}/tickets/{mine['ticket']}/push"
    assert 204 == (await scene.http.delete(path)).status_code
    assert 204 == await scene.subscribe(room, other["ticket"], service.browser("other"))
    await scene.call(room, mine["short_code"])
    await scene.call(room, other["short_code"])
    assert ["/other"] == [delivery.path for delivery in await service.until(1)]


def test_a_server_without_it(served: Serving) -> None:
    """Without the setting nothing is offered: no key on the page, no worker, no subscription."""
    room = served.new_room(mode="paused")
    with httpx2.Client(base_url=served.base, timeout=60) as http:
        ticket = http.post(f"/v1/rooms/{room}/tickets").json()["ticket"]
        body = Browser("https://fcm.googleapis.com/x").json
        refused = http.post(f"/v1/rooms/{room}/tickets/{ticket}/push", json=body)
        assert (409, "no_push") == (refused.status_code, refused.json()["code"])
        assert 404 == http.get(f"/rooms/{room}/push.js").status_code
        page = http.get(f"/rooms/{room}")
        assert '"push"' not in page.text
        assert "worker-src" not in page.headers["content-security-policy"]
