"""Webhooks by API and page: the secret is shown once, late ones are seen, changes are logged."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from standardwebhooks import Webhook as Verifier

from tests.desk.receivers import Receiver, receiving
from tests.server.operator.forms import token_of
from tests.support.serving import Serving

NOWHERE = "http://127.0.0.1:9/hook"


@contextmanager
def made(operator: httpx.Client, url: str, **fields: object) -> Iterator[dict[str, str]]:
    """Make a webhook by the API, and remove it at the end."""
    answer = operator.post("/v1/admin/webhooks", json={"url": url, **fields})
    assert 201 == answer.status_code, answer.text
    hook = answer.json()
    try:
        yield hook
    finally:
        assert 204 == operator.delete(f"/v1/admin/webhooks/{hook['id']}").status_code


async def test_a_message_arrives(operator: httpx.Client, room: str) -> None:
    """What happens in a room reaches the receiver, signed, by the loops of the running server."""
    async with receiving() as receiver:
        with made(operator, receiver.url, rooms=[room], types=["room.paused"]) as hook:
            path = f"/v1/admin/rooms/{room}"
            await asyncio.to_thread(operator.patch, path, json={"policy": {"mode": "paused"}})
            (got,) = await receiver.until(1)
            message = Verifier(hook["secret"]).verify(got.body, got.headers)
            assert ("room.paused", room) == (message["type"], message["data"]["room"])


async def test_a_test(operator: httpx.Client) -> None:
    """A test message is sent at once, and its outcome is told."""
    async with receiving(Receiver(answers=[200, 503])) as receiver:
        with made(operator, receiver.url, rooms=["none"]) as hook:
            path = f"/v1/admin/webhooks/{hook['id']}/test"
            answers = [await asyncio.to_thread(operator.post, path) for _ in range(2)]
    assert [{"error": ""}, {"error": "answered 503"}] == [answer.json() for answer in answers]
    assert "webhook.test" == json.loads(receiver.got[0].body)["type"]


def test_a_secret_is_shown_once(operator: httpx.Client) -> None:
    """Neither the list nor the log has it; a rotation shows a new one."""
    with made(operator, NOWHERE, rooms=["none"]) as hook:
        assert hook["secret"].startswith("whsec_")
        path = f"/v1/admin/webhooks/{hook['id']}/rotate"
        new = operator.post(path).json()["secret"]
        assert new != hook["secret"]
        for shown in ("/v1/admin/webhooks", "/v1/admin/audit"):
            text = operator.get(shown).text
            assert hook["id"] in text
            assert hook["secret"] not in text
            assert new not in text


@pytest.mark.parametrize(
    "fields",
    [
        {"url": "ftp://example.com"},
        {"url": "https://"},
        {"url": NOWHERE, "types": ["room.party"]},
        {"url": NOWHERE, "rooms": ["no/room"]},
        {"url": NOWHERE, "secret": "mine"},
    ],
)
def test_bad_ones(operator: httpx.Client, fields: dict[str, object]) -> None:
    """Wrong addresses, types, rooms and fields are refused."""
    assert 422 == operator.post("/v1/admin/webhooks", json=fields).status_code


def test_unknown_ones(operator: httpx.Client) -> None:
    """A webhook that is not there is not found, whatever one wants of it."""
    for method, path in (("POST", "/x/rotate"), ("POST", "/x/test"), ("DELETE", "/x")):
        answer = operator.request(method, f"/v1/admin/webhooks{path}")
        assert (404, "unknown_webhook") == (answer.status_code, answer.json()["code"])


def test_for_admins_alone(served: Serving, operator: httpx.Client) -> None:
    """An operator's key does not see webhooks, whose addresses may hold keys."""
    body = {"name": "box office", "role": "operator"}
    key = operator.post("/v1/admin/keys", json=body).json()["key"]
    headers = {"Authorization": f"Bearer {key}"}
    answer = httpx.get(f"{served.base}/v1/admin/webhooks", headers=headers, timeout=60)
    assert 403 == answer.status_code


def test_the_page(page: httpx.Client, room: str) -> None:
    """An admin makes one, tests it, and removes it after a question; a wrong address stays."""
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
    assert 403 == page.post(f"{path}/delete").status_code
    assert url in page.get(f"{path}/delete").text
    gone = page.post(f"{path}/delete", data={"token": token})
    assert (303, "/admin/webhooks") == (gone.status_code, gone.headers["location"])
    assert url not in page.get("/admin/webhooks").text
    assert f"Removed webhook {match[1]} to 127.0.0.1" in page.get("/admin/audit").text


def test_late_ones_are_visible(operator: httpx.Client, page: httpx.Client, room: str) -> None:
    """While a receiver is down, page, API and metrics show how many wait, and why."""
    with made(operator, NOWHERE, rooms=[room]) as hook:
        operator.patch(f"/v1/admin/rooms/{room}", json={"policy": {"mode": "paused"}})
        for _ in range(600):
            hooks = operator.get("/v1/admin/webhooks").json()["webhooks"]
            (shown,) = (each for each in hooks if each["id"] == hook["id"])
            if shown["late"]:
                break
            page.get("/admin/webhooks")  # takes a moment
        assert shown["late"] >= 1
        assert "no answer" in shown["error"]
        assert "Events that wait" in page.get("/admin/webhooks").text
        assert f'waitroom_webhook_late{{webhook="{hook["id"]}"}}' in operator.get("/metrics").text
