"""Webhooks on the operator page: created, switched, tested and removed; late ones are shown."""

from __future__ import annotations

import re

import httpx2

from tests.server.operator.forms import token_of
from tests.server.operator.webhooks.hooks import NOWHERE, made
from tests.support.servers import wait_for


def test_the_page(page: httpx2.Client, room: str) -> None:
    """An admin makes one, tests it, and removes it after a question; a wrong address is kept."""
    url = f"{NOWHERE}/{room}"
    token = token_of(page.get("/admin/webhooks").text)
    wrong = page.post("/admin/webhooks", data={"token": token, "url": "no", "rooms": room})
    assert 422 == wrong.status_code
    assert f'value="{room}"' in wrong.text
    form = {"token": token, "url": url, "rooms": room, "types": ["room.paused"]}
    answer = page.post("/admin/webhooks", data=form)
    assert 201 == answer.status_code
    assert "whsec_" in answer.text
    listed = page.get("/admin/webhooks").text
    assert "whsec_" not in listed
    match = re.search(rf'id="hook-(\w+)"><code>{re.escape(url)}<', listed)
    assert match is not None
    path = f"/admin/webhooks/{match[1]}"
    assert "no answer" in page.post(f"{path}/test", data={"token": token}).text
    assert "whsec_" in page.post(f"{path}/rotate", data={"token": token}).text
    for switch, shown in (("off", "Switch on"), ("on", "Switch off")):
        assert 403 == page.post(f"{path}/{switch}").status_code
        assert 303 == page.post(f"{path}/{switch}", data={"token": token}).status_code
        listed = page.get("/admin/webhooks").text
        assert (shown, switch == "off") == (
            re.findall(rf'{path}/\w+"><input [^>]+><button>(Switch \w+)<', listed)[0],
            "Switched off: nothing is sent" in listed,
        )
        assert f"Switched webhook {match[1]} to 127.0.0.1 {switch}" in page.get("/admin/audit").text
    assert 403 == page.post(f"{path}/delete").status_code
    assert url in page.get(f"{path}/delete").text
    gone = page.post(f"{path}/delete", data={"token": token})
    assert (303, "/admin/webhooks") == (gone.status_code, gone.headers["location"])
    assert url not in page.get("/admin/webhooks").text
    assert f"Removed webhook {match[1]} to 127.0.0.1" in page.get("/admin/audit").text


def test_late_ones_are_visible(operator: httpx2.Client, page: httpx2.Client, room: str) -> None:
    """While a receiver is down, page, API and metrics show how many wait, and why."""
    with made(operator, NOWHERE, rooms=[room]) as hook:
        operator.patch(f"/v1/admin/rooms/{room}", json={"policy": {"mode": "paused"}})

        def is_late() -> bool:  # an event is late before its first attempt has failed
            hooks = operator.get("/v1/admin/webhooks").json()["webhooks"]
            (shown,) = (each for each in hooks if each["id"] == hook["id"])
            return shown["late"] >= 1 and "no answer" in (shown["error"] or "")

        wait_for(is_late, "an event that waits, and why")
        assert "Events waiting" in page.get("/admin/webhooks").text
        metric = f'waitroom_webhook_late{{webhook="{hook["id"]}"}}'
        # With the rooms of all tests, a busy server may give up on a scrape.
        wait_for(lambda: metric in operator.get("/metrics").text, "a scrape")
