"""Webhooks over the API: signed, secret shown once, switched off and on, changes logged."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest
from standardwebhooks import Webhook as Verifier

from tests.desk.receivers import Receiver, receiving
from tests.server.operator.webhooks.hooks import NOWHERE, made
from tests.support.serving import Serving


async def test_a_message_arrives(operator: httpx2.Client, room: str) -> None:
    """The running server sends what happens in a room to the receiver, signed."""
    async with receiving() as receiver:
        with made(operator, receiver.url, rooms=[room], types=["room.paused"]) as hook:
            path = f"/v1/admin/rooms/{room}"
            await asyncio.to_thread(operator.patch, path, json={"policy": {"mode": "paused"}})
            (got,) = await receiver.until(1)
            message = Verifier(hook["secret"]).verify(got.body, got.headers)
            assert ("room.paused", room) == (message["type"], message["data"]["room"])


async def test_a_test(operator: httpx2.Client) -> None:
    """A test message is sent at once, and its outcome is told."""
    async with receiving(Receiver(answers=[200, 503])) as receiver:
        with made(operator, receiver.url, rooms=["none"]) as hook:
            path = f"/v1/admin/webhooks/{hook['id']}/test"
            answers = [await asyncio.to_thread(operator.post, path) for _ in range(2)]
    assert [{"error": ""}, {"error": "answered 503"}] == [answer.json() for answer in answers]
    assert "webhook.test" == json.loads(receiver.got[0].body)["type"]


def test_a_secret_is_shown_once(operator: httpx2.Client) -> None:
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
def test_bad_ones(operator: httpx2.Client, fields: dict[str, object]) -> None:
    """Wrong addresses, types, rooms and fields are refused."""
    assert 422 == operator.post("/v1/admin/webhooks", json=fields).status_code


def test_unknown_ones(operator: httpx2.Client) -> None:
    """A webhook that does not exist is not found, for any request."""
    at = "/v1/admin/webhooks/x"
    answers = [operator.post(f"{at}/rotate"), operator.post(f"{at}/test"), operator.delete(at)]
    for answer in (*answers, operator.patch(at, json={"enabled": False})):
        assert (404, "unknown_webhook") == (answer.status_code, answer.json()["code"])


def test_for_admins_alone(served: Serving, operator: httpx2.Client) -> None:
    """An operator's key does not see webhooks, because their addresses may contain keys."""
    body = {"name": "box office", "role": "operator"}
    key = operator.post("/v1/admin/keys", json=body).json()["key"]
    headers = {"Authorization": f"Bearer {key}"}
    answer = httpx2.get(f"{served.base}/v1/admin/webhooks", headers=headers, timeout=60)
    assert 403 == answer.status_code


async def test_off_and_on(operator: httpx2.Client, room: str) -> None:
    """Switched off, it gets only tests; on again, a gap and then everything from then on."""
    async with receiving() as receiver:
        with made(operator, receiver.url, rooms=[room], types=["room.message"]) as hook:
            path, room_path = f"/v1/admin/webhooks/{hook['id']}", f"/v1/admin/rooms/{room}"

            async def say(message: str) -> None:
                body = {"policy": {"message": message}}
                (await asyncio.to_thread(operator.patch, room_path, json=body)).raise_for_status()

            async def switch(*, enabled: bool) -> dict[str, Any]:
                answer = await asyncio.to_thread(operator.patch, path, json={"enabled": enabled})
                shown: dict[str, Any] = answer.raise_for_status().json()
                return shown

            await say("first")
            await receiver.until(1)
            assert not (await switch(enabled=False))["enabled"]
            await say("not sent")
            await asyncio.to_thread(operator.post, f"{path}/test")
            await receiver.until(2)
            assert (await switch(enabled=True))["enabled"]
            await switch(enabled=True)  # changes nothing, and is not logged
            await say("from now on")
            got = await receiver.until(4)
    messages = [json.loads(each.body) for each in got]
    kinds = [message["type"] for message in messages]
    assert ["room.message", "webhook.test", "gap", "room.message"] == kinds
    assert (1, "from now on") == (messages[2]["data"]["missed"], messages[3]["data"]["message"])
    entries = operator.get("/v1/admin/audit").json()["entries"]
    actions = [entry["action"] for entry in entries if entry["detail"].get("id") == hook["id"]]
    assert ["delete", "on", "off", "create"] == [action[8:] for action in actions]
