"""People in the operator API, over a real socket."""

from __future__ import annotations

import re
import time
from typing import Any

import httpx2
import pytest

from tests.server.operator.calls import at, join, listed, log
from waitroom.server.http.answers import moment


def test_admit(http: httpx2.Client, operator: httpx2.Client, room: str) -> None:
    """People are called as far as there is room, with force beyond it; a repeat calls nobody."""
    join(http, room, 6)
    full = operator.post(at(room, "/admit"), json={"count": 2})
    assert (409, "no_capacity") == (full.status_code, full.json()["code"])
    body: dict[str, Any] = {"count": 2, "force": True}
    for _ in range(2):
        again = operator.post(at(room, "/admit"), json=body, headers={"idempotency-key": "k" * 20})
        assert {"called": 2, "waiting": 2} == again.json()
    body = {"count": 1, "force": True, "op_id": "mine"}
    assert 1 == operator.post(at(room, "/admit"), json=body).json()["called"]
    assert {"called": 1, "waiting": 1} == operator.post(at(room, "/admit"), json=body).json()
    entry = log(operator, room)[0]
    assert {"count": 1, "called": 1, "force": True} == entry["detail"]


def test_call_and_kick(http: httpx2.Client, operator: httpx2.Client, room: str) -> None:
    """One ticket is called out of turn, others are removed by id."""
    views = join(http, room, 6)
    ids = listed(operator, room)
    assert 4 == len(ids)
    done = operator.post(at(room, "/call"), json={"ticket_id": ids[3], "force": True})
    assert (200, ids[3]) == (done.status_code, done.json()["ticket_id"])
    assert done.json()["enter_by_ms"] > time.time() * 1000
    assert "called" == http.get(f"/v1/rooms/{room}/tickets/{views[5]['ticket']}").json()["state"]
    gone = operator.post(at(room, "/call"), json={"ticket_id": "n" * 16, "force": True})
    assert (409, "not_waiting") == (gone.status_code, gone.json()["code"])
    out = operator.post(at(room, "/kick"), json={"ticket_ids": [ids[0], "n" * 16]})
    assert {"found": 2, "kicked": 1, "more": False} == out.json()
    assert 410 == http.get(f"/v1/rooms/{room}/tickets/{views[2]['ticket']}").status_code
    assert ["kick", "call"] == [entry["action"] for entry in log(operator, room)[:2]]


@pytest.mark.attack
def test_a_ban_holds(http: httpx2.Client, operator: httpx2.Client, room: str) -> None:
    """A banned visitor cannot join again, is told why, and it is logged; a ban can be lifted."""
    key = {"authorization": operator.headers["authorization"]}
    join(http, room, 2)
    path, who = f"/v1/rooms/{room}/tickets", {"visitor": "ann"}
    ticket = http.post(path, json=who, headers=key).json()["ticket"]
    ids = {"ticket_ids": [ticket[24:40]]}
    operator.post(at(room, "/kick"), json=ids | {"ban": True}).raise_for_status()
    refused = http.post(path, json=who, headers=key)
    assert (403, "banned") == (refused.status_code, refused.json()["code"])
    for answer in (http.get(f"{path}/{ticket}"), http.post(f"{path}/{ticket}/enter")):
        assert (410, "kicked") == (answer.status_code, answer.json()["reason"])
    assert log(operator, room)[0]["detail"]["ban"]
    operator.post(at(room, "/kick"), json=ids).raise_for_status()
    assert 201 == http.post(path, json=who, headers=key).status_code


def test_kick_by_age(http: httpx2.Client, operator: httpx2.Client, room: str) -> None:
    """People who have waited long enough go, the others stay."""
    join(http, room, 4)
    out = operator.post(at(room, "/kick"), json={"older_than_s": 3600})
    assert {"found": 0, "kicked": 0, "more": False} == out.json()
    out = operator.post(at(room, "/kick"), json={"newer_than_s": 3600})
    assert {"found": 2, "kicked": 2, "more": False} == out.json()
    bad: list[dict[str, Any]] = [{}, {"ticket_ids": ["x"], "older_than_s": 1}, {"ticket_ids": []}]
    bad.append({"newer_than_s": 3600, "ban": True})
    for body in bad:
        assert 422 == operator.post(at(room, "/kick"), json=body).status_code


def test_tickets(http: httpx2.Client, operator: httpx2.Client, room: str) -> None:
    """Tickets come in pages, by state and by when they arrived."""
    join(http, room, 7)
    first = operator.get(at(room, "/tickets"), params={"limit": 3}).json()
    then = operator.get(at(room, "/tickets"), params={"after": first["after"]}).json()
    assert (3, 2, None) == (len(first["tickets"]), len(then["tickets"]), then["after"])
    assert 2 == len(listed(operator, room, "called"))
    middle = first["tickets"][1]["place"] // 1000 + 1
    late = operator.get(at(room, "/tickets"), params={"until": middle}).json()["tickets"]
    assert {"waiting"} == {ticket["state"] for ticket in late}
    assert len(late) < 5
    for query in ("state=gone", "limit=0", "after=x", "state=called&since=1"):
        assert 422 == operator.get(at(room, f"/tickets?{query}")).status_code


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'"x"', b"\xff", b"1" * 5000])
def test_bodies_that_cannot_be_read(operator: httpx2.Client, room: str, content: bytes) -> None:
    """A broken body is a problem document, never a 500."""
    headers = {"content-type": "application/json"}
    answer = operator.post(at(room, "/admit"), content=content, headers=headers)
    assert answer.status_code in (400, 422)
    assert "application/problem+json" == answer.headers["content-type"]


@pytest.mark.attack
def test_nobody_reads_a_draw(
    http: httpx2.Client, operator: httpx2.Client, page: httpx2.Client, room: str
) -> None:
    """Before the opening no list reveals who drew which place, and nobody is removed by age."""
    draw = {"opens_at": moment((time.time_ns() // 10**6) + 3_600_000), "before_open": "draw"}
    operator.patch(at(room), json={"policy": draw}).raise_for_status()
    views = join(http, room, 8)
    shown = operator.get(at(room, "/tickets")).json()
    ids = sorted(view["ticket"][24:40] for view in views)  # it is spelled out there
    assert (ids, False) == ([ticket["id"] for ticket in shown["tickets"]], shown["ordered"])
    assert {None} == {ticket["place"] for ticket in shown["tickets"]}
    for query in ("since=1", "until=9999999999999"):
        refused = operator.get(at(room, f"/tickets?{query}"))
        assert (403, "room_not_open") == (refused.status_code, refused.json()["code"])
    refused = operator.post(at(room, "/kick"), json={"newer_than_s": 86_400})
    assert (403, "room_not_open") == (refused.status_code, refused.json()["code"])
    assert 8 == operator.get(at(room, "/stats")).json()["waiting"]
    text = page.get(f"/admin/rooms/{room}/tickets").text
    assert ids == re.findall(r"<td><code>([\w-]+)</code>", text)
    assert "nobody sees the order" in text
    assert 403 == page.get(f"/admin/rooms/{room}/tickets?older=60").status_code


@pytest.mark.attack
def test_an_op_id_is_of_its_key(http: httpx2.Client, operator: httpx2.Client, room: str) -> None:
    """Guessing the op_id of another key neither returns its answer nor blocks its action."""
    join(http, room, 6)
    made = operator.post("/v1/admin/keys", json={"name": "other", "role": "operator"}).json()
    theirs = {"authorization": f"Bearer {made['key']}"}
    body = {"count": 1, "force": True, "op_id": "doors"}
    calls = [operator.post(at(room, "/admit"), json=body, headers=theirs) for _ in range(2)]
    assert [3, 3] == [answer.json()["waiting"] for answer in calls]
    assert {"called": 1, "waiting": 2} == operator.post(at(room, "/admit"), json=body).json()


def test_by_code(http: httpx2.Client, operator: httpx2.Client, room: str) -> None:
    """The code that a join returns finds the ticket and calls it; polls leave the code out."""
    (view,) = join(http, room, 1)
    polled = http.get(f"/v1/rooms/{room}/tickets/{view['ticket']}").json()
    assert "code" not in polled
    found = operator.get(at(room, "/tickets"), params={"short_code": view["short_code"]}).json()
    assert [view["short_code"]] == [ticket["short_code"] for ticket in found["tickets"]]
    ids = [ticket["id"] for ticket in found["tickets"]]
    answer = operator.post(at(room, "/kick"), json={"ticket_ids": [view["short_code"]]})
    assert {"found": 1, "kicked": 1, "more": False} == answer.json()
    (entry,) = (entry for entry in log(operator, room) if entry["action"] == "kick")
    assert ids == entry["detail"]["tickets"]
    refused = operator.post(at(room, "/call"), json={"ticket_id": view["short_code"]})
    assert (422, "invalid_input") == (refused.status_code, refused.json()["code"])
    many = operator.post(at(room, "/kick"), json={"ticket_ids": ["K7Q-4M2"] * 11})
    assert (422, True) == (many.status_code, "at most 10" in many.json()["detail"])
