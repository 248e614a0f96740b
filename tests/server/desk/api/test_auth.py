"""Who may use which route of the desk: hosts, API keys of each role, and strangers."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from tests.server.desk.api.test_guests import problem
from tests.server.desk.api.test_hosts import MASKED, first
from tests.server.desk.conftest import NAME, PHONE, Shop, open_shop
from tests.server.http.test_auth import key_of
from tests.support.serving import Serving

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


def ask(client: httpx2.Client, path: str, call: tuple[str, str, Any]) -> httpx2.Response:
    """Send one of these requests."""
    method, where, body = call
    full = f"{path}/{where}" if where else path
    return client.request(method, full, json=body)


def test_a_host_of_another_store(shop: Shop, http: httpx2.Client, operator: httpx2.Client) -> None:
    """They see and change nothing, and cannot even tell whether a store exists."""
    shop.join(name=NAME, phone=PHONE)
    with open_shop(http, operator) as other:
        for call in HOSTED + ADMIN:
            here = ask(other.host, shop.path, call)
            nowhere = ask(other.host, "/v1/stores/nobody-made-it", call)
            assert (403, "forbidden") == problem(here), call
            told, of_nobody = ({**reply.json(), "request_id": ""} for reply in (here, nowhere))
            assert told == of_nobody, call
            assert shop.id not in here.text
        party = first(shop)["id"]
        wrong = other.do("call", party)
        assert (404, "unknown_party") == problem(wrong)
    assert [1] == shop.numbers()
    assert "open" == shop.guest.get(shop.path).json()["mode"]


def test_a_host_is_no_admin(shop: Shop) -> None:
    """A store's key opens nothing else: no stores, no keys, no operator API."""
    for call in ADMIN:
        assert (403, "forbidden") == problem(ask(shop.host, shop.path, call))
    assert (403, "forbidden") == problem(shop.host.get("/v1/stores"))
    answer = shop.host.post("/v1/stores", json={"id": "x", "title": "x"})
    assert (403, "forbidden") == problem(answer)
    assert 401 == shop.host.get("/v1/admin/rooms").status_code


@pytest.mark.parametrize("role", ["viewer", "operator", "admin"])
def test_api_keys(shop: Shop, operator: httpx2.Client, role: str) -> None:
    """A viewer reads lines, an operator acts as a host, an admin does the rest."""
    shop.join(phone=PHONE)
    shown = key_of(operator, role)
    with httpx2.Client(base_url=shop.host.base_url, headers=shown) as client:
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
    """Without a good key every host or admin route gives 401, even for stores that do not exist."""
    for path in (shop.path, "/v1/stores/nobody-made-it"):
        for call in HOSTED + ADMIN:
            assert (401, "unauthorized") == problem(ask(shop.guest, path, call)), call
    for text in ("wrh_x", "wrh_0123456789_" + "x" * 43, "wr_x"):
        shown = {"authorization": f"Bearer {text}"}
        assert 401 == shop.guest.get(f"{shop.path}/line", headers=shown).status_code


def test_every_route_is_documented(served: Serving, http: httpx2.Client) -> None:
    """Each route has its tag; those that need a key say so."""
    del served
    paths = http.get("/openapi.json").json()["paths"]
    ours = {path: item for path, item in paths.items() if path.startswith("/v1/stores")}
    tags = {operation["tags"][0] for item in ours.values() for operation in item.values()}
    assert {"desk guests", "desk hosts", "desk admin"} == tags
    for path, item in ours.items():
        for method, operation in item.items():
            open_to_all = operation["tags"][0] == "desk guests"
            assert open_to_all != bool(operation.get("security")), f"{method} {path}"
