"""Pages of other sites in a real browser: they cannot take a place away or act for anybody."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, Route, expect

from tests.browser.conftest import Open
from tests.browser.stage import Stage

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.attack]
EVIL = "http://evil.test/"
FORM = '<form method="post" action="{}"></form><script>document.forms[0].submit()</script>'


async def third_of(page: Page, waiting: int) -> None:
    """Wait until a page shows the third place in a line of this length."""
    await expect(page.locator("[data-x=ahead]")).to_have_text("2")
    await expect(page.locator("[data-x=place]")).to_have_text(f"of {waiting} waiting")


async def test_a_foreign_page_takes_no_place_away(stage: Stage, open_page: Open) -> None:
    """Whatever it sends for the visitor, they keep their own place."""
    room = await stage.room()
    await stage.join(room, 2)
    page = await open_page(stage.page_of(room))
    await third_of(page, 3)
    await stage.join(room, 5)
    target = f"{stage.base}/v1/rooms/{room}/tickets"

    async def evil(route: Route) -> None:
        await route.fulfill(content_type="text/html", body=FORM.format(target))

    await page.route(EVIL, evil)
    async with page.context.expect_event(
        "response", lambda response: response.url == target and response.status == 201
    ) as answered:
        await page.goto(EVIL)
    assert "set-cookie" not in await (await answered.value).all_headers()
    await page.goto(stage.page_of(room))
    await third_of(page, 9)


async def test_a_link_from_elsewhere_shows_the_place(stage: Stage, open_page: Open) -> None:
    """A gate's redirect, or any link, reaches the waiting page with its cookie."""
    room = await stage.room()
    await stage.join(room, 2)
    page = await open_page(stage.page_of(room))
    await third_of(page, 3)
    await stage.join(room, 2)

    async def link(route: Route) -> None:
        body = f"<a href='{stage.page_of(room)}'>wait</a>"
        await route.fulfill(content_type="text/html", body=body)

    await page.route(EVIL, link)
    await page.goto(EVIL)
    await page.click("a")
    await third_of(page, 5)
