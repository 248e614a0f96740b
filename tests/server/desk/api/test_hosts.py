"""Hosts over HTTP: the line, what is done to parties, who may do it, and what is written down."""

from __future__ import annotations

import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.server.desk.api.test_guests import problem
from tests.server.desk.conftest import NAME, PHONE, Shop, open_shop
from tests.server.http.test_auth import key_of
from tests.support.serving import Serving

MASKED = "010-****-5678"


def first(shop: Shop) -> Any:
    """Return the first party in line."""
    return shop.line()["parties"][0]


def test_the_line(shop: Shop) -> None:
    """Parties in order with position and waits, phones masked; the store with its lines."""
    shop.join(name=NAME, phone=PHONE, note="창가")
    shop.join("takeout", size=4, remote=True)
    shop.join(size=5)
    found = shop.line()
    one, two, three = found["parties"]
    told = {
        "number": 1,
        "size": 2,
        "name": NAME,
        "phone": MASKED,
        "note": "창가",
        "source": "on_site",
        "status": "WAITING",
        "position": 1,
        "wait_minutes": 15,
        "waited_minutes": 0,
        "teams_ahead": 0,
        "defers": 0,
        "revision": 1,
        "called_at": None,
    }
    assert told.items() <= one.items()
    assert ("takeout", "remote", 1, 1) == (
        two["type"],
        two["source"],
        two["number"],
        two["position"],
    )
    assert (2, 2, 30, 1) == (
        three["number"],
        three["position"],
        three["wait_minutes"],
        three["teams_ahead"],
    )
    assert (shop.id, [2, 1]) == (
        found["store"]["store"],
        [line["waiting"] for line in found["store"]["lines"]],
    )
    assert [1, 2] == [one["number"] for one in shop.line(type="dine-in")["parties"]]
    assert 404 == shop.host.get(f"{shop.path}/line", params={"type": "brunch"}).status_code


def test_an_evening(shop: Shop) -> None:
    """Call, seat, no-show, cancel and undo: each shows at once to hosts and to the guest."""
    tokens = [shop.join(size=size)["token"] for size in (2, 6, 3, 2)]
    called = shop.do("call-next", type="dine-in").json()["party"]
    assert (1, "CALLED", 2, 0) == (
        called["number"],
        called["status"],
        called["revision"],
        called["position"],
    )
    assert ("CALLED", 0) == (shop.place(tokens[0])["status"], shop.place(tokens[0])["position"])
    assert 1 == shop.place(tokens[1])["position"]
    fits = shop.do("call-next", type="dine-in", fits=4).json()["party"]
    assert (3, "CALLED") == (fits["number"], fits["status"])
    seated = shop.do("seat", called["id"]).json()["party"]
    assert ("SEATED", True) == (seated["status"], bool(seated["seated_at"]))
    assert "SEATED" == shop.place(tokens[0])["status"]
    assert "NO_SHOW" == shop.do("no-show", fits["id"]).json()["party"]["status"]
    assert [2, 4] == shop.numbers()
    assert {1, 3} == {one["number"] for one in shop.line()["recent"]}
    undone = shop.do("undo", fits["id"]).json()["party"]
    assert ("CALLED", 0) == (undone["status"], undone["position"])
    undone = shop.do("undo", fits["id"]).json()["party"]
    assert ("WAITING", 2) == (undone["status"], undone["position"])
    assert [2, 3, 4] == shop.numbers()
    assert 2 == shop.place(tokens[2])["position"]
    assert "CANCELLED" == shop.do("cancel", undone["id"]).json()["party"]["status"]
    assert "WAITING" == shop.do("restore", undone["id"]).json()["party"]["status"]
    deferred = shop.do("defer", first(shop)["id"], places=1).json()["party"]
    assert (2, 2, 1) == (deferred["number"], deferred["position"], deferred["defers"])
    assert [3, 2, 4] == shop.numbers()


def test_nobody_waits(shop: Shop) -> None:
    """Calling the next of an empty line, or one that nobody fits, is no error."""
    assert {"party": None} == shop.do("call-next", type="dine-in").json()
    shop.join(size=6)
    assert {"party": None} == shop.do("call-next", type="dine-in", fits=4).json()
    assert (404, "unknown_type") == problem(shop.do("call-next", type="brunch"))


def test_what_the_host_saw(shop: Shop) -> None:
    """`expected` and `revision` keep two hosts from deciding over each other."""
    shop.join(), shop.join()
    one, two = shop.line()["parties"]
    answer = shop.do("call-next", type="dine-in", expected=two["id"])
    assert (409, "party_moved") == problem(answer)
    called = shop.do("call-next", type="dine-in", expected=one["id"]).json()["party"]
    assert one["id"] == called["id"]
    stale = shop.do("seat", one["id"], revision=one["revision"])
    assert (409, "party_moved") == problem(stale)
    assert 200 == shop.do("seat", one["id"], revision=called["revision"]).status_code
    again = shop.do("call", one["id"])
    assert (409, "wrong_status") == problem(again)
    assert "SEATED" in again.json()["detail"]


def test_repeats_do_nothing_twice(shop: Shop) -> None:
    """The same Idempotency-Key calls one party, adds one walk-in, writes one line of history."""
    shop.join(), shop.join()
    key = {"idempotency-key": secrets.token_urlsafe(16)}
    path = f"{shop.path}/line/call-next"
    answers = [shop.host.post(path, json={"type": "dine-in"}, headers=key) for _ in range(3)]
    assert [1, 1, 1] == [one.json()["party"]["number"] for one in answers]
    assert ["CALLED", "WAITING"] == [one["status"] for one in shop.line()["parties"]]
    body = {"type": "dine-in", "size": 2}
    added = [shop.host.post(f"{shop.path}/line", json=body, headers=key) for _ in range(2)]
    assert [3, 3] == [one.json()["party"]["number"] for one in added]
    party = answers[0].json()["party"]["id"]
    seated = [shop.host.post(f"{shop.path}/line/{party}/seat", headers=key) for _ in range(2)]
    assert [200, 200] == [one.status_code for one in seated]
    history = shop.host.get(f"{shop.path}/line/{party}/history").json()["changes"]
    assert ["join", "call", "seat"] == [one["action"] for one in history]


def test_two_hosts_at_once(shop: Shop) -> None:
    """Whoever calls at the same moment calls somebody else, and nobody is skipped."""
    for _ in range(24):
        shop.join()
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: shop.do("call-next", type="dine-in"), range(24)))
    assert list(range(1, 25)) == sorted(one.json()["party"]["number"] for one in found)


def test_a_walk_in(shop: Shop) -> None:
    """A host adds a party also where guests are refused, unless told not to."""
    shop.change(mode="paused")
    body = {"type": "dine-in", "size": 3, "name": NAME}
    answer = shop.host.post(f"{shop.path}/line", json=body)
    assert 201 == answer.status_code, answer.text
    made = answer.json()
    assert (1, NAME, 1) == (
        made["party"]["number"],
        made["party"]["name"],
        made["party"]["position"],
    )
    assert "WAITING" == shop.place(made["token"])["status"]
    assert made["url"].endswith(f"/desk/{shop.id}/p/{made['token']}")
    answer = shop.host.post(f"{shop.path}/line", json=body | {"force": False})
    assert (403, "store_paused") == problem(answer)
    for wrong in ({"size": 0}, {"size": 500}, {"phone": "x"}, {"vip": 1}):
        assert 422 == shop.host.post(f"{shop.path}/line", json=body | wrong).status_code
    assert [1] == shop.numbers()


def test_the_whole_phone_number(shop: Shop) -> None:
    """It is shown on demand only, and who looked stands in the history."""
    shop.join(phone=PHONE)
    party = first(shop)["id"]
    answer = shop.host.get(f"{shop.path}/line/{party}/phone")
    assert {"phone": "+821012345678"} == answer.json()
    history = shop.host.get(f"{shop.path}/line/{party}/history")
    assert [("join", "guest"), ("show_phone", "front tablet")] == [
        (one["action"], one["by"]) for one in history.json()["changes"]
    ]
    assert "5678" not in history.text


def test_lists_by_status_and_day(shop: Shop) -> None:
    """Any parties of the store can be listed, page by page."""
    for _ in range(5):
        shop.join()
    parties = shop.line()["parties"]
    for one in parties[:3]:
        shop.do("seat", one["id"])
    page = shop.line(status="SEATED", limit=2)
    assert [1, 2] == [one["number"] for one in page["parties"]]
    page = shop.line(status="SEATED", limit=2, after=page["after"])
    assert ([3], None) == ([one["number"] for one in page["parties"]], page["after"])
    day = parties[0]["day"]
    assert 5 == len(shop.line(day=day)["parties"])
    assert [] == shop.line(day="2001-01-01")["parties"]
    for wrong in ({"status": "GONE"}, {"day": "today"}, {"limit": 0}, {"after": -1}):
        assert 422 == shop.host.get(f"{shop.path}/line", params=wrong).status_code


def test_changing_the_store(shop: Shop, operator: httpx.Client) -> None:
    """Hosts open, pause and limit; the rest needs an admin; versions keep changes apart."""
    answer = shop.change(mode="paused", reason="break", closes_at="22:00", max_defers=1)
    found = answer.json()
    assert (200, "paused", "break", "22:00", 1) == (
        answer.status_code,
        found["mode"],
        found["reason"],
        found["closes_at"],
        found["max_defers"],
    )
    found = shop.change(mode="open", reason=None, closes_at=None).json()
    assert ("open", None, None) == (found["mode"], found["reason"], found["closes_at"])
    found = shop.change(types=[{"name": "takeout", "queue_limit": 9}]).json()
    assert [("dine-in", None), ("takeout", 9)] == [
        (one["name"], one["queue_limit"]) for one in found["types"]
    ]
    stale = shop.change(mode="closed", version=found["version"] - 1)
    assert (409, "version_conflict") == problem(stale)
    hook = {"webhook_url": "https://example.com/hook", "webhook_secret": "s" * 32}
    for fields in ({"title": "x"}, {"time_zone": "UTC"}, hook, {"types": [{"name": "bar"}]}):
        assert (403, "forbidden") == problem(shop.change(**fields))
        changed = operator.patch(shop.path, json=fields)
        assert 200 == changed.status_code, changed.text
    assert ("x", "UTC", hook["webhook_url"], True) == tuple(
        changed.json()[name] for name in ("title", "time_zone", "webhook_url", "webhook_signed")
    )
    assert "s" * 32 not in changed.text
    seen = shop.change(remote=False).json()
    assert (None, True) == (seen["webhook_url"], seen["webhook_signed"])
    log = operator.get("/v1/admin/audit", params={"limit": 50})
    mine = [one for one in log.json()["entries"] if one["detail"].get("store") == shop.id]
    assert {"store.create", "store.change", "host.create"} == {one["action"] for one in mine}
    assert {"host", "admin"} == {one["role"] for one in mine}
    assert "s" * 32 not in log.text


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("mode", "ajar"),
        ("mode", None),
        ("closes_at", "25:00"),
        ("closes_at", 22),
        ("max_defers", -1),
        ("remote", None),
        ("colour", "red"),
        ("version", "1"),
        ("reason", "x" * 300),
    ],
)
def test_bad_changes(shop: Shop, field: str, wrong: Any) -> None:
    """Each is refused by name, and the store stays as it was."""
    before = shop.guest.get(shop.path).json()["version"]
    answer = shop.change(**{field: wrong})
    assert ((422, "invalid_input"), field) == (problem(answer), answer.json()["field"])
    assert before == shop.guest.get(shop.path).json()["version"]


def test_nothing_to_change(shop: Shop) -> None:
    """An empty change is a mistake."""
    assert (422, "invalid_input") == problem(shop.change())


# Stores and keys --------------------------------------------------------------------------------


def test_stores(shop: Shop, operator: httpx.Client) -> None:
    """Stores are listed; two of one id cannot be; a bad one is refused by its field."""
    listed = operator.get("/v1/stores").json()["stores"]
    assert shop.id in {one["id"] for one in listed}
    twice = operator.post("/v1/stores", json={"id": shop.id, "title": "x"})
    assert (409, "store_exists") == problem(twice)
    for field, wrong in (
        ("id", {"id": "No Spaces"}),
        ("title", {"title": ""}),
        ("time_zone", {"time_zone": "Mars/Base"}),
        ("webhook_url", {"webhook_url": "ftp://x"}),
        ("types", {"types": []}),
    ):
        answer = operator.post("/v1/stores", json={"id": "x", "title": "x", **wrong})
        assert ((422, "invalid_input"), field) == (problem(answer), answer.json()["field"])
    name = f"t-{secrets.token_hex(4)}"
    made = operator.post("/v1/stores", json={"id": name, "title": "x"})
    assert f"/v1/stores/{name}" == made.headers["location"]
    assert ["dine-in"] == [one["name"] for one in made.json()["types"]]


def test_host_keys(shop: Shop, operator: httpx.Client) -> None:
    """They are listed without their secret, and revoked within two seconds."""
    path = f"{shop.path}/hosts"
    made = operator.post(path, json={"name": "계산대"}).json()
    assert made["key"].startswith("wrh_")
    listed = operator.get(path)
    assert ["front tablet", "계산대"] == [one["name"] for one in listed.json()["hosts"]]
    assert made["key"] not in listed.text
    shown = {"authorization": f"Bearer {made['key']}"}
    assert 200 == shop.guest.get(f"{shop.path}/line", headers=shown).status_code
    assert 204 == operator.delete(f"{path}/{made['id']}").status_code
    assert (404, "unknown_key") == problem(operator.delete(f"{path}/{made['id']}"))
    deadline = time.monotonic() + 3
    while shop.guest.get(f"{shop.path}/line", headers=shown).status_code != 401:
        assert time.monotonic() < deadline
        time.sleep(0.05)


# Roles ------------------------------------------------------------------------------------------

READS = ["line", "line/1/history"]
ACTS = [
    ("POST", "line", {"type": "dine-in", "size": 2}),
    ("POST", "line/call-next", {"type": "dine-in"}),
    *(("POST", f"line/1/{act}", {})
      for act in ("call", "seat", "no-show", "cancel", "undo", "restore")),
    ("POST", "line/1/defer", {"places": 1}),
    ("POST", "line/1/erase", None),
    ("GET", "line/1/phone", None),
    ("PATCH", "", {"mode": "closed"}),
]  # fmt: skip
ADMIN = [
    ("GET", "hosts", None),
    ("POST", "hosts", {"name": "x"}),
    ("DELETE", "hosts/x", None),
]
HOSTED = [*(("GET", path, None) for path in (*READS, "line/events")), *ACTS]


def ask(client: httpx.Client, path: str, call: tuple[str, str, Any]) -> httpx.Response:
    """Make one of these calls."""
    method, where, body = call
    full = f"{path}/{where}" if where else path
    return client.request(method, full, json=body)


def test_a_host_of_another_store(shop: Shop, http: httpx.Client, operator: httpx.Client) -> None:
    """They see and change nothing, and cannot even tell whether a store is there."""
    shop.join(name=NAME, phone=PHONE)
    with open_shop(http, operator) as other:
        for call in HOSTED + ADMIN:
            here = ask(other.host, shop.path, call)
            nowhere = ask(other.host, "/v1/stores/nobody-made-it", call)
            assert (403, "forbidden") == problem(here), call
            assert here.json() == nowhere.json(), call
            assert shop.id not in here.text
        party = first(shop)["id"]
        wrong = other.do("call", party)
        assert (404, "unknown_party") == problem(wrong)
    assert [1] == shop.numbers()
    assert "open" == shop.guest.get(shop.path).json()["mode"]


def test_a_host_is_no_admin(shop: Shop) -> None:
    """The key of a store opens no other doors: no stores, no keys, no operator API."""
    for call in ADMIN:
        assert (403, "forbidden") == problem(ask(shop.host, shop.path, call))
    assert (403, "forbidden") == problem(shop.host.get("/v1/stores"))
    answer = shop.host.post("/v1/stores", json={"id": "x", "title": "x"})
    assert (403, "forbidden") == problem(answer)
    assert 401 == shop.host.get("/v1/admin/rooms").status_code


@pytest.mark.parametrize("role", ["viewer", "operator", "admin"])
def test_api_keys(shop: Shop, operator: httpx.Client, role: str) -> None:
    """A viewer reads lines, an operator acts as a host, an admin does the rest."""
    shop.join(phone=PHONE)
    shown = key_of(operator, role)
    with httpx.Client(base_url=shop.host.base_url, headers=shown) as client:
        seen = client.get(f"{shop.path}/line")
        assert (200, MASKED) == (seen.status_code, seen.json()["parties"][0]["phone"])
        for call in ACTS:
            answer = ask(client, shop.path, call)
            refused = answer.status_code in (401, 403)
            assert (role == "viewer") == refused, (call, answer.text)
        for call in ADMIN:
            answer = ask(client, shop.path, call)
            assert (role != "admin") == (answer.status_code == 403), (call, answer.text)


def test_strangers(shop: Shop) -> None:
    """Without a good key every call of hosts and admins is 401, also for stores not there."""
    for path in (shop.path, "/v1/stores/nobody-made-it"):
        for call in HOSTED + ADMIN:
            assert (401, "unauthorized") == problem(ask(shop.guest, path, call)), call
    for text in ("wrh_x", "wrh_0123456789_" + "x" * 43, "wr_x"):
        shown = {"authorization": f"Bearer {text}"}
        assert 401 == shop.guest.get(f"{shop.path}/line", headers=shown).status_code


def test_every_route_is_documented(served: Serving, http: httpx.Client) -> None:
    """Each call has its tag; those that need a key say so."""
    del served
    paths = http.get("/openapi.json").json()["paths"]
    ours = {path: item for path, item in paths.items() if path.startswith("/v1/stores")}
    tags = {operation["tags"][0] for item in ours.values() for operation in item.values()}
    assert {"desk guests", "desk hosts", "desk admin"} == tags
    for path, item in ours.items():
        for method, told in item.items():
            open_to_all = told["tags"][0] == "desk guests"
            assert open_to_all != bool(told.get("security")), f"{method} {path}"
