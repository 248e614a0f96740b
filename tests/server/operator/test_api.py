"""The operator API: rooms, people, numbers, the audit log, over a real socket."""

from __future__ import annotations

import re
import time
from typing import Any

import httpx
import pytest

from tests.support.servers import wait_for
from waitroom.models import POLICY_FIELDS
from waitroom.server.http.answers import moment


def join(http: httpx.Client, room: str, people: int) -> list[dict[str, Any]]:
    """Let people join, one after the other."""
    views = []
    for _ in range(people):
        answer = http.post(f"/v1/rooms/{room}/tickets")
        assert 201 == answer.status_code, answer.text
        views.append(answer.json())
    return views


def at(room: str, rest: str = "") -> str:
    """Return the path of a room."""
    return f"/v1/admin/rooms/{room}{rest}"


def listed(operator: httpx.Client, room: str, state: str = "waiting") -> list[str]:
    """Return the ids of those in a state."""
    answer = operator.get(at(room, "/tickets"), params={"state": state})
    return [ticket["id"] for ticket in answer.json()["tickets"]]


def log(operator: httpx.Client, room: str) -> list[dict[str, Any]]:
    """Return what was done to a room, newest first."""
    entries: list[dict[str, Any]] = operator.get("/v1/admin/audit", params={"room": room}).json()[
        "entries"
    ]
    return entries


def test_create_get_drop(operator: httpx.Client, room: str) -> None:
    """A room is made from a preset with changes, shown whole, and removed."""
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
def test_bad_rooms(operator: httpx.Client, body: dict[str, Any], field: str) -> None:
    """What cannot be a room is a 422 that names the field."""
    answer = operator.post("/v1/admin/rooms", json=body)
    assert (422, field) == (answer.status_code, answer.json()["field"]), answer.text


def test_rooms_in_pages(operator: httpx.Client, room: str) -> None:
    """Rooms come by name, in pages that follow each other."""
    for letter in "abc":
        operator.post("/v1/admin/rooms", json={"name": f"{room}-{letter}"}).raise_for_status()
    first = operator.get("/v1/admin/rooms", params={"after": room, "limit": 2}).json()
    assert [f"{room}-a", f"{room}-b"] == [view["name"] for view in first["rooms"]]
    then = operator.get("/v1/admin/rooms", params={"after": first["after"], "limit": 1}).json()
    assert [f"{room}-c"] == [view["name"] for view in then["rooms"]]


def test_change(operator: httpx.Client, room: str) -> None:
    """A change acts at once, says what it changed, and goes up by a version."""
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
def test_an_operator_sends_nobody_elsewhere(operator: httpx.Client, room: str) -> None:
    """Where people go on to is for admins alone: an operator's key cannot lead them astray."""
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


def test_texts_by_language(operator: httpx.Client, room: str) -> None:
    """Texts of languages are a table; an error says which."""
    texts = {"ko": {"title": "오로라", "message": "곧 " * 400}}
    changed = operator.patch(at(room), json={"policy": {"texts": texts}}).json()
    assert texts == changed["policy"]["texts"]
    bad = {"policy": {"texts": {"ko": {"title": ""}}}}
    refused = operator.patch(at(room), json=bad).json()
    assert ("invalid_policy", "texts.ko.title") == (refused["code"], refused["field"])
    cleared = operator.patch(at(room), json={"policy": {"texts": None}}).json()
    assert cleared["policy"]["texts"] is None


def test_a_stale_change_is_refused(operator: httpx.Client, room: str) -> None:
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
def test_bad_if_match(operator: httpx.Client, room: str, header: str) -> None:
    """What is no ETag of ours is refused rather than ignored."""
    body = {"policy": {"capacity": 5}}
    answer = operator.patch(at(room), json=body, headers={"if-match": header})
    assert (422, "If-Match") == (answer.status_code, answer.json()["field"])


@pytest.mark.parametrize(
    "body",
    [{}, {"policy": {}}, {"policy": {"capacity": -1}}, {"capacity": 5}, {"policy": {"logo": "x"}}],
)
def test_bad_changes(operator: httpx.Client, room: str, body: dict[str, Any]) -> None:
    """A change that means nothing or is not allowed leaves the room as it was."""
    assert 422 == operator.patch(at(room), json=body).status_code
    assert 1 == operator.get(at(room)).json()["version"]


def test_undo(operator: httpx.Client, room: str) -> None:
    """The last change is taken back, by its version or entry, and no other."""
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


def test_admit(http: httpx.Client, operator: httpx.Client, room: str) -> None:
    """People are called as far as there is room, with force above it; a repeat calls nobody."""
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


def test_call_and_kick(http: httpx.Client, operator: httpx.Client, room: str) -> None:
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
def test_a_ban_holds(http: httpx.Client, operator: httpx.Client, room: str) -> None:
    """A banned visitor cannot join again, is told why, and the log has it; a ban can be lifted."""
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


def test_kick_by_age(http: httpx.Client, operator: httpx.Client, room: str) -> None:
    """Those who have waited long enough go, the others stay."""
    join(http, room, 4)
    out = operator.post(at(room, "/kick"), json={"older_than_s": 3600})
    assert {"found": 0, "kicked": 0, "more": False} == out.json()
    out = operator.post(at(room, "/kick"), json={"newer_than_s": 3600})
    assert {"found": 2, "kicked": 2, "more": False} == out.json()
    bad: list[dict[str, Any]] = [{}, {"ticket_ids": ["x"], "older_than_s": 1}, {"ticket_ids": []}]
    bad.append({"newer_than_s": 3600, "ban": True})
    for body in bad:
        assert 422 == operator.post(at(room, "/kick"), json=body).status_code


def test_clear(http: httpx.Client, operator: httpx.Client, room: str) -> None:
    """Only the room's own name empties it."""
    join(http, room, 3)
    wrong = operator.post(at(room, "/clear"), json={"confirm": "yes"})
    assert (422, "confirm") == (wrong.status_code, wrong.json()["field"])
    assert {"cleared": 3} == operator.post(at(room, "/clear"), json={"confirm": room}).json()
    assert 0 == operator.get(at(room, "/stats")).json()["waiting"]


def test_tickets(http: httpx.Client, operator: httpx.Client, room: str) -> None:
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


def _samples(operator: httpx.Client, room: str) -> list[tuple[int, int]]:
    """Return who was waiting and who was called, in each sample."""
    samples = operator.get(at(room, "/series")).json()["samples"]
    return [(sample["waiting"], sample["called"]) for sample in samples]


def test_stats_and_series(http: httpx.Client, operator: httpx.Client, room: str) -> None:
    """Numbers of now with an estimate, and samples of before."""
    join(http, room, 3)
    stats = operator.get(at(room, "/stats")).json()
    assert (1, 2, 0, 3) == (
        stats["waiting"],
        stats["called"],
        stats["inside"],
        stats["counters"]["joined"],
    )
    assert {"low", "likely", "high"} == set(stats["eta_s"])
    wait_for(lambda: (1, 2) in _samples(operator, room), "a sample of all of them")
    assert 422 == operator.get(at(room, "/series"), params={"minutes": 0}).status_code


def test_audit_in_pages(operator: httpx.Client, room: str) -> None:
    """The log is read backwards, page by page."""
    for capacity in (5, 6, 7):
        operator.patch(at(room), json={"policy": {"capacity": capacity}}).raise_for_status()
    params = {"room": room, "limit": "2"}
    first = operator.get("/v1/admin/audit", params=params).json()
    then = operator.get("/v1/admin/audit", params={**params, "before": first["before"]}).json()
    new = [
        entry["detail"]["changed"]["capacity"]["new"]
        for entry in first["entries"] + then["entries"]
        if entry["action"] == "room.change"
    ]
    assert ([7, 6, 5], None) == (new, then["before"])
    assert 422 == operator.get("/v1/admin/audit", params={"before": "x"}).status_code


def test_a_set_to_the_same_is_no_change(operator: httpx.Client, room: str) -> None:
    """The log holds changes, not wishes."""
    operator.patch(at(room), json={"policy": {"capacity": 2}}).raise_for_status()
    assert ["room.create"] == [entry["action"] for entry in log(operator, room)]


def test_keys(operator: httpx.Client) -> None:
    """A key is shown once; lists and the log never hold it."""
    made = operator.post("/v1/admin/keys", json={"name": "박스 오피스", "role": "operator"}).json()
    secret = made["key"].split("_", 2)[2]
    keys = operator.get("/v1/admin/keys")
    assert made["id"] in [key["id"] for key in keys.json()["keys"]]
    for text in (keys.text, operator.get("/v1/admin/audit").text):
        assert secret not in text
    assert 204 == operator.delete(f"/v1/admin/keys/{made['id']}").status_code
    gone = operator.delete(f"/v1/admin/keys/{made['id']}")
    assert (404, "unknown_key") == (gone.status_code, gone.json()["code"])
    for body in ({"name": ""}, {"name": "a", "role": "boss"}, {"name": "a\nb"}, {}):
        assert 422 == operator.post("/v1/admin/keys", json=body).status_code


@pytest.mark.parametrize("room_name", ["no-such-room", "a b", "x" * 65, "%00", "..%2f", "대기"])
def test_rooms_that_are_not_there(operator: httpx.Client, room_name: str) -> None:
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


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'"x"', b"\xff", b"1" * 5000])
def test_bodies_that_cannot_be_read(operator: httpx.Client, room: str, content: bytes) -> None:
    """A broken body is a problem document, never a 500."""
    headers = {"content-type": "application/json"}
    answer = operator.post(at(room, "/admit"), content=content, headers=headers)
    assert answer.status_code in (400, 422)
    assert "application/problem+json" == answer.headers["content-type"]


@pytest.mark.attack
def test_nobody_reads_a_draw(
    http: httpx.Client, operator: httpx.Client, page: httpx.Client, room: str
) -> None:
    """Before the opening no list tells who drew which place, and nobody is removed by an age."""
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
def test_an_op_id_is_of_its_key(http: httpx.Client, operator: httpx.Client, room: str) -> None:
    """Whoever guesses the op_id of another key neither gets its answer nor keeps it from acting."""
    join(http, room, 6)
    made = operator.post("/v1/admin/keys", json={"name": "other", "role": "operator"}).json()
    theirs = {"authorization": f"Bearer {made['key']}"}
    body = {"count": 1, "force": True, "op_id": "doors"}
    calls = [operator.post(at(room, "/admit"), json=body, headers=theirs) for _ in range(2)]
    assert [3, 3] == [answer.json()["waiting"] for answer in calls]
    assert {"called": 1, "waiting": 2} == operator.post(at(room, "/admit"), json=body).json()


@pytest.mark.attack
def test_sign_ins_are_kept_apart(operator: httpx.Client, page: httpx.Client, room: str) -> None:
    """Who signs in stands in a log of its own, on the page too, where it pushes nothing out."""
    operator.patch(at(room), json={"policy": {"capacity": 9}}).raise_for_status()
    actions = operator.get("/v1/admin/audit").json()["entries"]
    assert "sign_in" not in {entry["action"] for entry in actions}
    signed_in = operator.get("/v1/admin/audit", params={"log": "sign_ins"}).json()["entries"]
    assert {"sign_in"} == {entry["action"] for entry in signed_in}
    assert "Signed in" not in page.get("/admin/audit").text
    assert "Signed in" in page.get("/admin/audit?log=sign_ins").text
    assert 422 == operator.get("/v1/admin/audit", params={"log": "x"}).status_code


@pytest.mark.attack
def test_who_may_return_is_seen_and_bounded(
    http: httpx.Client, operator: httpx.Client, page: httpx.Client, room: str
) -> None:
    """A ticket that nobody polls is counted; after `return_s` it is gone, and is told so."""
    policy = {"mode": "paused", "presence_s": 1, "return_s": 86_400}
    operator.patch(at(room), json={"policy": policy}).raise_for_status()
    ticket = join(http, room, 1)[0]["ticket"]

    def may_return() -> int:
        return int(operator.get(at(room, "/stats")).json()["may_return"])

    wait_for(lambda: may_return() == 1, "dropped for silence")
    assert "May return: 1" in page.get(f"/admin/rooms/{room}").text
    operator.patch(at(room), json={"policy": {"return_s": 0.001}}).raise_for_status()
    wait_for(lambda: may_return() == 0, "too late")
    gone = http.get(f"/v1/rooms/{room}/tickets/{ticket}")
    assert (410, "abandoned") == (gone.status_code, gone.json()["reason"])


def test_by_code(http: httpx.Client, operator: httpx.Client, room: str) -> None:
    """The code that a join tells finds the ticket and calls it; polls leave the code out."""
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
