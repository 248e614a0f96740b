"""An open page says what is true now: about a pause, a change, and whether it still hears of us."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, Route, expect

from tests.browser.conftest import Open
from tests.browser.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="session")
LOST = "Reconnecting, your place is kept"
STANDS = "when admission goes on"


async def waiting_page(stage: Stage, open_page: Open, *, streams: bool) -> tuple[str, Page]:
    """Open the page of somebody whose wait can be told."""
    room = await stage.room(mode="open", batch=1, every_s=10, enter_within_s=300)
    await stage.join(room, 40)
    page = await open_page("about:blank")
    if not streams:
        await page.route("**/events", lambda route: route.fulfill(status=429, json={}))
    await page.goto(stage.page_of(room))
    await expect(page.locator("[data-x=wait]")).to_contain_text("minutes")
    await expect(page.locator("[data-x=clock]")).to_be_visible()
    return room, page


@pytest.mark.parametrize("streams", [True, False], ids=["stream", "polls"])
@pytest.mark.parametrize("mode", ["paused", "closed"])
async def test_no_estimate_while_nobody_is_let_in(
    stage: Stage, open_page: Open, mode: str, streams: bool
) -> None:
    """The number of minutes goes with the pause and comes back after it."""
    room, page = await waiting_page(stage, open_page, streams=streams)
    wait, turn = page.locator("[data-x=wait]"), page.locator("[data-x=clock]")
    await stage.change(room, mode=mode)
    await expect(wait).to_have_text(STANDS)
    await expect(turn).to_be_hidden()
    await stage.change(room, mode="open")
    await expect(wait).to_contain_text("minutes")
    await expect(turn).to_be_visible()


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
    """A dead server is told as such by the first try that fails, not by the next poll."""
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
