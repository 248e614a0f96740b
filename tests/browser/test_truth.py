"""An open page says what is true now: about a pause, a change, and whether it is connected."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Page, Route, expect

from tests.browser.conftest import Open
from tests.browser.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="session")
LOST = "Reconnecting, your place is kept"
STANDS = "when admission resumes"
SLOWER = "People are let in more slowly now, so your wait is longer."


async def waiting_page(stage: Stage, open_page: Open, *, streams: bool) -> tuple[str, Page]:
    """Open a page with an estimated wait."""
    room = await stage.room(mode="open", batch=1, every_s=10, enter_within_s=300)
    await stage.join(room, 40)
    page = await open_page("about:blank")
    if not streams:
        await page.route("**/events", lambda route: route.fulfill(status=429, json={}))
    await page.goto(stage.page_of(room))
    await expect(page.locator("[data-x=wait]")).to_contain_text("minutes")
    return room, page


@pytest.mark.parametrize("streams", [True, False], ids=["stream", "polls"])
@pytest.mark.parametrize("mode", ["paused", "closed"])
async def test_no_estimate_while_nobody_is_let_in(
    stage: Stage, open_page: Open, mode: str, streams: bool
) -> None:
    """The number of minutes disappears on a pause and comes back after it."""
    room, page = await waiting_page(stage, open_page, streams=streams)
    wait, turn = page.locator("[data-x=wait]"), page.locator("[data-x=clock]")
    await stage.change(room, mode=mode)
    await expect(wait).to_have_text(STANDS)
    await expect(turn).to_be_hidden()
    await stage.change(room, mode="open")
    await expect(wait).to_contain_text("minutes")


@pytest.mark.parametrize("streams", [True, False], ids=["stream", "polls"])
async def test_a_wait_that_grows_says_why(stage: Stage, open_page: Open, streams: bool) -> None:
    """A lowered pace is named below the wait, and read aloud once, however often it is painted."""
    room = await stage.room(mode="open", batch=4, every_s=20, enter_within_s=300, presence_s=None)
    await stage.join(room, 60)
    page = await open_page("about:blank")
    if not streams:
        await page.route("**/events", lambda route: route.fulfill(status=429, json={}))
    await page.goto(stage.page_of(room))
    await page.evaluate(
        """() => {
          const live = document.querySelector("[data-x=live]");
          window.heard = [];
          new MutationObserver(() => window.heard.push(live.textContent))
            .observe(live, { childList: true, characterData: true, subtree: true });
        }"""
    )
    while (await stage.view(room))["waiting"] < 40:  # noqa: ASYNC110 - the server tells no other way
        await asyncio.sleep(0.1)
    await stage.change(room, batch=2)
    await expect(page.locator("[data-x=note]")).to_have_text(SLOWER)
    ahead = await page.locator("[data-x=ahead]").text_content() or ""
    await expect(page.locator("[data-x=ahead]")).not_to_have_text(ahead, timeout=90_000)
    await expect(page.locator("[data-x=note]")).to_have_text(SLOWER)
    assert 1 == (await page.evaluate("window.heard")).count(SLOWER)


async def test_an_estimate_that_is_not_renewed_turns_grey(stage: Stage, open_page: Open) -> None:
    """Without us the page keeps its number, says that it reconnects, and marks the estimate."""
    _, page = await waiting_page(stage, open_page, streams=True)

    async def fail(route: Route) -> None:
        await route.abort()

    await page.route("**/v1/**", fail)
    await page.evaluate("dispatchEvent(new Event('offline'))")
    await expect(page.locator("[data-x=fresh]")).to_have_text(LOST)
    await expect(page.locator("[data-x=wait]")).to_have_class("old")
    await page.unroute("**/v1/**", fail)
    await expect(page.locator("[data-x=fresh]")).not_to_have_text(LOST)
    await expect(page.locator("[data-x=wait]")).not_to_have_class("old")


async def test_a_stream_that_cannot_be_opened_again_is_a_loss(
    stage: Stage, open_page: Open
) -> None:
    """A dead server is noticed at the first failed try, not at the next poll."""
    room = await stage.room()
    await stage.join(room, 3)
    page = await open_page("about:blank")
    first = {"event": True}

    async def once(route: Route) -> None:
        if first.pop("event", False):
            await page.route("**/v1/**", lambda route: route.abort())
            await route.fulfill(content_type="text/event-stream", body=": \n\n")
        else:
            await route.abort()

    await page.route("**/events", once)
    await page.goto(stage.page_of(room))
    await expect(page.locator("[data-x=ahead]")).to_have_text("3")
    await expect(page.locator("[data-x=fresh]")).to_have_text(LOST)
