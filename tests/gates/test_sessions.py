"""Gates and a real Waitroom: programs join, codes are redeemed, sessions renewed and finished."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import httpx2
import jwt
import pytest

from tests.gates.conftest import Sign
from tests.gates.sites import GATES, site
from tests.support.clients import Reply, ask, request
from tests.support.servers import wait_for
from tests.support.serving import Serving
from waitroom.gates.options import Options
from waitroom.web.browser_mark import mark_of, new_secret

pytestmark = pytest.mark.sample(2)
FOUR = ("starlette", "wsgi", "flask", "django", "django-async")
JSON = {"accept": "application/json"}
MakeRoom = Callable[..., str]
SECRET = new_secret()
OURS = {"cookie": f"waitroom-browser={SECRET}"}
patient = partial(Options, deadline_s=5)
"""How long Waitroom takes on a busy machine is not under test here."""


@pytest.fixture(params=FOUR)
def framework(request: pytest.FixtureRequest) -> str:
    """Run the test with each adapter."""
    return str(request.param)


def get(port: int, path: str, headers: dict[str, str] | None = None, method: str = "GET") -> Reply:
    """Send a request to the site."""
    return ask(port, request(method, path, headers or {}))


def enter(waitroom: Serving, room: str) -> tuple[str, str]:
    """Go inside as a visitor does; return ticket and pass."""
    ticket = httpx2.post(f"{waitroom.base}/v1/rooms/{room}/tickets", json={"enter": True}).json()
    assert "inside" == ticket["state"]
    return ticket["ticket"], ticket["pass"]


def past_its_half(sign: Sign, room: str, young: str) -> str:
    """Return a pass of the same session, made so long ago that half of its time is over."""
    claims = jwt.decode(young, options={"verify_signature": False})
    now_s = int(time.time())
    sid = int(claims["jti"])
    return sign(room, claims["sub"], sid, now_s=now_s - 400, ends_s=now_s + 200)


def inside(operator: httpx2.Client, room: str) -> int:
    """Return how many are inside a room."""
    return int(operator.get(f"/v1/admin/rooms/{room}").json()["stats"]["inside"])


def code_for(secret: str | None, ticket_url: str) -> str:
    """Return a code for the browser with a secret."""
    body = {"browser": mark_of(secret) if secret else None}
    return str(httpx2.post(f"{ticket_url}/handoff", json=body).raise_for_status().json()["code"])


def cookie_of(reply: Reply, name: str) -> str | None:
    """Return a cookie that an answer sets."""
    matches = [re.match(rf'{name}="?([^;"]*)"?;', line) for line in reply.all("set-cookie")]
    return next((match[1] for match in matches if match), None)


def test_a_program_joins_waits_and_gets_in(
    framework: str, waitroom: Serving, operator: httpx2.Client, make_room: MakeRoom
) -> None:
    """429 with a ticket; the same place again by header and by cookie; then in, with a pass."""
    room = make_room(capacity=1)
    first, _ = enter(waitroom, room)
    with site(framework, patient(waitroom.base, {"/concert": room})) as port:
        reply = get(port, "/concert/seats", JSON)
        body = reply.json()
        assert (429, "waiting", 1) == (reply.status, body["code"], body["position"])
        assert re.fullmatch(r"\w{3}-\w{3}", body["short_code"])  # for support
        assert 1 <= int(reply.header("retry-after") or 0) <= 30
        ticket = body["ticket"]
        assert ticket == reply.header("waitroom-ticket")
        assert ticket == cookie_of(reply, f"waitroom-ticket-{room}")
        for again in (
            {"waitroom-ticket": ticket},
            {**JSON, "cookie": f"waitroom-ticket-{room}={ticket}"},
        ):
            assert ticket == get(port, "/concert", again).json()["ticket"]
        assert 1 == operator.get(f"/v1/admin/rooms/{room}").json()["stats"]["waiting"]
        httpx2.post(f"{waitroom.base}/v1/rooms/{room}/tickets/{first}/finish").raise_for_status()

        wait_for(lambda: get(port, "/concert", {"waitroom-ticket": ticket}).status == 200, "a turn")

        reply = get(port, "/concert", {"waitroom-ticket": ticket})
        token = cookie_of(reply, f"waitroom-pass-{room}")
        assert (200, b"secret") == (reply.status, reply.body)
        assert token is not None
        assert 200 == get(port, "/concert", {"waitroom-pass": token}).status


def test_a_key_of_the_programs_own_keeps_one_place(waitroom: Serving, make_room: MakeRoom) -> None:
    """A program that keeps no cookie identifies itself, and has one place."""
    room = make_room(capacity=1)
    enter(waitroom, room)
    with site("starlette", patient(waitroom.base, {"/concert": room})) as port:
        key = {"waitroom-key": "0123456789abcdef-of-mine"}
        # The id, not the string: that also names the second in which it was signed.
        ids = {get(port, "/concert", key).json()["ticket"][24:40] for _ in range(3)}
        assert 1 == len(ids)


def test_a_closed_room_refuses_a_program(waitroom: Serving, make_room: MakeRoom) -> None:
    """503 with the room's own reason and a time to come back."""
    with site("wsgi", patient(waitroom.base, {"/concert": make_room(mode="closed")})) as port:
        reply = get(port, "/concert", JSON)
        assert (503, "room_closed", "5") == (
            reply.status,
            reply.json()["code"],
            reply.header("retry-after"),
        )


def test_a_call_belongs_to_the_trace_of_its_request(waitroom: Serving, make_room: MakeRoom) -> None:
    """Waitroom's log and the program's problem have the same id; an invalid header is ignored."""
    trace = "0af7651916cd43dd8448eb211c80319c"
    with site("wsgi", patient(waitroom.base, {"/concert": make_room(mode="closed")})) as port:
        sent = JSON | {"traceparent": f"00-{trace}-b7ad6b7169203331-01"}
        assert trace == get(port, "/concert", sent).json()["request_id"]
        broken = JSON | {"traceparent": f"00-{trace}-b7ad6b7169203331-01, x"}
        assert trace != get(port, "/concert", broken).json()["request_id"]


def test_a_room_that_ended_refuses_a_program_for_good(
    waitroom: Serving, make_room: MakeRoom
) -> None:
    """403 with the room's own reason, and no time to come back."""
    with site("wsgi", patient(waitroom.base, {"/concert": make_room(mode="ended")})) as port:
        reply = get(port, "/concert", JSON)
        assert (403, "room_ended", None) == (
            reply.status,
            reply.json()["code"],
            reply.header("retry-after"),
        )


def test_a_code_becomes_a_cookie_and_leaves_the_address(
    framework: str, waitroom: Serving, make_room: MakeRoom
) -> None:
    """The gate redeems the code, once; the address is clean afterwards."""
    room = make_room()
    ticket, _ = enter(waitroom, room)
    base = f"{waitroom.base}/v1/rooms/{room}/tickets/{ticket}"
    code = code_for(SECRET, base)
    with site(framework, patient(waitroom.base, {"/concert": room})) as port:
        address = f"/concert/seats?a=1&waitroom_code={code}&b=%2F"

        reply = get(port, address, OURS)

        assert (303, "/concert/seats?a=1&b=%2F") == (reply.status, reply.header("location"))
        token = cookie_of(reply, f"waitroom-pass-{room}")
        assert token is not None
        assert re.search("HttpOnly", reply.all("set-cookie")[0], re.IGNORECASE)
        assert 200 == get(port, "/concert", {"cookie": f"waitroom-pass-{room}={token}"}).status
        again = get(port, address, OURS)
        assert (303, None) == (again.status, cookie_of(again, f"waitroom-pass-{room}"))


def test_a_code_on_an_open_page_is_left_alone(
    framework: str, waitroom: Serving, make_room: MakeRoom
) -> None:
    """It costs no request and stays valid: a protected page redeems it later."""
    room = make_room()
    ticket, _ = enter(waitroom, room)
    base = f"{waitroom.base}/v1/rooms/{room}/tickets/{ticket}"
    code = code_for(SECRET, base)
    with site(framework, patient(waitroom.base, {"/concert": room})) as port:
        assert 200 == get(port, "/").status
        (gate,) = GATES
        gate.due_at = math.inf  # no keys to fetch meanwhile
        calls = gate.remote.calls

        reply = get(port, f"/about?waitroom_code={code}")

        assert (200, b"open", calls) == (reply.status, reply.body, gate.remote.calls)
        reply = get(port, f"/concert?waitroom_code={code}", OURS)
        assert cookie_of(reply, f"waitroom-pass-{room}") is not None


@pytest.mark.attack
def test_a_code_of_another_browser_is_worth_nothing(
    framework: str, waitroom: Serving, make_room: MakeRoom
) -> None:
    """A link with somebody's code leads nobody into their session, and does not use it up."""
    room = make_room()
    ticket, _ = enter(waitroom, room)
    base = f"{waitroom.base}/v1/rooms/{room}/tickets/{ticket}"
    codes = [code_for(SECRET, base), code_for(None, base)]
    secrets = ("", new_secret(), mark_of(SECRET))
    victims = [None, *({"cookie": f"waitroom-browser={text}"} for text in secrets)]
    with site(framework, patient(waitroom.base, {"/concert": room})) as port:
        for code in codes:
            for headers in victims:
                reply = get(port, f"/concert?waitroom_code={code}", headers)
                assert (303, "/concert", []) == (
                    reply.status,
                    reply.header("location"),
                    reply.all("set-cookie"),
                )
        reply = get(port, f"/concert?waitroom_code={codes[1]}", OURS)
        assert cookie_of(reply, f"waitroom-pass-{room}") is None, "made for no browser"
        reply = get(port, f"/concert?waitroom_code={codes[0]}", OURS)
        assert cookie_of(reply, f"waitroom-pass-{room}") is not None


def test_a_browser_is_sent_to_wait_with_its_mark(
    framework: str, waitroom: Serving, make_room: MakeRoom
) -> None:
    """If the waiting page is on another host it gets a secret once; else no cookie is needed."""
    there = replace(
        patient(waitroom.base, {"/concert": make_room()}), public_url="http://w.example"
    )
    with site(framework, there) as port:
        first = get(port, "/concert")
        secret = cookie_of(first, "waitroom-browser")
        assert secret is not None
        assert (first.header("location") or "").endswith(f"browser={mark_of(secret)}")
        again = get(port, "/concert", {"cookie": f"waitroom-browser={secret}"})
        assert ([], first.header("location")) == (again.all("set-cookie"), again.header("location"))
    here = replace(there, public_url="http://waitroom.test:8080")  # as `get` names the site
    with site(framework, here) as port:
        reply = get(port, "/concert")
        assert ([], False) == (reply.all("set-cookie"), "browser=" in str(reply.header("location")))


def test_a_session_is_renewed_at_half(
    framework: str, waitroom: Serving, make_room: MakeRoom, sign: Sign
) -> None:
    """Past half of the session a request brings a new cookie, whose pass ends later."""
    room = make_room(session_s=600, renewable=True)
    _, young = enter(waitroom, room)
    old = past_its_half(sign, room, young)
    with site(framework, patient(waitroom.base, {"/concert": room})) as port:
        name = f"waitroom-pass-{room}"
        assert [] == get(port, "/concert", {"cookie": f"{name}={young}"}).all("set-cookie")
        mine = {"cookie": f"{name}={old}"}
        wait_for(lambda: cookie_of(get(port, "/concert", mine), name) is not None, "a pass")
        new = cookie_of(get(port, "/concert", mine), name)
        (gate,) = GATES
        now_s = time.time()
        late, early = (gate.verifier.read(room, text or "", now_s) for text in (new, old))
        assert late is not None
        assert early is not None
        assert late.expires_s > early.expires_s


def test_a_session_that_cannot_be_renewed_is_asked_for_once(
    waitroom: Serving, make_room: MakeRoom, sign: Sign
) -> None:
    """A refusal is remembered: later requests cost no call."""
    room = make_room(session_s=600)
    mine = past_its_half(sign, room, enter(waitroom, room)[1])
    with site("wsgi", patient(waitroom.base, {"/concert": room})) as port:
        (gate,) = GATES
        cookie = {"cookie": f"waitroom-pass-{room}={mine}"}
        assert 200 == get(port, "/concert", cookie).status
        sessions = gate.sessions
        wait_for(lambda: bool(get(port, "/concert", cookie).status and sessions._renewals), "a try")
        before, began = gate.remote.calls, time.monotonic()
        for _ in range(20):
            get(port, "/concert", cookie)
        took_s = time.monotonic() - began
        # Keys, and a look at the room: the more of them, the longer it took.
        assert gate.remote.calls - before <= 3 + took_s


@pytest.mark.parametrize("path", ["/concert/pay", "/concert/order"])
def test_paying_gives_the_place_to_the_next_one(
    framework: str, path: str, waitroom: Serving, operator: httpx2.Client, make_room: MakeRoom
) -> None:
    """By calling `finish` or by a chosen path; the pass no longer opens anything."""
    room = make_room()
    _, mine = enter(waitroom, room)
    options = patient(waitroom.base, {"/concert": room}, finish=["POST /concert/order"])
    with site(framework, options) as port:
        cookie = {"cookie": f"waitroom-pass-{room}={mine}"}
        assert 200 == get(port, "/concert/order", cookie).status  # this only looks
        assert 1 == inside(operator, room)

        reply = get(port, path, cookie, "POST")

        assert (200, "") == (reply.status, cookie_of(reply, f"waitroom-pass-{room}"))
        wait_for(lambda: inside(operator, room) == 0, "an end")
        assert 303 == get(port, "/concert", cookie).status


def test_a_strict_gate_refuses_a_session_that_is_over(
    framework: str, waitroom: Serving, make_room: MakeRoom
) -> None:
    """An offline gate lets them stay until their pass ends, a strict one asks again."""
    room = make_room()
    ticket, mine = enter(waitroom, room)
    cookie = {"cookie": f"waitroom-pass-{room}={mine}"}
    with site(framework, patient(waitroom.base, {"/concert": room}, strict=True)) as port:
        assert 200 == get(port, "/concert", cookie).status
        httpx2.post(f"{waitroom.base}/v1/rooms/{room}/tickets/{ticket}/finish").raise_for_status()
        wait_for(lambda: get(port, "/concert", cookie).status == 303, "an end")
    with site(framework, patient(waitroom.base, {"/concert": room})) as port:
        assert 200 == get(port, "/concert", cookie).status


def test_a_strict_gate_asks_once_a_second(waitroom: Serving, make_room: MakeRoom) -> None:
    """An answer is believed for a second."""
    room = make_room()
    _, mine = enter(waitroom, room)
    with site("wsgi", patient(waitroom.base, {"/concert": room}, strict=True)) as port:
        began = time.monotonic()
        for _ in range(30):
            assert 200 == get(port, "/concert", {"waitroom-pass": mine}).status
        took_s = time.monotonic() - began
        assert GATES[0].remote.calls <= 3 + 3 * took_s
