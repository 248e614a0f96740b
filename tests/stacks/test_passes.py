"""nginx, Node, Go and Java let in holders of a good pass, and nobody else."""

from __future__ import annotations

import json
import re
import time
from urllib.parse import parse_qs, urlsplit

import httpx2
import jwt
import pytest

from tests.stacks.conftest import Inside
from tests.stacks.forgeries import altered, forgeries
from tests.stacks.tools import ROOM, Stack, let_in
from tests.support.attacks import tried
from tests.support.clients import HOST
from tests.support.counts import count
from tests.support.serving import SECRET, Serving
from waitroom.passes import PassKeys

COOKIE = re.compile(r"waitroom-browser=[\w-]{32}; Path=/; HttpOnly; SameSite=Lax; Max-Age=\d+")
"""The only cookie that somebody without a pass may get."""

PROGRAM = {"accept": "application/json"}


def test_a_good_pass(stack: Stack, inside: Inside) -> None:
    """In the room's cookie or as Waitroom-Pass, for any method; a free page needs none."""
    by_header = {"waitroom-pass": inside.pass_}
    replies = [
        stack.ask("/free"),
        stack.ask("/concert", inside.pass_),
        stack.ask("/concert/seats/5?date=3", inside.pass_),
        stack.ask("/concert", None, by_header),
        stack.ask("/concert", inside.pass_, method="POST"),
    ]
    assert [(200, True)] * 5 == [(reply.status, let_in(reply)) for reply in replies]


@pytest.mark.attack
def test_no_forgery_is_taken(stack: Stack, inside: Inside) -> None:
    """Forged, expired, for another room, by another key, `none`, HMAC with the public key, …: 0."""
    texts = forgeries(SECRET, inside.pass_, inside.ticket, ROOM)
    taken = [name for name, text in texts.items() if let_in(stack.ask("/concert", text))]
    taken += [
        name
        for name, text in texts.items()
        if let_in(stack.ask("/concert", None, {"waitroom-pass": text}))
    ]
    assert [] == taken
    tried(2 * len(texts))
    assert let_in(stack.ask("/concert", inside.pass_)), "and the good one is taken still"


@pytest.mark.attack
def test_no_altered_pass_is_taken(stack: Stack, inside: Inside) -> None:
    """Whichever character is changed, including spare bits, it is no longer a pass."""
    texts = list(altered(inside.pass_))[:: -count("altered_every")]
    assert [] == [text for text in texts if let_in(stack.ask("/concert", text))]
    tried(len(texts))


def test_the_passes_of_the_matrix_are_refused_for_what_is_wrong(
    node_stack: Stack, go_stack: Stack, java_stack: Stack, inside: Inside
) -> None:
    """The same maker without a fault is accepted offline: the matrix is not refused by accident."""
    claims = jwt.decode(inside.pass_, options={"verify_signature": False})
    now = int(time.time())
    good = PassKeys.derive(SECRET).sign(ROOM, claims["sub"], 7, now, now + 60, "waitroom")
    stacks = (node_stack, go_stack, java_stack)
    assert [True] * 3 == [let_in(stack.ask("/concert", good)) for stack in stacks]


def test_a_browser_is_sent_to_the_waiting_page(stack: Stack) -> None:
    """With the return address: its host is the site's own, whatever the request says."""
    headers = {"accept": "text/html", "x-forwarded-host": "evil.test"}
    reply = stack.ask("/concert/seats?date=3", None, headers)
    assert (303, "no-store") == (reply.status, reply.header("cache-control"))
    where = urlsplit(reply.header("location") or "")
    assert f"/rooms/{ROOM}" == where.path
    assert [f"{stack.site}/concert/seats?date=3"] == parse_qs(where.query)["return"]


@pytest.mark.attack
@pytest.mark.parametrize(
    "path",
    [
        "/concert?next=//evil.test/&return=https://evil.test",
        "/concert/%0d%0aset-cookie:a=b",
        "//evil.test/concert",
        "/\\evil.test/../concert",
        "/concert/@evil.test",
        "/concert/https://evil.test",
        "/concert?x=%0d%0alocation:%20https://evil.test",
    ],
)
def test_nothing_in_an_address_leads_elsewhere(stack: Stack, served: Serving, path: str) -> None:
    """People are only sent back to the site; the visitor writes no line of the answer."""
    reply = stack.ask(path, None, {"accept": "text/html"})
    assert reply.status in (303, 400) or b"the site, at //evil" in reply.body
    assert all(COOKIE.fullmatch(line) for line in reply.all("set-cookie"))
    where = urlsplit(reply.header("location") or f"/rooms/{ROOM}")
    assert f"/rooms/{ROOM}" == where.path
    assert where.netloc in ("", f"{HOST}:{served.port}")
    for back in parse_qs(where.query).get("return", []):
        assert urlsplit(stack.site)[:2] == urlsplit(back)[:2]
    assert 1 >= len(parse_qs(where.query).get("return", []))


def test_a_program_is_told_in_json(stack: Stack) -> None:
    """429 as problem+json with Retry-After, and where to join."""
    reply = stack.ask("/concert", None, PROGRAM)
    body = json.loads(reply.body)
    assert (429, "application/problem+json") == (reply.status, reply.header("content-type"))
    assert int(reply.header("retry-after") or 0) >= 1
    assert (429, "waiting", ROOM) == (body["status"], body["code"], body["room"])
    assert f"/v1/rooms/{ROOM}/tickets" == urlsplit(body["join"]).path


@pytest.mark.attack
@pytest.mark.parametrize("name", ["node", "go", "java"])
def test_a_code_becomes_a_cookie(
    name: str, request: pytest.FixtureRequest, served: Serving, inside: Inside
) -> None:
    """From a waiting page on another host: redeemed once, kept as a cookie, gone from the URL."""
    stack: Stack = request.getfixturevalue(f"{name}_stack")
    url = f"{served.base}/v1/rooms/{ROOM}/tickets/me/handoff"
    bearer = {"authorization": f"Bearer {inside.ticket}"}
    away = stack.ask("/concert")  # a newcomer, whose browser gets a secret
    (secret,) = away.all("set-cookie")
    mark = parse_qs(urlsplit(away.header("location") or "").query)["browser"][0]
    made = httpx2.post(url, headers=bearer, json={"browser": mark}, timeout=20)
    code = made.raise_for_status().json()["code"]
    ours = {"cookie": secret.partition(";")[0]}
    free = stack.ask(f"/free?waitroom_code={code}")
    assert (True, []) == (let_in(free), free.all("set-cookie")), "it is for protected paths"
    path = f"/concert?date=3&waitroom_code={code}"
    for headers in ({}, {"cookie": f"waitroom-browser={'x' * 32}"}):
        assert [] == stack.ask(path, headers=headers).all("set-cookie"), "another browser's code"
    reply = stack.ask(path, headers=ours)
    assert (303, f"{stack.site}/concert?date=3") == (reply.status, reply.header("location"))
    (cookie,) = reply.all("set-cookie")
    kept, _, rest = cookie.partition(";")
    assert kept.startswith(f"waitroom-pass-{ROOM}=")
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= {part.strip() for part in rest.split(";")}
    assert let_in(stack.ask("/concert", kept.partition("=")[2]))
    assert [] == stack.ask(path, headers=ours).all("set-cookie"), (
        "a second time it is worth nothing"
    )
