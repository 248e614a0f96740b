"""Notifications on the waiting page: it keeps its promises, by Web Push or with an open tab.

No browser vendor's push service can be reached here, so the browser's `subscribe` returns a
subscription at ours, and the devtools deliver what it receives to the service worker.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.stage import PHONE, Stage
from tests.support.push_service import CONTACT, Browser, PushService, push_service
from tests.support.serving import serving

pytestmark = pytest.mark.asyncio(loop_scope="session")
DESKTOP = {"width": 1280, "height": 800}
SUBSCRIBES = """(json) => {
  PushManager.prototype.subscribe = async (options) => {
    if (options.applicationServerKey.length !== 87) throw Error("not a key");
    return { toJSON: () => json };
  };
}"""
ANDROID = """
window.Notification = class {
  static permission = "default";
  constructor() { throw new TypeError("Illegal constructor"); }
};
"""
PUSH_TEXT = {"en-GB": "even if you close this tab", "ko-KR": "이 탭을 닫아도"}
TITLES = {
    "en-GB": ("Your turn is near", "It is your turn"),
    "ko-KR": ("곧 차례가 됩니다", "내 차례입니다"),
}


@dataclass
class Pushing:
    """A server that sends push messages, its operator, and the push service."""

    stage: Stage
    service: PushService


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def pushing(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pushing]:
    """Run both; the server trusts the push service's certificate."""
    folder: Path = tmp_path_factory.mktemp("push")
    async with push_service(folder) as service:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SSL_CERT_FILE", str(service.certificate))
            hosts = f"127.0.0.1:{service.port}"
            with serving(folder, push=CONTACT, push_hosts=hosts) as served:
                stage = Stage(served.base)
                yield Pushing(stage, service)
                await stage.aclose()


async def deliver(page: Page, origin: str, message: dict[str, str]) -> None:
    """Give a message to the page's service worker, as the browser would."""
    session = await page.context.new_cdp_session(page)
    registrations: asyncio.Queue[str] = asyncio.Queue()

    def updated(event: dict[str, Any]) -> None:
        for registration in event["registrations"]:
            if not registration["isDeleted"]:
                registrations.put_nowait(registration["registrationId"])

    session.on("ServiceWorker.workerRegistrationUpdated", updated)
    await session.send("ServiceWorker.enable")
    registration_id = await asyncio.wait_for(registrations.get(), 90)
    body = {"origin": origin, "registrationId": registration_id, "data": json.dumps(message)}
    await session.send("ServiceWorker.deliverPushMessage", body)
    await session.detach()


async def until_shown(page: Page, title: str) -> list[list[str]]:
    """Wait until a notification with this title is shown, and return all of them."""
    handle = await page.wait_for_function(
        """async (title) => {
          const [registration] = await navigator.serviceWorker.getRegistrations();
          const shown = await registration.getNotifications();
          const is = (each) => each.title === title;
          return shown.some(is) && shown.map((each) => [each.title, each.body]);
        }""",
        arg=title,
    )
    notifications: list[list[str]] = await handle.json_value()
    return notifications


@pytest.mark.parametrize(("locale", "size"), [("en-GB", DESKTOP), ("ko-KR", PHONE)])
async def test_a_closed_tab_is_told(
    pushing: Pushing, open_page: Open, locale: str, size: dict[str, int]
) -> None:
    """After a click the page promises it; near and called reach the worker, which shows them."""
    stage, service = pushing.stage, pushing.service
    pace = {"capacity": 1, "batch": 1, "every_s": 60, "enter_within_s": None}
    room = await stage.room(mode="open", eta="batch", **pace)
    await stage.join(room, 1)
    page = await open_page("about:blank", locale=locale, viewport=size)
    browser = Browser(f"{service.origin}/{room}")
    await page.context.add_init_script(f"({SUBSCRIBES})({json.dumps(browser.json)})")
    # A headless browser cannot ask anybody; here permission is given when the page asks.
    grant = partial(page.context.grant_permissions, ["notifications"], origin=stage.base)
    await page.expose_function("allow", grant)
    await page.add_init_script("Notification.requestPermission = () => window.allow()")
    await page.goto(stage.page_of(room))
    button = page.locator("[data-x=notify]")
    await button.click()
    await expect(button).to_contain_text(PUSH_TEXT[locale])
    near, called = TITLES[locale]
    (first,) = await service.until(1, f"/{room}")
    message = browser.read(first.body)
    assert near == message["title"]
    await deliver(page, stage.base, message)
    assert [[near, message["body"]]] == await until_shown(page, near)
    await deliver(page, stage.base, {"title": called, "body": "x"})
    assert [[called, "x"]] == await until_shown(page, called), "the later one replaces the other"


@pytest.mark.parametrize("streams", [True, False], ids=["stream", "polls"])
async def test_a_subscription_is_sent_again(
    pushing: Pushing, open_page: Open, streams: bool
) -> None:
    """After an interruption the page sends its subscription again, because it may be lost."""
    stage, service = pushing.stage, pushing.service
    room = await stage.room(mode="paused")
    page = await open_page("about:blank")
    browser = Browser(f"{service.origin}/{room}")
    await page.context.grant_permissions(["notifications"], origin=stage.base)
    await page.context.add_init_script(f"({SUBSCRIBES})({json.dumps(browser.json)})")
    if not streams:
        await page.route("**/events", lambda route: route.fulfill(status=429, json={}))
    async with page.expect_response("**/push") as first:
        await page.goto(stage.page_of(room))
    assert 204 == (await first.value).status
    await page.route("**/v1/**", lambda route: route.abort())
    await page.evaluate("dispatchEvent(new Event('offline'))")
    await expect(page.locator("[data-x=link]")).to_have_class("link lost")
    async with page.expect_response("**/push") as again:
        await page.unroute_all()
    assert 204 == (await again.value).status


async def test_without_push_the_tab_must_stay_open(stage: Stage, open_page: Open) -> None:
    """A server without push promises only notifications from the page itself."""
    room = await stage.room(mode="paused")
    page = await open_page("about:blank")
    await page.context.grant_permissions(["notifications"], origin=stage.base)
    await page.goto(stage.page_of(room))
    await expect(page.locator("[data-x=notify]")).to_have_text(
        "We will notify you while this tab is open"
    )


async def test_nothing_is_promised_on_android(stage: Stage, open_page: Open) -> None:
    """If the page cannot notify by itself and there is no push, there is no button."""
    room = await stage.room(mode="paused")
    page = await open_page("about:blank")
    await page.context.add_init_script(ANDROID)
    await page.goto(stage.page_of(room))
    await expect(page.locator("[data-x=sound]")).to_be_visible()
    await expect(page.locator("[data-x=notify]")).to_be_hidden()
