"""What programs are told in a room that gives the gate no place for them."""

from __future__ import annotations

from collections.abc import Callable

import httpx2
import pytest

from tests.gates.sites import site
from tests.support.clients import Reply, ask, request
from tests.support.serving import SECRET, Serving
from waitroom.client import SyncClient
from waitroom.gates.options import Options
from waitroom.tickets import KeyRing

MakeRoom = Callable[..., str]
JSON = {"accept": "application/json"}
KEY = {"waitroom-key": "0123456789abcdef-of-mine"}


def options(waitroom: Serving, room: str) -> Options:
    """Return a gate that gives a busy machine time."""
    return Options(waitroom.base, {"/concert": room}, deadline_s=5)


def get(port: int, headers: dict[str, str]) -> Reply:
    """Ask for the protected page as a program."""
    return ask(port, request("GET", "/concert", JSON | headers))


@pytest.mark.parametrize(
    ("policy", "code"),
    [({"challenge": "work"}, "challenge_required"), ({"needs": "code"}, "code_required")],
)
def test_a_room_that_asks_for_more(
    waitroom: Serving,
    make_room: MakeRoom,
    operator: httpx2.Client,
    policy: dict[str, str],
    code: str,
) -> None:
    """429 with its reason and where to join; the gate takes the ticket that was got there."""
    room = make_room(**policy)
    invited = operator.post(f"/v1/admin/rooms/{room}/codes", json={"count": 1}).json()["codes"][0]
    with site("starlette", options(waitroom, room)) as port, SyncClient(waitroom.base) as client:
        reply = get(port, {})
        told = reply.json()
        assert (429, "5", "application/problem+json") == (
            reply.status,
            reply.header("retry-after"),
            reply.header("content-type"),
        )
        assert (code, room, f"{waitroom.base}/rooms/{room}") == (
            told["code"],
            told["room"],
            told["url"],
        )
        assert f"{waitroom.base}/v1/rooms/{room}/tickets" == told["join"]
        assert "claim" not in told
        # Our client solves what the room asks.
        ticket = client.join(room, code=invited if code == "code_required" else None)
        inside = get(port, {"waitroom-ticket": ticket.ticket})
        assert (200, b"secret") == (inside.status, inside.body)


def test_the_account_of_a_program_that_must_join_by_itself(
    waitroom: Serving, make_room: MakeRoom
) -> None:
    """It is given a claim for the body of its join, as by gates that join for nobody."""
    room, ring = make_room(needs="code"), KeyRing.from_text(SECRET)
    key = ring.claim_key(room)
    gate = Options(
        waitroom.base,
        {"/concert": room},
        identity=lambda _: "ann",
        claim_key=key.text(),
        deadline_s=5,
    )
    with site("wsgi", gate) as port, waitroom.operator() as operator:
        told = get(port, {}).json()
        codes = operator.post(f"/v1/admin/rooms/{room}/codes", json={"count": 1}).json()["codes"]
    body = {"claim": told["claim"], "code": codes[0]}
    with httpx2.Client(timeout=60) as program:
        joined = program.post(
            told["join"], json=body, headers={"idempotency-key": KEY["waitroom-key"]}
        )
    ticket = joined.raise_for_status().json()["ticket"]
    assert key.account(room, "ann") == ring.read(room, ticket).id


def test_who_is_banned_is_told_for_good(
    waitroom: Serving, make_room: MakeRoom, operator: httpx2.Client
) -> None:
    """403, and no time to come back."""
    room = make_room(mode="paused")
    with site("wsgi", options(waitroom, room)) as port:
        ticket = get(port, KEY).json()["ticket"]
        banned = {"ticket_ids": [KeyRing.from_text(SECRET).read(room, ticket).id], "ban": True}
        operator.post(f"/v1/admin/rooms/{room}/kick", json=banned).raise_for_status()
        reply = get(port, KEY)
        assert (403, "banned", None) == (
            reply.status,
            reply.json()["code"],
            reply.header("retry-after"),
        )
