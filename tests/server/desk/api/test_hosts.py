"""What hosts do over the API: the line, every action, and two hosts at once."""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.server.desk.api.test_guests import problem
from tests.server.desk.conftest import NAME, PHONE, Shop

MASKED = "010-****-5678"


def first(shop: Shop) -> Any:
    """Return the first party in line."""
    return shop.line()["parties"][0]


def test_the_line(shop: Shop) -> None:
    """Parties in order with position and waits, phones masked; the store with its lines."""
    shop.join(name=NAME, phone=PHONE, note="창가", code=shop.code)
    shop.join("takeout", size=4)
    shop.join(size=5)
    view = shop.line()
    first, second, third = view["parties"]
    shown = {
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
    assert shown.items() <= first.items()
    assert ("takeout", "remote", 1, 1) == (
        second["type"],
        second["source"],
        second["number"],
        second["position"],
    )
    assert (2, 2, 30, 1) == (
        third["number"],
        third["position"],
        third["wait_minutes"],
        third["teams_ahead"],
    )
    assert (shop.id, [2, 1]) == (
        view["store"]["store"],
        [line["waiting"] for line in view["store"]["lines"]],
    )
    assert [1, 2] == [party["number"] for party in shop.line(type="dine-in")["parties"]]
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
    assert {1, 3} == {party["number"] for party in shop.line()["recent"]}
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
    """Calling the next from an empty line, or when no party fits, is not an error."""
    assert {"party": None} == shop.do("call-next", type="dine-in").json()
    shop.join(size=6)
    assert {"party": None} == shop.do("call-next", type="dine-in", fits=4).json()
    assert (404, "unknown_type") == problem(shop.do("call-next", type="brunch"))


def test_what_the_host_saw(shop: Shop) -> None:
    """`expected` and `revision` keep two hosts from overriding each other."""
    shop.join(), shop.join()
    first, second = shop.line()["parties"]
    answer = shop.do("call-next", type="dine-in", expected=second["id"])
    assert (409, "party_moved") == problem(answer)
    called = shop.do("call-next", type="dine-in", expected=first["id"]).json()["party"]
    assert first["id"] == called["id"]
    stale = shop.do("seat", first["id"], revision=first["revision"])
    assert (409, "party_moved") == problem(stale)
    assert 200 == shop.do("seat", first["id"], revision=called["revision"]).status_code
    again = shop.do("call", first["id"])
    assert (409, "wrong_status") == problem(again)
    assert "SEATED" in again.json()["detail"]


def test_repeats_do_nothing_twice(shop: Shop) -> None:
    """The same Idempotency-Key calls one party, adds one walk-in, writes one history entry."""
    shop.join(), shop.join()
    key = {"idempotency-key": secrets.token_urlsafe(16)}
    path = f"{shop.path}/line/call-next"
    answers = [shop.host.post(path, json={"type": "dine-in"}, headers=key) for _ in range(3)]
    assert [1, 1, 1] == [answer.json()["party"]["number"] for answer in answers]
    assert ["CALLED", "WAITING"] == [party["status"] for party in shop.line()["parties"]]
    body = {"type": "dine-in", "size": 2}
    added = [shop.host.post(f"{shop.path}/line", json=body, headers=key) for _ in range(2)]
    assert [3, 3] == [answer.json()["party"]["number"] for answer in added]
    party = answers[0].json()["party"]["id"]
    seated = [shop.host.post(f"{shop.path}/line/{party}/seat", headers=key) for _ in range(2)]
    assert [200, 200] == [answer.status_code for answer in seated]
    history = shop.host.get(f"{shop.path}/line/{party}/history").json()["changes"]
    assert ["join", "call", "seat"] == [change["action"] for change in history]


def test_two_hosts_at_once(shop: Shop) -> None:
    """Hosts who call at the same moment call different parties, and nobody is skipped."""
    for _ in range(24):
        shop.join()
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: shop.do("call-next", type="dine-in"), range(24)))
    assert list(range(1, 25)) == sorted(answer.json()["party"]["number"] for answer in answers)


def test_a_walk_in(shop: Shop) -> None:
    """A host can add a party even where guests are refused, unless told not to."""
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
    """It is shown only on demand, and the history says who looked."""
    shop.join(phone=PHONE)
    party = first(shop)["id"]
    answer = shop.host.get(f"{shop.path}/line/{party}/phone")
    assert {"phone": "+821012345678"} == answer.json()
    history = shop.host.get(f"{shop.path}/line/{party}/history")
    assert [("join", "guest"), ("show_phone", "front tablet")] == [
        (change["action"], change["by"]) for change in history.json()["changes"]
    ]
    assert "5678" not in history.text


def test_lists_by_status_and_day(shop: Shop) -> None:
    """All parties of the store can be listed, page by page."""
    for _ in range(5):
        shop.join()
    parties = shop.line()["parties"]
    for party in parties[:3]:
        shop.do("seat", party["id"])
    page = shop.line(status="SEATED", limit=2)
    assert [1, 2] == [party["number"] for party in page["parties"]]
    page = shop.line(status="SEATED", limit=2, after=page["after"])
    assert ([3], None) == ([party["number"] for party in page["parties"]], page["after"])
    day = parties[0]["day"]
    assert 5 == len(shop.line(day=day)["parties"])
    assert [] == shop.line(day="2001-01-01")["parties"]
    for wrong in ({"status": "GONE"}, {"day": "today"}, {"limit": 0}, {"after": -1}):
        assert 422 == shop.host.get(f"{shop.path}/line", params=wrong).status_code
