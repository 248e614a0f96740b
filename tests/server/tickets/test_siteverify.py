"""Rooms whose newcomers a service verifies, with a real service of ours: good, bad, slow, down."""

from __future__ import annotations

import asyncio
import secrets
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.server.tickets.test_challenges import HOME, MOBILE, Door, coded
from tests.support.in_process import serving_here
from tests.support.servers import Server as Backend
from tests.support.verifier import SECRET, SITE_KEY, Verifier, verifying
from waitroom import work
from waitroom.errors import InvalidInput
from waitroom.models import Challenge, Mode, Policy, WhenUnverified
from waitroom.server.challenges import siteverify
from waitroom.server.challenges.siteverify import (
    LONGEST_TOKEN,
    Service,
    Siteverify,
    Unreachable,
)
from waitroom.settings import Settings
from waitroom.web.addresses import source


@pytest.fixture
async def service() -> AsyncIterator[Verifier]:
    """Run the service."""
    async with verifying() as made:
        yield made


@asynccontextmanager
async def door(
    valkey: Backend,
    folder: Path,
    service: Verifier | None,
    *,
    per_minute: int = 6_000,
    **policy: Any,
) -> AsyncIterator[Door]:
    """Serve a room that asks the service; `per_minute` new places for each address."""
    settings: dict[str, Any] = {} if service is None else service.settings
    settings |= {"joins_per_minute": per_minute}
    async with (
        serving_here(valkey.url, folder, proxies="127.0.0.1", **settings) as at,
        httpx2.AsyncClient(base_url=at[1], timeout=30) as http,
    ):
        room = f"t-{secrets.token_hex(6)}"
        given = {"mode": Mode.PAUSED, "challenge": Challenge.SITEVERIFY} | policy
        await at[0].engine.create(room, Policy(**given))
        await at[0].boards.get(room)
        yield Door(at[0], http, room)


async def test_good(valkey: Backend, tmp_path: Path, service: Verifier) -> None:
    """The problem names the widget; its token gives one place, however often it is sent."""
    async with door(valkey, tmp_path, service) as room:
        refused = await room.join()
        widget = {"kind": "siteverify", "site_key": SITE_KEY, "action": "join"}
        script = {"script": f"{service.base}/widget.js"}
        assert (403, widget | script) == (refused.status_code, refused.json()["challenge"])
        assert (0, []) == (room.scripts(), service.asked)
        token = service.token()
        replies = [await room.join(token=token) for _ in range(2)]
        assert [201, 200] == [reply.status_code for reply in replies]
        first, again = service.asked
        assert first == again, "with the same key, so the service repeats its answer"
        assert (SECRET, token) == (first["secret"], first["response"])
        assert uuid.UUID(first["idempotency_key"])
        assert {"secret", "response", "idempotency_key"} == set(first), "nothing about the visitor"
        assert {"issued": 1, "solved": 2} == room.counted()


@pytest.mark.attack
async def test_bad(valkey: Backend, tmp_path: Path, service: Verifier) -> None:
    """Invented, of another action or of another site: refused, without asking Redis."""
    async with door(valkey, tmp_path, service) as room:
        assert 403 == (await room.join(token="invented")).status_code
        for action in ("buy", "", None):
            assert 403 == (await room.join(token=service.token(action))).status_code
        service.hostname = "evil.example"
        assert 403 == (await room.join(token=service.token())).status_code
        assert 422 == (await room.join(token="x" * (LONGEST_TOKEN + 1))).status_code
        assert (0, 5) == (room.scripts(), room.counted()["refused"])


@pytest.mark.attack
async def test_a_token_gives_a_place_in_one_room(
    valkey: Backend, tmp_path: Path, service: Verifier
) -> None:
    """The service repeats its answer for the same question; that of another room is another."""
    async with door(valkey, tmp_path, service) as room:
        other = Door(room.server, room.http, f"t-{secrets.token_hex(6)}")
        await room.server.engine.create(other.room, Policy(challenge=Challenge.SITEVERIFY))
        token = service.token()
        replies = [await place.join(token=token) for place in (room, room, other)]
        assert [201, 200, 403] == [reply.status_code for reply in replies]


@pytest.mark.attack
async def test_a_token_with_a_code_for_many_gives_one_place(
    valkey: Backend, tmp_path: Path, service: Verifier
) -> None:
    """They are known by their key, and another key is another question."""
    async with door(valkey, tmp_path, service) as room:
        code, token = await coded(room, 5), service.token()
        ours, theirs = ({"idempotency-key": secrets.token_hex(16)} for _ in range(2))
        assert 403 == (await room.join(headers=ours, code=code)).status_code
        replies = [
            await room.join(headers=key, code=code, token=token) for key in (ours, ours, theirs)
        ]
        assert [201, 200, 403] == [reply.status_code for reply in replies]
        again = await room.join(headers=ours, code=code, token=service.token())
        assert (200, 1) == (again.status_code, (await room.server.engine.stats(room.room)).waiting)


@pytest.mark.attack
@pytest.mark.parametrize("says", ["bad-request", "invalid-input-response"])
async def test_a_token_that_cannot_be_read_is_a_bad_token(
    valkey: Backend, tmp_path: Path, service: Verifier, says: str
) -> None:
    """It is refused, from any number of networks, and others are verified as before."""
    service.unreadable = says
    async with door(valkey, tmp_path, service, when_unverified=WhenUnverified.PASS) as room:
        for network in range(5):
            refused = await room.join(f"192.0.{network}.1", token="no token")
            assert (403, "siteverify") == (refused.status_code, refused.json()["challenge"]["kind"])
        assert 201 == (await room.join(MOBILE, token=service.token())).status_code
        assert "unverified" not in room.counted()


@pytest.mark.attack
async def test_one_address_cannot_take_the_service_away(
    valkey: Backend, tmp_path: Path, service: Verifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its failures open no breaker, and its questions leave room for those of others."""
    monkeypatch.setattr(siteverify, "SHARES", (4, 6))
    monkeypatch.setattr(siteverify, "AT_ONCE", 7)
    monkeypatch.setattr(siteverify, "ANSWER_S", 60.0)  # nobody gives up while we look
    then = WhenUnverified.REFUSE
    async with door(valkey, tmp_path, service, when_unverified=then) as room:
        service.broken = b"oops"
        for _ in range(5):
            assert 403 == (await room.join(HOME, token="x")).status_code
        service.broken = None
        assert 201 == (await room.join(HOME, token=service.token())).status_code
        service.answers.clear()
        async with asyncio.TaskGroup() as group:
            flood = [group.create_task(room.join(HOME, token="x")) for _ in range(5)]
            done, _ = await asyncio.wait(flood, return_when=asyncio.FIRST_COMPLETED)
            (limited,) = (task.result() for task in done)
            assert (429, "1") == (limited.status_code, limited.headers["retry-after"])
            beside = [group.create_task(room.join("192.0.2.9", token="x")) for _ in range(3)]
            await asyncio.wait(beside, return_when=asyncio.FIRST_COMPLETED)
            honest = group.create_task(room.join(MOBILE, token=service.token()))
            service.answers.set()
        assert 201 == honest.result().status_code
        assert 2 == sum(429 == task.result().status_code for task in flood + beside)


@pytest.mark.attack
async def test_how_often_an_address_asks_the_service(
    valkey: Backend, tmp_path: Path, service: Verifier
) -> None:
    """Twice as often as it may join; then 429, and the service is not asked."""
    async with door(valkey, tmp_path, service, per_minute=2) as room:
        replies = [await room.join(HOME, token="x") for _ in range(5)]
        assert [403] * 4 + [429] == [reply.status_code for reply in replies]
        assert (4, 1) == (
            len(service.asked),
            room.server.counters.snapshot()["limited"]["verifications"][0],
        )
        assert 201 == (await room.join(MOBILE, token=service.token())).status_code


@pytest.mark.attack
async def test_a_proof_of_work_is_no_way_around(
    valkey: Backend, tmp_path: Path, service: Verifier
) -> None:
    """While the service answers, nobody is given a proof of work to solve instead."""
    async with door(valkey, tmp_path, service) as room:
        mark = await room.join(solution="ripe.1." + "0" * 32 + "." + "0" * 32)
        assert (403, "siteverify") == (mark.status_code, mark.json()["challenge"]["kind"])
        page = await room.http.post(f"/rooms/{room.room}/join")
        assert "set-cookie" not in page.headers, "and no page of it ripens"


@pytest.mark.parametrize("fault", ["slow", "down", "broken", "nonsense", "unconfigured", "secret"])
@pytest.mark.parametrize("then", [*WhenUnverified])
async def test_no_verdict(
    valkey: Backend,
    tmp_path: Path,
    service: Verifier,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
    then: WhenUnverified,
) -> None:
    """Slow, down, broken or not set up: the policy decides, and nobody waits for it twice."""
    monkeypatch.setattr(siteverify, "ANSWER_S", 0.3)
    token = service.token()
    if fault == "slow":
        service.answers.clear()
    service.broken = {"broken": b"oops", "nonsense": b"[]"}.get(fault)
    configured = None if fault == "unconfigured" else service
    async with door(valkey, tmp_path, configured, when_unverified=then) as room:
        verifier = room.server.challenges.siteverify
        if fault == "down" and verifier is not None:
            gone = verifier.service.url.replace(str(service.port), "1")
            room.server.challenges.siteverify = _with(verifier, url=gone)
        if fault == "secret" and verifier is not None:
            room.server.challenges.siteverify = _with(verifier, secret="wrong")
        reply = await room.join(token=token)
        assert 1 == room.counted()["unverified"]
        if then is WhenUnverified.PASS:
            assert 201 == reply.status_code
        elif then is WhenUnverified.WORK:
            assert (403, "work") == (reply.status_code, reply.json()["challenge"]["kind"])
            solution = work.solve(reply.json()["challenge"])
            assert 201 == (await room.join(solution=solution)).status_code
        else:
            assert (403, "siteverify") == (reply.status_code, reply.json()["challenge"]["kind"])
            assert 0 == room.scripts()
        for network in range(siteverify.FAILURES - 1):
            await room.join(f"198.51.{network}.1", token=token)
        asked = len(service.asked)
        await room.join(token=service.token())
        assert asked == len(service.asked), "for a moment nobody waits for the service again"


def _with(verifier: Siteverify, **changes: str) -> Siteverify:
    known = {name: getattr(verifier.service, name) for name in Service.__slots__}
    return Siteverify(Service(**known | changes))


async def test_an_outage_where_all_come_from_one_network(service: Verifier) -> None:
    """After many failures in a row nobody waits for the service, whoever it was that it failed."""
    made = Service.of_settings(Settings(**service.settings))  # type: ignore[arg-type]
    assert made is not None
    verifier, here = Siteverify(made, clock=lambda: 0.0), source("192.0.2.1")
    service.broken = b""
    for _ in range(siteverify.IN_A_ROW):
        with pytest.raises(Unreachable, match="500"):
            await verifier.ask("x", here, "room")
    with pytest.raises(Unreachable, match="a moment ago"):
        await verifier.ask(service.token(), here, "room")
    await verifier.aclose()


async def test_it_is_asked_again_after_a_rest(service: Verifier) -> None:
    """A service that is back is used again, on our clock."""
    made = Service.of_settings(Settings(**service.settings))  # type: ignore[arg-type]
    assert made is not None
    now = 0.0
    verifier = Siteverify(made, clock=lambda: now)
    service.broken = b""
    networks = [source(f"192.0.{number}.1") for number in range(siteverify.FAILURES)]
    for _ in range(2):  # a rest that did not help begins again with one failure
        for network in networks:
            with pytest.raises(Unreachable):
                await verifier.ask("x", network, "room")
        assert siteverify.FAILURES == len(verifier._failed)
        with pytest.raises(Unreachable, match="a moment ago"):
            await verifier.ask(service.token(), networks[0], "room")
        now += siteverify.REST_S
    service.broken = None
    assert (await verifier.ask(service.token(), networks[0], "room")).good
    service.broken = b""
    with pytest.raises(Unreachable, match="500"):
        await verifier.ask("x", networks[0], "room")
    service.broken = None
    assert (await verifier.ask(service.token(), networks[0], "room")).good, "one failure is none"
    await verifier.aclose()


@pytest.mark.parametrize(
    ("url", "actions", "good"),
    [
        ("https://challenges.cloudflare.com/turnstile/v0/siteverify", True, False),
        ("https://verify.example/siteverify", True, False),
        ("https://verify.example/siteverify", False, True),
        ("https://api.hcaptcha.com/siteverify", True, True),
        ("https://www.google.com/recaptcha/api/siteverify", True, True),
        ("https://evil-google.com/siteverify", True, False),
    ],
)
async def test_services_without_actions(
    service: Verifier, url: str, actions: bool, good: bool
) -> None:
    """Without `action` a token is good only where the service, or the settings, know none."""
    given: dict[str, Any] = service.settings | {"siteverify_actions": actions}
    made = Service.of_settings(Settings(**given | {"siteverify_url": url}))
    assert made is not None
    verifier = Siteverify(replace(made, url=given["siteverify_url"]))
    home = source(HOME)
    assert good == (await verifier.ask(service.token(None), home, "room")).good
    assert not (await verifier.ask(service.token("buy"), home, "room")).good
    asked = len(service.asked)
    assert not (await verifier.ask("x" * 2_049, home, "room")).good
    assert ("cloudflare" in url) == (asked == len(service.asked)), "longer than Turnstile's get"
    await verifier.aclose()


async def test_a_room_that_observes(valkey: Backend, tmp_path: Path, service: Verifier) -> None:
    """Everybody gets a place; good and bad tokens are told apart in the counts."""
    async with door(valkey, tmp_path, service, challenge=Challenge.OBSERVE_SITEVERIFY) as room:
        replies = [await room.join()]
        replies += [await room.join(token=token) for token in ("invented", service.token())]
        assert [201] * 3 == [reply.status_code for reply in replies]
        assert {"observed": 2, "solved": 1} == room.counted()
        asked = await room.join(token="?")
        assert (403, "siteverify") == (asked.status_code, asked.json()["challenge"]["kind"])


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"siteverify_secret": None}, "siteverify_secret"),
        ({"siteverify_url": "http://verify.example/"}, "siteverify_url"),
        ({"siteverify_script": "javascript:alert(1)"}, "siteverify_script"),
        ({"siteverify_hostnames": None}, "siteverify_hostnames"),
        ({"siteverify_origins": "https://*.example"}, "siteverify_origins"),
        ({"siteverify_origins": "https://a.example; script-src *"}, "siteverify_origins"),
    ],
)
async def test_settings_are_checked(
    service: Verifier, changes: dict[str, str | None], field: str
) -> None:
    """Half of them, plain http or something that is no origin is refused at the start."""
    given: dict[str, Any] = service.settings | changes
    with pytest.raises(InvalidInput) as refused:
        Service.of_settings(Settings(**given))
    assert field == refused.value.field


async def test_only_pages_of_such_rooms_allow_the_widget(
    valkey: Backend, tmp_path: Path, service: Verifier
) -> None:
    """Its origin is in the content security policy of these rooms, and of no other."""
    async with door(valkey, tmp_path, service) as room:
        policies = {}
        for challenge in (Challenge.SITEVERIFY, Challenge.WORK, Challenge.NONE):
            name = f"t-{secrets.token_hex(6)}"
            await room.server.engine.create(name, Policy(challenge=challenge))
            page = await room.http.get(f"/rooms/{name}")
            policies[challenge] = page.headers["content-security-policy"]
        asked = policies[Challenge.SITEVERIFY]
        assert "script-src 'nonce-" in asked
        assert f"frame-src {service.base}" in asked
        assert f"connect-src 'self' {service.base}" in asked
        others = policies[Challenge.WORK], policies[Challenge.NONE]
        assert [False, False] == [service.base in policy for policy in others]
        assert [True, False] == ["worker-src 'self'" in policy for policy in others]
