"""Joining with an entry code over HTTP: what it answers, what it refuses, what a repeat gets."""

from __future__ import annotations

import json
import secrets
from typing import Any

import httpx2
import pytest

from tests.support.clients import Reply, ask, request
from tests.support.serving import Serving

KEY = "idempotency-key"


class Room:
    """A room for invited people, and a batch of its codes."""

    def __init__(self, served: Serving, operator: httpx2.Client, **policy: Any) -> None:
        self.name = f"c-{secrets.token_hex(6)}"
        self.served, self.operator = served, operator
        body = {"name": self.name, "policy": {"needs": "code", "mode": "paused"} | policy}
        operator.post("/v1/admin/rooms", json=body).raise_for_status()
        made = operator.post(f"/v1/admin/rooms/{self.name}/codes", json={"count": 2})
        self.batch: str = made.json()["batch"]
        self.codes: list[str] = made.json()["codes"]

    def join(self, code: str | None, key: str | None = None, **headers: str) -> Reply:
        """Join, perhaps with a code and a key."""
        body = {} if code is None else {"code": code}
        headers |= {} if key is None else {KEY: key}
        path = f"/v1/rooms/{self.name}/tickets"
        return ask(self.served.port, request("POST", path, headers, json.dumps(body).encode()))

    def used(self) -> int:
        """Return how many uses are taken."""
        batches = self.operator.get(f"/v1/admin/rooms/{self.name}/codes").json()["batches"]
        return int(batches[0]["used"])


@pytest.fixture
def invited(served: Serving, operator: httpx2.Client) -> Room:
    """Return a room in which everybody waits."""
    return Room(served, operator)


def problem(reply: Reply) -> tuple[int, str, str | None]:
    """Return what an answer refuses, and why."""
    body = reply.json()
    return reply.status, body["code"], body.get("reason")


def test_a_place(invited: Room) -> None:
    """With a code and a key there is a place; a repeat answers it again, another key nothing."""
    code, key = invited.codes[0], secrets.token_hex(16)
    first, again = invited.join(code, key), invited.join(code.lower().replace("-", ""), key)
    assert (201, 200, 1, 1) == (
        first.status,
        again.status,
        first.json()["position"],
        again.json()["position"],
    )
    other = invited.join(code, secrets.token_hex(16))
    assert (403, "code_refused", "used") == problem(other)
    assert 1 == invited.used()


def test_without_a_code(invited: Room) -> None:
    """A newcomer without a code is refused, with a key or without."""
    for key in (None, secrets.token_hex(16)):
        assert (403, "code_required", None) == problem(invited.join(None, key))


def test_without_a_key(invited: Room) -> None:
    """A code without an Idempotency-Key is refused before it is looked at, and not used."""
    reply = invited.join(invited.codes[0])
    assert (422, "invalid_input", "Idempotency-Key") == (
        reply.status,
        reply.json()["code"],
        reply.json()["field"],
    )
    assert 0 == invited.used()


def test_not_ours(invited: Room, served: Serving, operator: httpx2.Client) -> None:
    """A mistyped code, and one of another room, is unknown."""
    other = Room(served, operator)
    for code in (other.codes[0], "K7Q2", invited.codes[0][:-1]):
        refused = invited.join(code, secrets.token_hex(16))
        assert (403, "code_refused", "unknown") == problem(refused)
    long = invited.join("0" * 5000, secrets.token_hex(16))
    assert 422 == long.status


def test_revoked(invited: Room, operator: httpx2.Client) -> None:
    """After a revocation the code is refused with its own word; a place stays a place."""
    key = secrets.token_hex(16)
    ticket = invited.join(invited.codes[0], key).json()["ticket"]
    operator.delete(f"/v1/admin/rooms/{invited.name}/codes/{invited.batch}").raise_for_status()
    refused = invited.join(invited.codes[1], secrets.token_hex(16))
    assert (403, "code_refused", "revoked") == problem(refused)
    assert 200 == invited.join(invited.codes[0], key).status
    status = request("GET", f"/v1/rooms/{invited.name}/tickets/{ticket}", {})
    assert 200 == ask(invited.served.port, status).status


def test_who_has_a_place_needs_none(invited: Room) -> None:
    """A browser with a ticket keeps its place, without a code, and with one that stays unused."""
    first = invited.join(invited.codes[0], secrets.token_hex(16))
    cookie = f"waitroom-ticket-{invited.name}={first.json()['ticket']}"
    browser = {"cookie": cookie}
    assert 1 == invited.join(None, None, **browser).json()["position"]
    again = invited.join(invited.codes[1], secrets.token_hex(16), **browser)
    assert (200, 1, 1) == (again.status, again.json()["position"], invited.used())


def test_leave_gives_it_back(invited: Room) -> None:
    """Who leaves while they wait gives the code back."""
    ticket = invited.join(invited.codes[0], secrets.token_hex(16)).json()["ticket"]
    leave = request("DELETE", f"/v1/rooms/{invited.name}/tickets/{ticket}", {})
    assert 204 == ask(invited.served.port, leave).status
    assert 201 == invited.join(invited.codes[0], secrets.token_hex(16)).status


def test_by_an_api_key(invited: Room, operator: httpx2.Client) -> None:
    """A site that names its visitor needs no Idempotency-Key; the code counts all the same."""
    path = f"/v1/rooms/{invited.name}/tickets"
    refused = operator.post(path, json={"visitor": "kim"})
    assert (403, "code_required") == (refused.status_code, refused.json()["code"])
    body = {"visitor": "kim", "code": invited.codes[0]}
    answers = [operator.post(path, json=body).status_code for _ in range(2)]
    other = operator.post(path, json=body | {"visitor": "lee"})
    assert ([201, 200], "used", 1) == (answers, other.json()["reason"], invited.used())
