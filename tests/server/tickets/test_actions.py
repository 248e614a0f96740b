"""The visitor API over real sockets: every route, what it answers, and what it refuses."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import httpx2
import pytest

from tests.support.clients import Reply, ask, request
from tests.support.servers import wait_for
from tests.support.serving import Serving
from waitroom.server.http.answers import moment

BROWSER = {"Origin": "http://waitroom.test"}
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
KEY = "idempotency-key"
Call = Callable[..., Reply]
NewRoom = Callable[..., str]


@pytest.fixture
def call(served: Serving) -> Call:
    """Return a function that sends a request: method, path under /v1/rooms, headers, JSON body."""

    def send(method: str, path: str, body: bytes | None = None, **headers: str) -> Reply:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return ask(served.port, request(method, f"/v1/rooms/{path}", given, body))

    return send


@pytest.fixture
def new_room(operator: httpx2.Client) -> NewRoom:
    """Return a function that makes a room with a policy."""

    def make(**policy: Any) -> str:
        name = f"t-{secrets.token_hex(6)}"
        body = {"name": name, "policy": policy}
        operator.post("/v1/admin/rooms", json=body).raise_for_status()
        return name

    return make


def ticket_of(reply: Reply) -> str:
    """Return the ticket that an answer carries."""
    assert reply.status in (200, 201), reply
    return str(reply.json()["ticket"])


def check(served: Serving, text: str, room: str = "") -> int:
    """Return the status of a pass check."""
    path = f"/v1/check?room={room}" if room else "/v1/check"
    return ask(served.port, request("GET", path, {"Authorization": f"Bearer {text}"})).status


# Join ----------------------------------------------------------------------------------------


def test_join_makes_a_place(call: Call, new_room: NewRoom) -> None:
    """The first is called at once (201), the next one waits at position 1 with the full view."""
    room = new_room(capacity=1)
    first, second = call("POST", f"{room}/tickets"), call("POST", f"{room}/tickets")
    assert (201, "called") == (first.status, first.json()["state"])
    assert MOMENT.fullmatch(first.json()["enter_by"])
    view = second.json()
    assert (201, "waiting", 1, 1) == (
        second.status,
        view["state"],
        view["position"],
        view["waiting"],
    )
    words = {"room", "ticket", "state", "position", "waiting", "eta_s", "eta_reason"}
    words |= {"poll_after_ms", "short_code", "room_mark"}
    assert (words, words | {"enter_by"}) == (set(view), set(first.json()))
    assert ("application/json", "no-store") == (
        second.header("content-type"),
        second.header("cache-control"),
    )


def test_join_is_repeatable_by_key(call: Call, new_room: NewRoom) -> None:
    """The same Idempotency-Key has one place (201, then 200); another key has another."""
    room, key = new_room(capacity=1), secrets.token_hex(8)
    first = call("POST", f"{room}/tickets", **{KEY: key})
    again = call("POST", f"{room}/tickets", **{KEY: key})
    other = call("POST", f"{room}/tickets", **{KEY: key[::-1] + "x"})
    assert [201, 200, 201] == [first.status, again.status, other.status]
    ids = [ticket_of(reply)[24:40] for reply in (first, again, other)]
    assert (ids[0], True) == (ids[1], ids[0] != ids[2])


@pytest.mark.parametrize(
    "key", ["short", "x" * 15, "y" * 129, "é" * 20, "tab\tin the middle of it"]
)
def test_keys_that_could_be_guessed_are_refused(call: Call, room: str, key: str) -> None:
    """An Idempotency-Key has 16 to 128 printable ASCII characters."""
    reply = call("POST", f"{room}/tickets", **{KEY: key})
    assert (422, "invalid_input") == (reply.status, reply.code)
    assert "Idempotency-Key" == reply.json()["field"]


def test_join_is_repeatable_by_cookie(call: Call, new_room: NewRoom) -> None:
    """A browser that joins again with its cookie keeps its place; a forged one is new."""
    room = new_room(capacity=1)
    ticket = ticket_of(call("POST", f"{room}/tickets", **BROWSER))
    again = call("POST", f"{room}/tickets", cookie=f"waitroom-ticket-{room}={ticket}")
    assert (200, ticket[24:40]) == (again.status, ticket_of(again)[24:40])
    forged = call("POST", f"{room}/tickets", cookie=f"waitroom-ticket-{room}={ticket[:-1]}-")
    assert (201, True) == (forged.status, ticket_of(forged)[24:40] != ticket[24:40])


def test_join_and_enter_in_one_call(call: Call, served: Serving, new_room: NewRoom) -> None:
    """With `enter` the first goes straight in and has a pass; the second waits."""
    room = new_room(capacity=1, session_s=60)
    first = call("POST", f"{room}/tickets", b'{"enter": true}')
    second = call("POST", f"{room}/tickets", b'{"enter": true}')
    assert ("inside", "waiting") == (first.json()["state"], second.json()["state"])
    assert MOMENT.fullmatch(first.json()["session_ends_at"])
    assert 204 == check(served, first.json()["pass"], room)


def test_an_identity_needs_an_operators_key(
    call: Call, new_room: NewRoom, operator: httpx2.Client
) -> None:
    """`visitor` needs a key (401), but not a viewer's (403); then one person has one place."""
    room, body = new_room(capacity=1), b'{"visitor": "member 7"}'
    assert 401 == call("POST", f"{room}/tickets", body).status
    assert 401 == call("POST", f"{room}/tickets", body, authorization="Bearer wr_nobody").status
    made = operator.post("/v1/admin/keys", json={"name": "page", "role": "viewer"}).json()
    viewer = call("POST", f"{room}/tickets", body, authorization=f"Bearer {made['key']}")
    assert (403, "forbidden") == (viewer.status, viewer.code)
    good = {"authorization": operator.headers["authorization"]}
    first, again = (call("POST", f"{room}/tickets", body, **good) for _ in range(2))
    assert ([201, 200], ticket_of(first)[24:40]) == (
        [first.status, again.status],
        ticket_of(again)[24:40],
    )


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        (b"{", 400, None),
        (b"\xff\xfe", 400, None),
        (b"[]", 422, "body"),
        (b"null", 422, "body"),
        (b'{"enter": "yes"}', 422, "enter"),
        (b'{"visitor": 7}', 422, "visitor"),
        (b'{"visitor": ""}', 422, "visitor"),
        (b'{"visitor": "%s"}' % (b"x" * 1_001), 422, "visitor"),
        (b'{"priority": 1}', 422, "body"),
        (b'{"enter": true}' + b" " * 20_000, 413, None),
    ],
)
def test_bad_bodies_are_refused(
    call: Call, room: str, body: bytes, status: int, field: str | None
) -> None:
    """Invalid JSON is 400, unfit input 422 with its field, a body that is too long 413."""
    reply = call("POST", f"{room}/tickets", body)
    assert (status, field) == (reply.status, reply.json().get("field")), reply.code


def test_a_room_may_refuse(call: Call, new_room: NewRoom) -> None:
    """Closed 403, not yet open 403, full 429 with Retry-After; unknown and impossible 404."""
    closed = call("POST", f"{new_room(mode='closed')}/tickets")
    assert (403, "room_closed") == (closed.status, closed.code)
    later = int(time.time() * 1000) + 3_600_000
    early = call("POST", f"{new_room(opens_at=moment(later), before_open='refuse')}/tickets")
    assert (403, "room_not_open") == (early.status, early.code)
    room = new_room(mode="paused", queue_limit=1)
    assert 201 == call("POST", f"{room}/tickets").status
    full = call("POST", f"{room}/tickets")
    assert (429, "room_full", True) == (
        full.status,
        full.code,
        int(full.header("retry-after") or 0) >= 1,
    )
    unknown, bad = call("POST", "nowhere/tickets"), call("POST", "no%20name/tickets")
    assert [(404, "unknown_room"), (404, "invalid_room_name")] == [
        (reply.status, reply.code) for reply in (unknown, bad)
    ]


# Cookies -------------------------------------------------------------------------------------


def cookies(reply: Reply) -> dict[str, tuple[str, set[str]]]:
    """Return each cookie that an answer sets: its value and its flags."""
    parsed = {}
    for line in reply.all("set-cookie"):
        first, *flags = line.split("; ")
        name, _, value = first.partition("=")
        parsed[name] = (value, set(flags))
    return parsed


def test_a_browser_gets_cookies(call: Call, new_room: NewRoom) -> None:
    """Ticket and pass are HttpOnly, Lax, for this host only; leaving removes both."""
    room = new_room(capacity=1, session_s=60)
    joined = call("POST", f"{room}/tickets", **BROWSER)
    ticket, flags = cookies(joined)[f"waitroom-ticket-{room}"]
    assert ticket_of(joined) == ticket
    assert {"Path=/", "HttpOnly", "SameSite=Lax", "Max-Age=86400"} == flags
    mine = {"cookie": f"waitroom-ticket-{room}={ticket}"}
    inside = call("POST", f"{room}/tickets/me/enter", **mine)
    made, flags = cookies(inside)[f"waitroom-pass-{room}"]
    assert (inside.json()["pass"], {"Path=/", "HttpOnly", "SameSite=Lax"}) == (
        made,
        {flag for flag in flags if not flag.startswith("Max-Age=")},
    )
    gone = call("DELETE", f"{room}/tickets/me", **mine)
    empty = {"Path=/", "HttpOnly", "SameSite=Lax", "Max-Age=0"}
    wanted = {f"waitroom-{kind}-{room}": ("", empty) for kind in ("ticket", "pass")}
    assert (204, wanted) == (gone.status, cookies(gone))


def test_others_get_no_cookies(call: Call, room: str) -> None:
    """A program that sends neither Origin nor cookies gets none, and no Secure over http."""
    assert {} == cookies(call("POST", f"{room}/tickets"))
    spoofed = call("POST", f"{room}/tickets", **BROWSER, x_forwarded_proto="https")
    assert "Secure" not in cookies(spoofed)[f"waitroom-ticket-{room}"][1], "nobody is listed"


# Status and `me` -----------------------------------------------------------------------------


def test_status_by_path_cookie_and_bearer(call: Call, new_room: NewRoom) -> None:
    """The holder may send the ticket in the path, a cookie or Authorization: the same view."""
    room = new_room(capacity=1)
    call("POST", f"{room}/tickets")
    ticket = ticket_of(call("POST", f"{room}/tickets"))
    shown: list[dict[str, str]] = [
        {"cookie": f"other=1; waitroom-ticket-{room}={ticket}; more=2"},
        {"authorization": f"Bearer {ticket}"},
    ]
    replies = [call("GET", f"{room}/tickets/{ticket}")]
    replies += [call("GET", f"{room}/tickets/me", **headers) for headers in shown]
    moving = {"poll_after_ms": 0, "eta_s": None}  # an estimate grows while nobody is called
    views = [(reply.status, reply.json() | moving) for reply in replies]
    assert [views[0]] * 3 == views
    assert (200, 1, ticket) == (replies[0].status, views[0][1]["position"], views[0][1]["ticket"])


def test_tickets_that_are_none(call: Call, new_room: NewRoom) -> None:
    """Forged, foreign, made up, endless and missing tickets are 404, for every verb alike."""
    room, other = new_room(capacity=1), new_room(capacity=1)
    ticket, foreign = (ticket_of(call("POST", f"{name}/tickets")) for name in (room, other))
    changed = ticket[:30] + ("A" if ticket[30] != "A" else "B") + ticket[31:]
    for bad in (changed, foreign, "x", "x" * 5_000, "me", "%00", ticket + "A", ticket[:-1]):
        path = f"{room}/tickets/{bad}"
        replies = [call("GET", path), call("DELETE", path), call("GET", f"{path}/events")]
        replies += [call("POST", f"{path}/{verb}") for verb in ("enter", "renew", "finish")]
        replies.append(call("POST", f"{path}/defer", b'{"places": 1}'))
        assert {(404, "invalid_ticket")} == {(reply.status, reply.code) for reply in replies}, bad


def test_a_gone_ticket_says_why(call: Call, new_room: NewRoom, operator: httpx2.Client) -> None:
    """A ticket that left, was kicked, or finished is 410 with its reason."""
    room = new_room(capacity=1, session_s=60)
    inside = ticket_of(call("POST", f"{room}/tickets", b'{"enter": true}'))
    left, kicked = (ticket_of(call("POST", f"{room}/tickets")) for _ in range(2))
    assert 204 == call("DELETE", f"{room}/tickets/{left}").status
    ids = {"ticket_ids": [kicked[24:40]]}
    operator.post(f"/v1/admin/rooms/{room}/kick", json=ids).raise_for_status()
    assert 204 == call("POST", f"{room}/tickets/{inside}/finish").status
    for ticket, reasons in ((left, "left"), (kicked, "kicked"), (inside, "finished passed")):
        for method, path in (("GET", ""), ("POST", "/enter")):
            reply = call(method, f"{room}/tickets/{ticket}{path}")
            assert 410 == reply.status
            assert reply.code in ("turn_passed", "session_over")
            assert reply.json()["reason"] in reasons.split()


@pytest.mark.parametrize("place", [1, 5, 40])
def test_when_to_ask_again(call: Call, new_room: NewRoom, place: int) -> None:
    """In front about every 3 s; further back more rarely, never above 30 s, and with jitter."""
    room = new_room(mode="paused", presence_s=150)
    for _ in range(place):
        ticket = ticket_of(call("POST", f"{room}/tickets"))
    pauses = {call("GET", f"{room}/tickets/{ticket}").json()["poll_after_ms"] for _ in range(8)}
    assert len(pauses) > 1, "no jitter"
    assert 2_700 <= min(pauses)
    assert max(pauses) <= (6_600 if place == 1 else 30_000)  # up to twice as long under load


# Enter, renew, defer, finish, leave ----------------------------------------------------------


def test_enter_gives_a_pass(call: Call, served: Serving, new_room: NewRoom) -> None:
    """The called person enters, twice with the same pass; the waiting one gets 409."""
    room = new_room(capacity=1, session_s=60)
    first, second = (ticket_of(call("POST", f"{room}/tickets")) for _ in range(2))
    entered, again = (call("POST", f"{room}/tickets/{first}/enter") for _ in range(2))
    assert (200, "inside") == (entered.status, entered.json()["state"])
    assert entered.json()["pass"] == again.json()["pass"]
    assert entered.json()["pass"] == call("GET", f"{room}/tickets/{first}").json()["pass"]
    assert 204 == check(served, entered.json()["pass"], room)
    late = call("POST", f"{room}/tickets/{second}/enter")
    assert (409, "not_your_turn") == (late.status, late.code)


def test_the_rolling_limit_says_when(
    call: Call, new_room: NewRoom, operator: httpx2.Client
) -> None:
    """Anybody called beyond the rolling limit keeps the turn; 409 says how long to wait."""
    room = new_room(max_entries=1, per_s=60, mode="manual", session_s=60)
    tickets = [ticket_of(call("POST", f"{room}/tickets")) for _ in range(2)]
    forced = {"count": 2, "force": True}
    assert 2 == operator.post(f"/v1/admin/rooms/{room}/admit", json=forced).json()["called"]
    assert 200 == call("POST", f"{room}/tickets/{tickets[0]}/enter").status
    later = call("POST", f"{room}/tickets/{tickets[1]}/enter")
    assert (409, "enter_later") == (later.status, later.code)
    assert MOMENT.fullmatch(later.json()["retry_at"])
    assert "called" == call("GET", f"{room}/tickets/{tickets[1]}").json()["state"]


def test_renew(call: Call, new_room: NewRoom) -> None:
    """A session is extended if the policy allows it (else 409), with a new pass."""
    room, fixed = new_room(session_s=60, renewable=True), new_room(session_s=60)
    views = [call("POST", f"{name}/tickets", b'{"enter": true}').json() for name in (room, fixed)]
    time.sleep(1.1)  # a pass ends at a whole second
    renewed = call("POST", f"{room}/tickets/{views[0]['ticket']}/renew")
    assert (200, "inside") == (renewed.status, renewed.json()["state"])
    assert renewed.json()["session_ends_at"] > views[0]["session_ends_at"]
    assert renewed.json()["pass"] != views[0]["pass"]
    refused = call("POST", f"{fixed}/tickets/{views[1]['ticket']}/renew")
    assert (409, "not_renewable") == (refused.status, refused.code)


def test_defer(call: Call, new_room: NewRoom) -> None:
    """Going back gives a new ticket, repeats count once, and `max_defers` is the limit."""
    room = new_room(mode="paused", max_defers=1)
    tickets = [ticket_of(call("POST", f"{room}/tickets")) for _ in range(4)]
    key = {KEY: secrets.token_hex(8)}
    path, body = f"{room}/tickets/{tickets[0]}/defer", b'{"places": 2}'
    moved, again = (call("POST", path, body, **key) for _ in range(2))
    assert (200, 3) == (moved.status, moved.json()["position"])
    new = ticket_of(moved)
    assert (True, new) == (new != tickets[0], ticket_of(again))
    assert 3 == call("GET", f"{room}/tickets/{new}").json()["position"]
    used = call("POST", f"{room}/tickets/{new}/defer", body)
    assert (409, "defers_used_up") == (used.status, used.code)
    last = call("POST", f"{room}/tickets/{tickets[3]}/defer", body)
    assert (409, "nobody_behind") == (last.status, last.code)
    for bad in (b"", b"{}", b'{"places": 0}', b'{"places": 1.5}', b'{"places": 1000001}'):
        assert 422 == call("POST", f"{room}/tickets/{tickets[1]}/defer", bad).status, bad


def test_finish_and_leave(call: Call, served: Serving, new_room: NewRoom) -> None:
    """Both are 204 and pass the place on at once; the pass is worthless then."""
    room = new_room(capacity=1, session_s=60)
    views = [call("POST", f"{room}/tickets", b'{"enter": true}').json() for _ in range(3)]
    for number, (method, path) in enumerate([("POST", "/finish"), ("DELETE", "")]):
        ticket = views[number]["ticket"]
        made = call("POST", f"{room}/tickets/{ticket}/enter").json()["pass"]
        assert 204 == check(served, made, room)
        done = call(method, f"{room}/tickets/{ticket}{path}")
        assert (204, b"") == (done.status, done.body)
        assert 401 == check(served, made, room)
        after = call("GET", f"{room}/tickets/{views[number + 1]['ticket']}").json()
        assert "called" == after["state"]
    again = call("POST", f"{room}/tickets/{views[0]['ticket']}/finish")
    assert (410, "session_over") == (again.status, again.code)


def test_a_session_ends_by_itself(call: Call, served: Serving, new_room: NewRoom) -> None:
    """After `session_s` the pass is refused and the ticket is 410."""
    room = new_room(capacity=1, session_s=1)
    began = time.monotonic()
    view = call("POST", f"{room}/tickets", b'{"enter": true}').json()
    status = check(served, view["pass"], room)
    assert status == 204 or time.monotonic() - began > 1, "refused before its time"
    path = f"{room}/tickets/{view['ticket']}"
    wait_for(lambda: call("GET", path).status != 200, "the end of the session")
    reply = call("GET", path)
    assert 410 == reply.status
    assert reply.json()["reason"] in ("expired", "passed"), "the second after the sweep"
    assert 401 == check(served, view["pass"], room)


# The room ------------------------------------------------------------------------------------


def shows(call: Call, room: str, **fields: str | None) -> bool:
    """Tell whether the public view of a room has these fields."""
    return fields.items() <= dict(call("GET", room).json()).items()


def test_a_room_that_ended(call: Call, new_room: NewRoom, operator: httpx2.Client) -> None:
    """At `ends_at` it accepts nobody new and says so; places are kept; it can be undone."""
    room = new_room(mode="paused")
    ticket = call("POST", f"{room}/tickets").json()["ticket"]
    large = "data:image/png;base64," + "A" * 3_000
    ended = {"ends_at": "2020-01-01T00:00:00+09:00", "ended_text": "Sold out", "ended_link": "/n"}
    path = f"/v1/admin/rooms/{room}"
    for picture, told in (("/over.png", "/over.png"), (large, None)):
        policy = ended | {"ended_picture": picture}
        body = operator.patch(path, json={"policy": policy}).raise_for_status().json()
        assert "2019-12-31T15:00:00.000Z" == body["policy"]["ends_at"]
        refused = call("POST", f"{room}/tickets")
        assert (403, "room_ended") == (refused.status, refused.code)
        wait_for(partial(shows, call, room, ended_picture=told), f"the picture {told}")
        view = call("GET", room).json()
        assert ("ended", False, None) == (view["mode"], view["accepts"], view["eta_s"])
        assert ("Sold out", "/n") == (view["ended_text"], view["ended_link"])
        waiting = call("GET", f"{room}/tickets/{ticket}").json()
        assert ("waiting", 1, None) == (waiting["state"], waiting["position"], waiting["eta_s"])
    operator.patch(path, json={"policy": {"ends_at": None, "mode": "open"}}).raise_for_status()
    assert 201 == call("POST", f"{room}/tickets").status


def test_the_room_as_anybody_sees_it(
    call: Call, new_room: NewRoom, operator: httpx2.Client
) -> None:
    """The public view has mode, opening, numbers; a change shows within two seconds."""
    room = new_room(capacity=1, title="Große Halle")
    call("POST", f"{room}/tickets")
    view = call("GET", room).json()
    words = "room title message message_at ready go_to footer help_link mode opens_at ends_at"
    words += " before_open waiting eta_s holding changed_at mark accepts now ended_text"
    words += " ended_picture ended_link"
    assert set(words.split()) == set(view)
    assert (room, "Große Halle", "open", True) == (
        view["room"],
        view["title"],
        view["mode"],
        view["accepts"],
    )
    mark = view["mark"]
    assert mark == call("POST", f"{room}/tickets").json()["room_mark"]
    took_s = []
    for mode in ("open", "closed") * 5:  # take the best: a machine stalls now and then
        change = {"policy": {"mode": mode}}
        operator.patch(f"/v1/admin/rooms/{room}", json=change).raise_for_status()
        began = time.monotonic()
        wait_for(partial(shows, call, room, mode=mode), f"the mode {mode}")
        took_s.append(time.monotonic() - began)
        if mode == "closed" and took_s[-1] < 2:
            break
    assert took_s[-1] < 2, took_s
    view = call("GET", room).json()
    assert mark != view["mark"]
    assert (False, True) == (view["accepts"], bool(MOMENT.fullmatch(view["changed_at"])))
    assert [404, 404] == [call("GET", name).status for name in ("nowhere", "%2e%2e")]


async def test_many_at_once_keep_their_order(served: Serving, new_room: NewRoom) -> None:
    """A hundred concurrent joins get a hundred places, each position once."""
    room = new_room(mode="paused")
    async with httpx2.AsyncClient(base_url=served.base) as client:
        path = f"/v1/rooms/{room}/tickets"
        replies = await asyncio.gather(*(client.post(path) for _ in range(100)))
        tickets = [reply.json()["ticket"] for reply in replies]
        views = await asyncio.gather(*(client.get(f"{path}/{ticket}") for ticket in tickets))
    assert list(range(1, 101)) == sorted(view.json()["position"] for view in views)


def test_a_short_time_to_enter_shortens_the_polls(call: Call, new_room: NewRoom) -> None:
    """Anybody who may be called between two polls must poll twice within the time to enter."""
    room = new_room(mode="paused", enter_within_s=4)
    views = [call("POST", f"{room}/tickets").json() for _ in range(60)]
    assert max(view["poll_after_ms"] for view in views) <= 2_000
