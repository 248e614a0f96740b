"""Rooms in the operator API, over a real socket."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from tests.server.operator.calls import at, join, log
from tests.support.servers import wait_for
from waitroom.models import POLICY_FIELDS


def test_create_get_drop(operator: httpx2.Client, room: str) -> None:
    """A room is created from a preset with changes, shown completely, and removed."""
    name = f"{room}-new"
    body = {"name": name, "preset": "slots", "policy": {"capacity": 7, "session_s": None}}
    made = operator.post("/v1/admin/rooms", json=body)
    assert (201, at(name), '"1"') == (
        made.status_code,
        made.headers["location"],
        made.headers["etag"],
    )
    shown = operator.get(at(name))
    assert "no-store" == shown.headers["cache-control"]
    policy = shown.json()["policy"]
    assert set(POLICY_FIELDS) == set(policy)
    assert (7, None, "service") == (policy["capacity"], policy["session_s"], policy["eta"])
    again = operator.post("/v1/admin/rooms", json=body)
    assert (409, "room_exists") == (again.status_code, again.json()["code"])
    assert 204 == operator.delete(at(name)).status_code
    gone = operator.delete(at(name))
    assert (404, "unknown_room") == (gone.status_code, gone.json()["code"])
    assert ["room.drop", "room.create"] == [entry["action"] for entry in log(operator, name)]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "a b"}, "name"),
        ({"name": ""}, "name"),
        ({}, "name"),
        ({"name": "x", "preset": "none"}, "preset"),
        ({"name": "x", "policy": {"capacity": 0}}, "capacity"),
        ({"name": "x", "policy": {"capacity": "5"}}, "policy.capacity"),
        ({"name": "x", "policy": {"capcity": 5}}, "policy.capcity"),
        ({"name": "x", "policy": {"batch": 5}}, "every_s"),
        ({"name": "x", "policy": {"mode": "shut"}}, "mode"),
    ],
)
def test_bad_rooms(operator: httpx2.Client, body: dict[str, Any], field: str) -> None:
    """Invalid room input is a 422 that names the field."""
    answer = operator.post("/v1/admin/rooms", json=body)
    assert (422, field) == (answer.status_code, answer.json()["field"]), answer.text


def test_rooms_in_pages(operator: httpx2.Client, room: str) -> None:
    """Rooms come by name, in consecutive pages."""
    for letter in "abc":
        operator.post("/v1/admin/rooms", json={"name": f"{room}-{letter}"}).raise_for_status()
    first = operator.get("/v1/admin/rooms", params={"after": room, "limit": 2}).json()
    assert [f"{room}-a", f"{room}-b"] == [view["name"] for view in first["rooms"]]
    then = operator.get("/v1/admin/rooms", params={"after": first["after"], "limit": 1}).json()
    assert [f"{room}-c"] == [view["name"] for view in then["rooms"]]


def test_change(operator: httpx2.Client, room: str) -> None:
    """A change takes effect at once, says what it changed, and raises the version."""
    answer = operator.patch(at(room), json={"policy": {"mode": "paused", "capacity": None}})
    assert (200, '"2"') == (answer.status_code, answer.headers["etag"])
    changed = answer.json()["changed"]
    expected = {"mode": {"old": "open", "new": "paused"}, "capacity": {"old": 2, "new": None}}
    assert expected == changed
    assert "paused" == operator.get(at(room)).json()["policy"]["mode"]
    entry = log(operator, room)[0]
    assert ("room.change", expected, 2) == (
        entry["action"],
        entry["detail"]["changed"],
        entry["detail"]["version"],
    )
    assert ("settings", "admin", "127.0.0.1") == (
        entry["key_id"],
        entry["role"],
        entry["address"],
    )


@pytest.mark.attack
def test_an_operator_sends_nobody_elsewhere(operator: httpx2.Client, room: str) -> None:
    """Only admins set where people go next: an operator's key cannot lead them astray."""
    made = operator.post("/v1/admin/keys", json={"name": "till", "role": "operator"}).json()
    headers = {"authorization": f"Bearer {made['key']}"}
    for policy in (
        {"go_to": "https://evil.example/"},
        {"mode": "paused", "go_to": None},
        {"mode": "ended", "ended_link": "https://evil.example/"},
        {"help_link": "https://evil.example/"},
    ):
        refused = operator.patch(at(room), json={"policy": policy}, headers=headers)
        assert (403, "forbidden") == (refused.status_code, refused.json()["code"])
    assert "open" == operator.get(at(room)).json()["policy"]["mode"]
    allowed = operator.patch(at(room), json={"policy": {"capacity": 9}}, headers=headers)
    assert 200 == allowed.status_code
    leads = operator.patch(at(room), json={"policy": {"go_to": "https://shop.example/"}})
    assert "https://shop.example/" == leads.json()["policy"]["go_to"]


def test_texts_by_language(operator: httpx2.Client, room: str) -> None:
    """Texts by language are a table; an error says which language."""
    texts = {"ko": {"title": "오로라", "message": "곧 " * 400}}
    changed = operator.patch(at(room), json={"policy": {"texts": texts}}).json()
    assert texts == changed["policy"]["texts"]
    bad = {"policy": {"texts": {"ko": {"title": ""}}}}
    refused = operator.patch(at(room), json=bad).json()
    assert ("invalid_policy", "texts.ko.title") == (refused["code"], refused["field"])
    cleared = operator.patch(at(room), json={"policy": {"texts": None}}).json()
    assert cleared["policy"]["texts"] is None


def test_a_stale_change_is_refused(operator: httpx2.Client, room: str) -> None:
    """With the version in the body or as If-Match, somebody else's change is not overwritten."""
    etag = operator.get(at(room)).headers["etag"]
    body = {"version": 1, "policy": {"capacity": 5}}
    assert 200 == operator.patch(at(room), json=body).status_code
    stale = operator.patch(at(room), json={"version": 1, "policy": {"capacity": 6}})
    assert (409, "version_conflict") == (stale.status_code, stale.json()["code"])
    headers = {"if-match": etag}
    stale = operator.patch(at(room), json={"policy": {"capacity": 6}}, headers=headers)
    assert (409, "version_conflict") == (stale.status_code, stale.json()["code"])
    assert 5 == operator.get(at(room)).json()["policy"]["capacity"]
    headers = {"if-match": '"2"'}
    assert (
        200
        == operator.patch(at(room), json={"policy": {"capacity": 6}}, headers=headers).status_code
    )


@pytest.mark.parametrize("header", ["2", '"x"', '"1", "2"', ""])
def test_bad_if_match(operator: httpx2.Client, room: str, header: str) -> None:
    """Anything but one of our ETags is refused, not ignored."""
    body = {"policy": {"capacity": 5}}
    answer = operator.patch(at(room), json=body, headers={"if-match": header})
    assert (422, "If-Match") == (answer.status_code, answer.json()["field"])


@pytest.mark.parametrize(
    "body",
    [{}, {"policy": {}}, {"policy": {"capacity": -1}}, {"capacity": 5}, {"policy": {"logo": "x"}}],
)
def test_bad_changes(operator: httpx2.Client, room: str, body: dict[str, Any]) -> None:
    """A meaningless or forbidden change leaves the room unchanged."""
    assert 422 == operator.patch(at(room), json=body).status_code
    assert 1 == operator.get(at(room)).json()["version"]


def test_undo(operator: httpx2.Client, room: str) -> None:
    """The last change is undone, by its version or entry, and no other."""
    path = f"/v1/admin/rooms/{room}"
    nothing = operator.post(f"{path}/undo", json={})
    assert (409, "cannot_undo") == (nothing.status_code, nothing.json()["code"])
    changed = operator.patch(path, json={"policy": {"capacity": 7, "mode": "paused"}}).json()
    entry = operator.get("/v1/admin/audit", params={"room": room}).json()["entries"][0]
    stale = operator.post(f"{path}/undo", json={"version": changed["version"] - 1})
    assert (409, "version_conflict") == (stale.status_code, stale.json()["code"])
    answer = operator.post(f"{path}/undo", json={"entry": entry["id"]})
    body = answer.json()
    assert (200, entry["id"], '"3"') == (answer.status_code, body["undoes"], answer.headers["etag"])
    assert (2, "open") == (body["policy"]["capacity"], body["policy"]["mode"])
    assert {"old": 7, "new": 2} == body["changed"]["capacity"]
    again = operator.post(f"{path}/undo", json={"entry": entry["id"]})
    assert (409, "version_conflict") == (again.status_code, again.json()["code"])


def test_clear(http: httpx2.Client, operator: httpx2.Client, room: str) -> None:
    """Only the room's own name empties it."""
    join(http, room, 3)
    wrong = operator.post(at(room, "/clear"), json={"confirm": "yes"})
    assert (422, "confirm") == (wrong.status_code, wrong.json()["field"])
    assert {"cleared": 3} == operator.post(at(room, "/clear"), json={"confirm": room}).json()
    assert 0 == operator.get(at(room, "/stats")).json()["waiting"]


def test_a_set_to_the_same_is_no_change(operator: httpx2.Client, room: str) -> None:
    """The log contains changes, not attempts."""
    operator.patch(at(room), json={"policy": {"capacity": 2}}).raise_for_status()
    assert ["room.create"] == [entry["action"] for entry in log(operator, room)]


@pytest.mark.parametrize("room_name", ["no-such-room", "a b", "x" * 65, "%00", "..%2f", "대기"])
def test_rooms_that_are_not_there(operator: httpx2.Client, room_name: str) -> None:
    """Whatever the name, an unknown room is a 404 problem."""
    for rest in ("", "/tickets", "/stats", "/series"):
        answer = operator.get(at(room_name, rest))
        assert 404 == answer.status_code, answer.text
        assert "application/problem+json" == answer.headers["content-type"]
    for rest, body in {
        "/admit": {"count": 1},
        "/kick": {"older_than_s": 1},
        "/clear": {"confirm": room_name},
    }.items():
        assert 404 == operator.post(at(room_name, rest), json=body).status_code


def test_stats(http: httpx2.Client, operator: httpx2.Client, room: str) -> None:
    """Current numbers, with an estimate."""
    join(http, room, 3)
    stats = operator.get(at(room, "/stats")).json()
    assert (1, 2, 0, 3) == (
        stats["waiting"],
        stats["called"],
        stats["inside"],
        stats["counters"]["joined"],
    )
    assert {"low", "likely", "high"} == set(stats["eta_s"])


@pytest.mark.attack
def test_who_may_return_is_seen_and_bounded(
    http: httpx2.Client, operator: httpx2.Client, page: httpx2.Client, room: str
) -> None:
    """A ticket that nobody polls is counted; after `return_s` it is gone, and is told so."""
    policy = {"mode": "paused", "presence_s": 1, "return_s": 86_400}
    operator.patch(at(room), json={"policy": policy}).raise_for_status()
    ticket = join(http, room, 1)[0]["ticket"]

    def may_return() -> int:
        return int(operator.get(at(room, "/stats")).json()["may_return"])

    wait_for(lambda: may_return() == 1, "dropped for silence")
    shown = f"/admin/rooms/{room}"  # its numbers may be a second old
    wait_for(lambda: "May return: 1" in page.get(shown).text, "the same on the page")
    operator.patch(at(room), json={"policy": {"return_s": 0.001}}).raise_for_status()
    wait_for(lambda: may_return() == 0, "too late")
    gone = http.get(f"/v1/rooms/{room}/tickets/{ticket}")
    assert (410, "abandoned") == (gone.status_code, gone.json()["reason"])
