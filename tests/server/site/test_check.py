"""`/v1/check`: good passes get 204, everything else 401, because gates know nothing else."""

from __future__ import annotations

import json
import secrets
import time
from base64 import urlsafe_b64encode
from typing import Any

import httpx2
import jwt
import pytest

from tests.support.clients import Reply, ask, request
from tests.support.serving import SECRET, Serving
from waitroom.passes import PassKeys


def check(served: Serving, text: str | None, query: str = "", **headers: str) -> Reply:
    """Ask about a pass."""
    given = headers if text is None else headers | {"Authorization": f"Bearer {text}"}
    return ask(served.port, request("GET", f"/v1/check{query}", given))


@pytest.fixture
def inside(http: httpx2.Client, room: str) -> dict[str, Any]:
    """Return the view of somebody who is inside."""
    view: dict[str, Any] = http.post(f"/v1/rooms/{room}/tickets", json={"enter": True}).json()
    assert "inside" == view["state"]
    return view


def test_a_good_pass(served: Serving, inside: dict[str, Any], room: str) -> None:
    """By Authorization for any room or this one, and by the room's cookie: 204, no body."""
    made = inside["pass"]
    cookie = {"cookie": f"waitroom-pass-{room}={made}"}
    good = [check(served, made), check(served, made, f"?room={room}")]
    good.append(check(served, None, f"?room={room}", **cookie))
    assert [(204, b"", "no-store")] * 3 == [
        (reply.status, reply.body, reply.header("cache-control")) for reply in good
    ]
    assert 401 == check(served, None, "", **cookie).status, "which room's cookie is not said"


def test_a_pass_is_a_standard_token(http: httpx2.Client, inside: dict[str, Any], room: str) -> None:
    """Any JWT library can verify it with the JWKS alone: audience, subject, end."""
    published = http.get("/.well-known/jwks.json")
    assert "public, max-age=3" == published.headers["cache-control"], "or a key lives on in caches"
    keys = jwt.PyJWKSet.from_dict(published.json())
    head = jwt.get_unverified_header(inside["pass"])
    claims = jwt.decode(inside["pass"], keys[head["kid"]], ["ES256"], audience=room)
    assert (room, inside["ticket"][24:40]) == (claims["aud"], claims["sub"])
    assert 0 < claims["exp"] - time.time() <= 61


@pytest.mark.attack
def test_bad_passes(served: Serving, inside: dict[str, Any]) -> None:
    """None, forged, unsigned, a ticket, a foreign key or deployment, over, early: 401."""
    made, room = inside["pass"], inside["room"]
    head, body, signature = made.split(".")
    now, own, other = int(time.time()), PassKeys.derive(SECRET), PassKeys.derive("o" * 40)
    ticket_id, sid = (
        inside["ticket"][24:40],
        int(jwt.decode(made, options={"verify_signature": False})["jti"]),
    )
    none = urlsafe_b64encode(json.dumps({"alg": "none", "typ": "JWT"}).encode()).decode()
    bad = {
        "none": None,
        "empty": "",
        "changed": f"{head}.{body}.{'A' if signature[0] != 'A' else 'B'}{signature[1:]}",
        "unsigned": f"{none.rstrip('=')}.{body}.",
        "ticket": inside["ticket"],
        "another key": other.sign(room, ticket_id, sid, now, now + 60, "waitroom"),
        "another deployment": own.sign(
            room, ticket_id, sid, now, now + 60, "https://staging.example"
        ),
        "over": own.sign(room, ticket_id, sid, now - 600, now - 300, "waitroom"),
        "early": own.sign(room, ticket_id, sid, now + 600, now + 900, "waitroom"),
        "another session": own.sign(room, ticket_id, sid + 1, now, now + 60, "waitroom"),
        "another ticket": own.sign(room, "A" * 16, sid, now, now + 60, "waitroom"),
        "of no room": own.sign("nowhere", ticket_id, sid, now, now + 60, "waitroom"),
        "endless": "x" * 9_000,
        "odd": "a.b.c",
    }
    for name, text in bad.items():
        reply = check(served, text)
        assert (401, "invalid_pass") == (reply.status, reply.code), name
    assert 401 == check(served, made, "?room=other").status
    own_way = own.sign(room, ticket_id, sid, now, now + 60, "waitroom")
    assert 204 == check(served, own_way).status, "the same claims by our key are good"
    outage = own.sign(room, ticket_id, 0, now, now + 60, "waitroom")
    assert 204 == check(served, outage).status, "given while the backend was away, for its minute"


def test_a_revoked_session(
    served: Serving, inside: dict[str, Any], operator: httpx2.Client
) -> None:
    """After a kick, or once its room is dropped, the pass is worthless at once."""
    room = inside["room"]
    ids = {"ticket_ids": [inside["ticket"][24:40]]}
    operator.post(f"/v1/admin/rooms/{room}/kick", json=ids).raise_for_status()
    assert 401 == check(served, inside["pass"]).status
    path = f"/v1/rooms/{room}/tickets"
    other = httpx2.post(served.base + path, json={"enter": True}).json()
    assert 204 == check(served, other["pass"]).status
    operator.delete(f"/v1/admin/rooms/{room}").raise_for_status()
    assert 401 == check(served, other["pass"]).status


def test_only_get(http: httpx2.Client) -> None:
    """Gates ask with GET; other methods are 405."""
    for method in ("POST", "PUT", "DELETE"):
        reply = http.request(method, f"/v1/check?{secrets.token_hex(2)}")
        assert (405, "GET") == (reply.status_code, reply.headers["allow"])
