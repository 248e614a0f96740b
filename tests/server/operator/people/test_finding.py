"""The operator API for one person: found anywhere, and given their place back."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from tests.server.operator.calls import at, listed, log
from tests.server.operator.calls import join as join_room
from waitroom.credentials.roles import Role

PAUSED = {"mode": "paused"}


def join(http: httpx2.Client, room: str, people: int) -> list[dict[str, Any]]:
    """Make people join; their tickets contain their ids."""
    return [view | {"id": view["ticket"][24:40]} for view in join_room(http, room, people)]


def find(operator: httpx2.Client, words: str) -> list[dict[str, Any]]:
    """Return all matches."""
    answer = operator.post("/v1/admin/find", json={"q": words})
    assert 200 == answer.status_code, answer.text
    assert "no-store" == answer.headers["cache-control"]
    matches: list[dict[str, Any]] = answer.json()["matches"]
    return matches


def test_found_and_given_back(operator: httpx2.Client, http: httpx2.Client, room: str) -> None:
    """By ticket, code or id, here or gone; then at the old place, and the ticket works again."""
    operator.patch(at(room), json={"policy": PAUSED}).raise_for_status()
    first, person, last = join(http, room, 3)
    for words in (person["ticket"], person["short_code"], person["id"]):
        (match,) = find(operator, words)
        assert (room, person["id"], "waiting", 2) == tuple(
            match[name] for name in ("room", "id", "state", "position")
        )
    operator.post(at(room, "/kick"), json={"ticket_ids": [person["id"]]}).raise_for_status()
    (match,) = find(operator, person["short_code"])
    assert ("gone", "kicked", True) == (match["state"], match["reason"], match["since_ms"] > 0)
    body = {"ticket": person["short_code"]}
    back = operator.post(at(room, "/reinstate"), json=body, headers={"Idempotency-Key": "a"})
    assert {"ticket_id": person["id"], "position": 2, "waiting": 3} == {
        name: back.json()[name] for name in ("ticket_id", "position", "waiting")
    }
    again = operator.post(
        at(room, "/reinstate"), json={"ticket": person["id"]}, headers={"Idempotency-Key": "a"}
    )
    assert back.json() == again.json()
    assert [first["id"], person["id"], last["id"]] == listed(operator, room)
    view = http.get(f"/v1/rooms/{room}/tickets/{person['ticket']}").json()
    assert ("waiting", 2) == (view["state"], view["position"])
    assert "reinstate" == log(operator, room)[0]["action"]
    refused = operator.post(at(room, "/reinstate"), json={"ticket": person["id"]})
    assert (409, "already_here") == (refused.status_code, refused.json()["code"])
    stranger = operator.post(at(room, "/reinstate"), json={"ticket": "A" * 16})
    assert (404, "unknown_ticket") == (stranger.status_code, stranger.json()["code"])


@pytest.mark.attack
def test_who_may(operator: httpx2.Client, http: httpx2.Client, room: str) -> None:
    """A viewer finds people but cannot reinstate them; strangers can do neither."""
    made = operator.post("/v1/admin/keys", json={"name": "v", "role": Role.VIEWER}).json()
    viewer = {"Authorization": f"Bearer {made['key']}"}
    (person,) = join(http, room, 1)
    path, body = at(room, "/reinstate"), {"ticket": person["id"]}
    looks = http.post("/v1/admin/find", json={"q": person["id"]}, headers=viewer)
    assert (200, 1) == (looks.status_code, len(looks.json()["matches"]))
    assert 403 == http.post(path, json=body, headers=viewer).status_code
    assert 401 == http.post("/v1/admin/find", json={"q": person["id"]}).status_code
    assert 401 == http.post(path, json=body).status_code
