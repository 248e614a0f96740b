"""One message: the push service takes and verifies it but cannot read it; the browser can."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.push_service import CONTACT, Browser, PushService
from waitroom.push.sender import Outcome, Sender
from waitroom.push.subscription import PushHosts
from waitroom.push.vapid import LIFE_S, VapidKey

KEY = VapidKey.derived("s" * 40, CONTACT)
MESSAGE = '{"title": "차례", "body": "지금"}'.encode()


@pytest_asyncio.fixture
async def sender(service: PushService) -> AsyncIterator[Sender]:
    """Return a sender that knows only this push service, and does not wait between tries."""
    async with contextlib.aclosing(Sender(KEY, service.hosts, pauses_s=(0, 0))) as made:
        yield made


async def send(sender: Sender, service: PushService, browser: Browser) -> Outcome:
    """Send a message to a browser."""
    subscription = browser.subscription(service.hosts)
    return await sender.send(subscription, MESSAGE, ttl_s=180, subject="room:id")


async def test_delivery(sender: Sender, service: PushService) -> None:
    """The service sees who sends and how urgent it is, the browser reads the message."""
    browser = service.browser("b/1")
    assert Outcome.SENT is await send(sender, service, browser)
    (delivery,) = service.got
    assert {"title": "차례", "body": "지금"} == browser.read(delivery.body)
    assert "차례".encode() not in delivery.body
    claims = delivery.claims(KEY.public, service.origin)
    assert (service.origin, CONTACT) == (claims["aud"], claims["sub"])
    assert 0 < claims["exp"] - time.time() <= LIFE_S + 60
    headers = delivery.headers
    assert ("/b/1", "aes128gcm") == (delivery.path, headers["content-encoding"])
    assert ("180", "high", 32) == (headers["ttl"], headers["urgency"], len(headers["topic"]))


@pytest.mark.parametrize(
    ("statuses", "outcome", "tries"),
    [
        ([404], Outcome.GONE, 1),
        ([410], Outcome.GONE, 1),
        ([429, 503, 201], Outcome.SENT, 3),
        ([500, 502, 503], Outcome.FAILED, 3),
        ([400], Outcome.FAILED, 1),
        ([403], Outcome.FAILED, 1),
    ],
)
async def test_answers(
    sender: Sender, service: PushService, statuses: list[int], outcome: Outcome, tries: int
) -> None:
    """Gone is gone; too busy is tried again, three times in total; anything else is given up."""
    service.answers = [(status, "") for status in statuses]
    assert outcome is await send(sender, service, service.browser())
    assert tries == len(service.got)


@pytest.mark.attack
async def test_no_redirect_is_followed(sender: Sender, service: PushService) -> None:
    """A push service cannot redirect us."""
    service.answers = [(302, f"location: {service.origin}/elsewhere\r\n")]
    assert Outcome.FAILED is await send(sender, service, service.browser("first"))
    assert ["/first"] == [delivery.path for delivery in service.got]


@pytest.mark.attack
async def test_a_shorter_list_holds_for_old_subscriptions(service: PushService) -> None:
    """Subscriptions accepted under a longer list of push services are no longer used."""
    subscription = service.browser().subscription(service.hosts)
    async with contextlib.aclosing(Sender(KEY, PushHosts(["web.push.apple.com"]))) as other:
        outcome = await other.send(subscription, MESSAGE, ttl_s=1, subject="x")
    assert (Outcome.GONE, []) == (outcome, service.got)


async def test_a_service_that_is_not_there() -> None:
    """Without an answer a message is tried again, and then given up."""
    nowhere = Browser("https://127.0.0.1:9/x")
    hosts = PushHosts(["127.0.0.1:9"])
    async with contextlib.aclosing(Sender(KEY, hosts, pauses_s=(0,))) as other:
        outcome = await other.send(nowhere.subscription(hosts), MESSAGE, ttl_s=1, subject="x")
    assert Outcome.FAILED is outcome
