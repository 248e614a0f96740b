"""Guests over HTTP: joining, seeing their place, going back, giving up, and refusals."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import httpx2
import pytest

from tests.server.desk.conftest import NAME, PHONE, Shop, open_shop, shop_on
from tests.support.clock import noon_zone
from tests.support.serving import Serving, serving

WAITING = {"status": "WAITING", "position": 1, "waiting": 1, "wait_minutes": 15, "observed": None}


def problem(answer: httpx2.Response) -> tuple[int, str]:
    """Return status and code of a refusal."""
    assert "application/problem+json" == answer.headers["content-type"], answer.text
    return answer.status_code, answer.json()["code"]


def test_a_guest_joins(shop: Shop, served: Serving) -> None:
    """The answer has the token, the page, the number of the day and the place; a GET has it too."""
    made = shop.join(name=NAME, phone=PHONE, note="창가", code=shop.code)
    party, place, token = made["party"], made["place"], made["token"]
    assert f"{served.base}/desk/{shop.id}/p/{token}" == made["url"]
    assert {"number": 1, "type": "dine-in", "size": 2, "status": "WAITING"}.items() <= party.items()
    assert (0, 2) == (party["teams_ahead"], party["defers_left"])
    assert WAITING.items() <= place.items()
    assert 4_000 <= place.pop("poll_after_ms") <= 6_000
    polled = shop.place(token)
    assert polled.pop("poll_after_ms") > 0
    assert place == polled
    second = shop.join()
    assert (2, 1) == (second["party"]["number"], second["party"]["teams_ahead"])
    assert (2, 30) == (second["place"]["position"], second["place"]["wait_minutes"])
    assert 1 == shop.join("takeout")["party"]["number"]


def test_the_farther_back_the_rarer(shop: Shop) -> None:
    """People far back are asked to poll less often, about twice a minute."""
    last = [shop.join() for _ in range(16)][-1]
    assert 20_000 <= last["place"]["poll_after_ms"] <= 36_000


def test_the_store_for_anybody(shop: Shop) -> None:
    """Lines, waits and whether a join would be accepted; nothing about who waits."""
    shop.join(name=NAME, phone=PHONE)
    answer = shop.guest.get(shop.path)
    view = answer.json()
    assert ("Noodle Bar", "open", True, None) == (
        view["title"],
        view["mode"],
        view["accepts"],
        view["why_not"],
    )
    dine_in, takeout = view["lines"]
    assert ("dine-in", 1, 30, True) == (
        dine_in["type"],
        dine_in["waiting"],
        dine_in["wait_minutes"],
        dine_in["accepts"],
    )
    assert (0, 4) == (takeout["waiting"], takeout["largest_party"])
    assert NAME not in answer.text
    assert "5678" not in answer.text.replace(shop.id, "")  # its digits are random


def test_a_repeated_join_is_one_place(shop: Shop) -> None:
    """The same Idempotency-Key returns the same party; another key, or a short one, does not."""
    key = {"idempotency-key": secrets.token_urlsafe(16)}
    body = {"type": "dine-in", "size": 3, "phone": PHONE}
    first, again = (shop.guest.post(f"{shop.path}/parties", json=body, headers=key)
                    for _ in range(2))  # fmt: skip
    assert (201, 201) == (first.status_code, again.status_code)
    assert (first.json()["token"], first.json()["party"]) == (
        again.json()["token"],
        again.json()["party"],
    )
    assert [1] == shop.numbers()
    short = shop.guest.post(f"{shop.path}/parties", json=body, headers={"idempotency-key": "1"})
    assert (422, "invalid_input") == problem(short)
    other = shop.guest.post(f"{shop.path}/parties", json=body | {"size": 4}, headers=key)
    assert ((422, "invalid_input"), "Idempotency-Key") == (problem(other), other.json()["field"])
    assert [1] == shop.numbers()


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("size", {"size": 0}),
        ("size", {"size": 500}),
        ("size", {"size": -1}),
        ("size", {"size": "2"}),
        ("size", {"size": 2.5}),
        ("size", {"size": True}),
        ("size", {"size": None}),
        ("phone", {"phone": "12345"}),
        ("phone", {"phone": "call me maybe"}),
        ("phone", {"phone": "010-1234-56789"}),
        ("phone", {"phone": 1012345678}),
        ("name", {"name": "x" * 41}),
        ("name", {"name": "a\nb"}),
        ("note", {"note": "x" * 201}),
        ("note", {"note": "\x00"}),
        ("vip", {"vip": True}),
        ("code", {"code": 1}),
        ("type", {"type": None}),
    ],
)
def test_bad_input(shop: Shop, field: str, wrong: dict[str, Any]) -> None:
    """A party of 0 or 500, a malformed phone number, unknown fields: the field is named, nothing
    is written, and the input is not repeated.
    """
    body = {"type": "dine-in", "size": 2, **wrong}
    answer = shop.guest.post(f"{shop.path}/parties", json=body)
    assert (422, "invalid_input") == problem(answer)
    assert field == answer.json()["field"]
    if field in ("phone", "name", "note"):
        assert str(wrong[field]) not in answer.text
    assert [] == shop.numbers()
    assert 1 == shop.join()["party"]["number"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"x"', b"\xff"])
def test_bad_bodies(shop: Shop, body: bytes) -> None:
    """Anything but a JSON object is refused as such."""
    headers = {"content-type": "application/json"}
    answer = shop.guest.post(f"{shop.path}/parties", content=body, headers=headers)
    assert answer.status_code in (400, 422), answer.text
    assert [] == shop.numbers()


def test_a_body_that_is_too_large(shop: Shop) -> None:
    """No guest needs more than a few kilobytes."""
    body = {"type": "dine-in", "size": 2, "note": "x" * 20_000}
    answer = shop.guest.post(f"{shop.path}/parties", json=body)
    assert (413, "body_too_large") == problem(answer)


def test_stores_and_lines_that_are_not_there(shop: Shop) -> None:
    """Unknown stores and lines are 404, whatever is asked."""
    body = {"type": "dine-in", "size": 2}
    for store in ("nobody-made-it", "-", "A" * 99, "%00", "é"):
        assert (404, "unknown_store") == problem(shop.guest.get(f"/v1/stores/{store}"))
        joined = shop.guest.post(f"/v1/stores/{store}/parties", json=body)
        assert (404, "unknown_store") == problem(joined)
    joined = shop.guest.post(f"{shop.path}/parties", json=body | {"type": "brunch"})
    assert (404, "unknown_type") == problem(joined)


def test_closed_and_paused_stores(shop: Shop) -> None:
    """Nobody joins, the reason is told, nothing is written; people who wait keep their place."""
    token = shop.join()["token"]
    for mode, code in (("closed", "store_closed"), ("paused", "store_paused")):
        assert 200 == shop.change(mode=mode, reason="오늘은 여기까지").status_code
        body = {"type": "dine-in", "size": 2}
        answer = shop.guest.post(f"{shop.path}/parties", json=body)
        assert (403, code) == problem(answer)
        assert "오늘은 여기까지" in answer.json()["detail"]
        view = shop.guest.get(shop.path).json()
        assert (mode, False, code, "오늘은 여기까지") == (
            view["mode"],
            view["accepts"],
            view["why_not"],
            view["reason"],
        )
        assert 1 == shop.place(token)["position"]
    assert [1] == shop.numbers()


def test_a_full_line(shop: Shop) -> None:
    """At its limit a line accepts no more parties; the other line does."""
    shop.change(types=[{"name": "dine-in", "queue_limit": 1}])
    shop.join()
    answer = shop.guest.post(f"{shop.path}/parties", json={"type": "dine-in", "size": 2})
    assert (429, "line_full") == problem(answer)
    view = shop.guest.get(shop.path).json()
    assert [(False, "line_full"), (True, None)] == [
        (line["accepts"], line["why_not"]) for line in view["lines"]
    ]
    assert view["accepts"]
    shop.join("takeout")


def test_past_closing(shop: Shop) -> None:
    """Nobody joins whose wait would exceed the closing time, and the store says so beforehand."""
    soon = datetime.now(ZoneInfo(noon_zone())) + timedelta(minutes=5)
    assert 200 == shop.change(closes_at=soon.strftime("%H:%M")).status_code
    answer = shop.guest.post(f"{shop.path}/parties", json={"type": "dine-in", "size": 2})
    assert (403, "past_closing") == problem(answer)
    view = shop.guest.get(shop.path).json()
    assert (False, "past_closing") == (view["accepts"], view["why_not"])
    assert [] == shop.numbers()


def test_foreign_tokens(shop: Shop, http: httpx2.Client, operator: httpx2.Client) -> None:
    """A token of another store, another line, or of nobody: 404, and nothing changes."""
    token = shop.join()["token"]
    with open_shop(http, operator) as other:
        theirs = other.join()["token"]
    wrong = [theirs, token[:-1], token + "x", f"takeout.{token.partition('.')[2]}", "x", "me", "x."]
    for bad in wrong:
        path = f"{shop.path}/parties/{bad}"
        calls = [
            ("GET", path, None),
            ("GET", f"{path}/events", None),
            ("DELETE", path, None),
            ("POST", f"{path}/defer", {"places": 1}),
            ("POST", f"{path}/erase", None),
        ]
        for method, where, body in calls:
            answer = shop.guest.request(method, where, json=body)
            assert (404, "invalid_ticket") == problem(answer), (method, where)
    assert "WAITING" == shop.place(token)["status"]


def test_going_back(shop: Shop) -> None:
    """A guest lets others go first, as often as the store allows; a repeat counts once."""
    first, *_ = [shop.join()["token"] for _ in range(4)]
    path = f"{shop.path}/parties/{first}/defer"
    key = {"idempotency-key": secrets.token_urlsafe(16)}
    for _ in range(2):
        answer = shop.guest.post(path, json={"places": 2}, headers=key)
        assert (200, 3) == (answer.status_code, answer.json()["place"]["position"]), answer.text
        assert 1 == answer.json()["party"]["defers_left"]
    assert [2, 3, 1, 4] == shop.numbers()
    for places in (0, 11, "2", None):
        answer = shop.guest.post(path, json={"places": places})
        assert ((422, "invalid_input"), "places") == (problem(answer), answer.json()["field"])
    assert 200 == shop.guest.post(path, json={"places": 1}).status_code
    answer = shop.guest.post(path, json={"places": 1})
    assert (409, "defers_used_up") == problem(answer)


def test_giving_up(shop: Shop) -> None:
    """A cancelled party is out of the line; a repeat gets the same answer."""
    first, second = shop.join()["token"], shop.join()["token"]
    for _ in range(2):
        answer = shop.guest.delete(f"{shop.path}/parties/{first}")
        assert (200, "CANCELLED") == (answer.status_code, answer.json()["party"]["status"])
        assert ("CANCELLED", 0) == (
            answer.json()["place"]["status"],
            answer.json()["place"]["position"],
        )
    assert 1 == shop.place(second)["position"]
    party = shop.line()["parties"][0]["id"]
    assert 200 == shop.do("seat", party).status_code
    answer = shop.guest.delete(f"{shop.path}/parties/{second}")
    assert (409, "wrong_status") == problem(answer)


def test_erasing(shop: Shop) -> None:
    """A guest's personal data is gone for good, and the place stays."""
    token = shop.join(name=NAME, phone=PHONE, note="창가")["token"]
    answer = shop.guest.post(f"{shop.path}/parties/{token}/erase")
    assert 200 == answer.status_code, answer.text
    party = shop.line()["parties"][0]
    assert (None, None, None, 1) == (
        party["name"],
        party["phone"],
        party["note"],
        party["position"],
    )
    answer = shop.host.get(f"{shop.path}/line/{party['id']}/phone")
    assert {"phone": None} == answer.json()


def test_answers_are_kept_by_nobody(shop: Shop) -> None:
    """No cache keeps a place, a store or a line."""
    token = shop.join()["token"]
    for path in (shop.path, f"{shop.path}/parties/{token}", f"{shop.path}/line"):
        assert "no-store" == shop.host.get(path).headers["cache-control"]


def test_a_line_is_no_room(shop: Shop) -> None:
    """Visitors cannot join, see or enter a store's line past the desk; it has no waiting page."""
    shop.join()
    room = f"desk.{shop.id}.dine-in"
    assert (404, "unknown_room") == problem(shop.guest.post(f"/v1/rooms/{room}/tickets"))
    assert (404, "unknown_room") == problem(shop.guest.get(f"/v1/rooms/{room}"))
    assert 404 == shop.guest.get(f"/rooms/{room}").status_code
    shop.guest.post(f"/rooms/{room}/join")
    assert [1] == shop.numbers()


def test_joins_are_limited_by_address(tmp_path_factory: pytest.TempPathFactory) -> None:
    """One address may join this often per minute; other addresses and reads are not slowed."""
    folder = tmp_path_factory.mktemp("limited")
    limits = {"joins_per_minute": 3, "proxies": "127.0.0.1"}
    with serving(folder, desk=True, **limits) as server, shop_on(server) as shop:
        body = {"type": "dine-in", "size": 2}

        def join(address: str) -> httpx2.Response:
            headers = {"x-forwarded-for": address}
            return shop.guest.post(f"{shop.path}/parties", json=body, headers=headers)

        assert [201] * 3 == [join("192.0.2.1").status_code for _ in range(3)]
        answer = join("192.0.2.1")
        assert (429, "too_many_requests") == problem(answer)
        assert int(answer.headers["retry-after"]) >= 1
        assert 201 == join("192.0.2.2").status_code
        assert 200 == shop.guest.get(shop.path).status_code
