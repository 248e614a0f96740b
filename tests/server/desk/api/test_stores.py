"""Stores and host keys over the API: created, changed, listed and revoked."""

from __future__ import annotations

import secrets
import time
from typing import Any

import httpx2
import pytest

from tests.server.desk.api.test_guests import problem
from tests.server.desk.conftest import Shop


def test_changing_the_store(shop: Shop, operator: httpx2.Client) -> None:
    """Hosts open, pause and limit; the rest needs an admin; versions prevent lost changes."""
    answer = shop.change(mode="paused", reason="break", closes_at="22:00", max_defers=1)
    store = answer.json()
    assert (200, "paused", "break", "22:00", 1) == (
        answer.status_code,
        store["mode"],
        store["reason"],
        store["closes_at"],
        store["max_defers"],
    )
    store = shop.change(mode="open", reason=None, closes_at=None).json()
    assert ("open", None, None) == (store["mode"], store["reason"], store["closes_at"])
    store = shop.change(types=[{"name": "takeout", "queue_limit": 9}]).json()
    assert [("dine-in", None), ("takeout", 9)] == [
        (line["name"], line["queue_limit"]) for line in store["types"]
    ]
    stale = shop.change(mode="closed", version=store["version"] - 1)
    assert (409, "version_conflict") == problem(stale)
    hook = {"webhook_url": "https://example.com/hook", "webhook_secret": "s" * 32}
    for fields in (
        {"title": "x"},
        {"time_zone": "UTC"},
        {"country": "JP"},
        hook,
        {"types": [{"name": "bar"}]},
    ):
        assert (403, "forbidden") == problem(shop.change(**fields))
        changed = operator.patch(shop.path, json=fields)
        assert 200 == changed.status_code, changed.text
    names = ("title", "time_zone", "country", "webhook_url", "webhook_signed")
    shown = tuple(changed.json()[name] for name in names)
    assert ("x", "UTC", "JP", hook["webhook_url"], True) == shown
    assert "s" * 32 not in changed.text
    seen = shop.change(remote=False).json()
    assert (None, True) == (seen["webhook_url"], seen["webhook_signed"])
    log = operator.get("/v1/admin/audit", params={"limit": 50})
    mine = [entry for entry in log.json()["entries"] if entry["detail"].get("store") == shop.id]
    assert {"store.create", "store.change", "host.create"} == {entry["action"] for entry in mine}
    assert {"host", "admin"} == {entry["role"] for entry in mine}
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
        ("on_site", "shout"),
        ("joins_per_hour", 0),
        ("colour", "red"),
        ("version", "1"),
        ("reason", "x" * 300),
    ],
)
def test_bad_changes(shop: Shop, field: str, wrong: Any) -> None:
    """Each is refused by name, and the store stays the same."""
    before = shop.guest.get(shop.path).json()["version"]
    answer = shop.change(**{field: wrong})
    assert ((422, "invalid_input"), field) == (problem(answer), answer.json()["field"])
    assert before == shop.guest.get(shop.path).json()["version"]


def test_nothing_to_change(shop: Shop) -> None:
    """An empty change is a mistake."""
    assert (422, "invalid_input") == problem(shop.change())


def test_stores(shop: Shop, operator: httpx2.Client) -> None:
    """Stores are listed; two cannot share an id; a bad one is refused by its field."""
    listed = operator.get("/v1/stores").json()["stores"]
    assert shop.id in {store["id"] for store in listed}
    twice = operator.post("/v1/stores", json={"id": shop.id, "title": "x"})
    assert (409, "store_exists") == problem(twice)
    for field, wrong in (
        ("id", {"id": "No Spaces"}),
        ("title", {"title": ""}),
        ("time_zone", {"time_zone": "Mars/Base"}),
        ("country", {"country": "ZZ"}),
        ("webhook_url", {"webhook_url": "ftp://x"}),
        ("types", {"types": []}),
    ):
        answer = operator.post("/v1/stores", json={"id": "x", "title": "x", **wrong})
        assert ((422, "invalid_input"), field) == (problem(answer), answer.json()["field"])
    name = f"t-{secrets.token_hex(4)}"
    made = operator.post("/v1/stores", json={"id": name, "title": "x"})
    assert f"/v1/stores/{name}" == made.headers["location"]
    assert ["dine-in"] == [line["name"] for line in made.json()["types"]]


def test_host_keys(shop: Shop, operator: httpx2.Client) -> None:
    """They are listed without their secret, and revoked within two seconds."""
    path = f"{shop.path}/hosts"
    made = operator.post(path, json={"name": "계산대"}).json()
    assert made["key"].startswith("wrh_")
    listed = operator.get(path)
    assert ["front tablet", "계산대"] == [host["name"] for host in listed.json()["hosts"]]
    assert made["key"] not in listed.text
    shown = {"authorization": f"Bearer {made['key']}"}
    assert 200 == shop.guest.get(f"{shop.path}/line", headers=shown).status_code
    assert 204 == operator.delete(f"{path}/{made['id']}").status_code
    assert (404, "unknown_key") == problem(operator.delete(f"{path}/{made['id']}"))
    asked = revoked = time.monotonic()
    while shop.guest.get(f"{shop.path}/line", headers=shown).status_code != 401:
        assert asked < revoked + 3  # time of the request: a slow machine may answer later
        time.sleep(0.05)
        asked = time.monotonic()
