"""The waiting page of a room that asks newcomers for a challenge, in a real browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.conftest import Open
from tests.browser.stage import Stage, picture
from tests.support.serving import serving
from tests.support.verifier import verifying

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.sample(1)]


async def watched(page: Page) -> None:
    """Note what the page shows while it solves: it may be over in a moment."""
    await page.add_init_script(
        """
        window.seen = {texts: [], shares: [], workers: 0};
        const plain = window.Worker;
        window.Worker = class extends plain {
          constructor(...given) { super(...given); window.seen.workers += 1; }
        };
        setInterval(() => {
          const box = document.querySelector("[data-x=checking]");
          if (!box || box.hidden) return;
          window.seen.texts.push(box.innerText);
          window.seen.shares.push(document.querySelector("[data-x=check_bar]").value);
        }, 5);
        """
    )


LUCKY = 12
"""Tries: a challenge that is solved with one of its first counters shows no progress."""


@pytest.mark.parametrize(
    ("locale", "title", "left"),
    [
        ("en-GB", "Checking your browser", "About"),
        ("ko-KR", "브라우저를 확인하고 있습니다", "초 남음"),
    ],
)
async def test_the_page_solves_it(
    stage: Stage, open_page: Open, locale: str, title: str, left: str
) -> None:
    """In a worker, saying what it does and how far it is; then the visitor stands in line."""
    page = await open_page("about:blank", locale=locale)
    await watched(page)
    for _ in range(LUCKY):
        room = await stage.room(challenge="work", mode="paused")
        await page.goto(stage.page_of(room))
        await expect(page.locator("[data-x=place]")).not_to_be_empty()
        seen: dict[str, Any] = await page.evaluate("seen")
        assert 1 == seen["workers"]
        assert seen["shares"] == sorted(seen["shares"]), "progress only grows"
        if any(title in text and left in text for text in seen["texts"]):
            assert seen["shares"][-1] > 0
            break
    else:
        pytest.fail(f"no progress was shown: {seen}")
    assert 1 == (await stage.stats(room))["waiting"]
    await page.reload()
    await expect(page.locator("[data-x=place]")).not_to_be_empty()
    assert 1 == (await stage.stats(room))["waiting"], "who has a place is not asked again"


async def test_on_a_slow_phone(stage: Stage, open_page: Open) -> None:
    """With a processor six times slower it takes longer, and works the same."""
    room = await stage.room(challenge="work", mode="paused")
    page = await open_page("about:blank")
    session = await page.context.new_cdp_session(page)
    await session.send("Emulation.setCPUThrottlingRate", {"rate": 6})
    await watched(page)
    await page.goto(stage.page_of(room))
    await expect(page.locator("[data-x=place]")).not_to_be_empty()
    assert 1 == (await stage.stats(room))["waiting"]


async def test_a_room_that_observes(stage: Stage, open_page: Open) -> None:
    """The page solves there too, so that the counts mean something."""
    room = await stage.room(challenge="observe_work", mode="paused")
    page = await open_page("about:blank")
    await watched(page)
    await page.goto(stage.page_of(room))
    await expect(page.locator("[data-x=place]")).not_to_be_empty()
    assert 1 == await page.evaluate("seen.workers")


async def test_a_room_that_begins_to_ask(stage: Stage, open_page: Open) -> None:
    """A page from before has neither the words nor the right to start a worker: it reloads."""
    room = await stage.room(mode="closed")
    page = await open_page(stage.page_of(room))
    await expect(page.locator("[data-face=closed]")).to_be_visible()
    await stage.change(room, mode="paused", challenge="work")
    await expect(page.locator("[data-x=place]")).not_to_be_empty()


async def test_without_javascript(stage: Stage, open_page: Open) -> None:
    """A click, then the page ripens and takes the place by itself."""
    room = await stage.room(challenge="work", mode="paused")
    page = await open_page(stage.page_of(room), java_script_enabled=False)
    await expect(page.get_by_text("Without JavaScript it takes a little longer")).to_be_visible()
    await page.get_by_role("button", name="Join the line").click()
    await expect(page.get_by_role("heading", name="One moment, please")).to_be_visible()
    assert 0 == (await stage.stats(room))["waiting"]
    await expect(page.locator("[data-x=place]")).not_to_be_empty()
    assert 1 == (await stage.stats(room))["waiting"]


async def test_without_crypto(stage: Stage, open_page: Open) -> None:
    """Over plain http a browser has no crypto: its page ripens too."""
    room = await stage.room(challenge="work", mode="paused")
    page = await open_page("about:blank")
    await page.add_init_script(
        "Object.defineProperty(Crypto.prototype, 'subtle', {value: undefined})"
    )
    await page.goto(stage.page_of(room))
    await expect(page.get_by_role("heading", name="One moment, please")).to_be_visible()
    await expect(page.locator("[data-x=place]")).not_to_be_empty()


async def test_joining_again(stage: Stage, open_page: Open) -> None:
    """Who has left and joins again solves another challenge; no page has to ripen."""
    room = await stage.room(challenge="work", mode="paused")
    page = await open_page(stage.page_of(room))
    await expect(page.locator("[data-x=place]")).not_to_be_empty()
    await page.get_by_text("Leave the line", exact=True).click()
    await page.get_by_role("button", name="Yes, leave the line").click()
    await page.get_by_role("button", name="Join the line again").click()
    await expect(page.locator("[data-x=place]")).not_to_be_empty()
    assert 1 == (await stage.stats(room))["waiting"]


async def test_a_widget(browser: Browser, tmp_path: Path) -> None:
    """A service's widget on our page, under its content security policy: a click, then a place."""
    async with verifying() as service:
        with serving(tmp_path, **service.settings) as server:
            room = server.new_room(mode="paused", challenge="siteverify")
            context = await browser.new_context(locale="en-GB")
            page = await context.new_page()
            faults: list[str] = []
            page.on("pageerror", lambda error: faults.append(str(error)))
            await page.goto(f"{server.base}/rooms/{room}")
            await expect(page.get_by_text("confirm here that you are a person")).to_be_visible()
            await page.get_by_role("button", name="I am a person").click()
            await expect(page.locator("[data-x=place]")).not_to_be_empty()
            assert ([], 1) == (faults, len(service.asked))
            await context.close()


@pytest.mark.parametrize("locale", ["en-GB", "ko-KR"])
async def test_pictures(stage: Stage, open_page: Open, locale: str) -> None:
    """What a newcomer sees while their browser works."""
    room = await stage.room(challenge="work", mode="paused")
    page = await open_page("about:blank", locale=locale)
    # The worker never answers: the picture is of the middle.
    await page.route(
        re.compile("/static/work.js"),
        lambda route: route.fulfill(
            content_type="text/javascript",
            body="export const solve = () => {}; onmessage = () => postMessage({share: 0.3});",
        ),
    )
    await page.goto(stage.page_of(room))
    await expect(page.locator("[data-x=check_left]")).not_to_be_empty()
    await picture(page, f"challenge-{locale[:2]}")
