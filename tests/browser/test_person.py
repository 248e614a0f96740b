"""One person on the operator page: found by their code, removed, and given their place back."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.stage import PHONE, Stage
from tests.browser.test_console import DESK, signed_in

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def code_of(visitor: Page) -> str:
    """Return the short code that a visitor's page shows."""
    code = visitor.locator("[data-x=code]")
    await expect(code).to_have_text(re.compile(r"\w{3}-\w{3}$"))
    return (await code.inner_text())[-7:]


async def no_wider_than_the_screen(page: Page) -> None:
    """Nothing is cut off or needs horizontal scrolling."""
    wide, screen = await page.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert wide <= screen


@pytest.mark.parametrize("script", [True, False], ids=["script", "plain"])
async def test_found_removed_and_given_back(stage: Stage, open_page: Open, script: bool) -> None:
    """By the code from the header, also on a phone: why they wait, out, and back in line."""
    room = await stage.room(mode="paused")
    await stage.join(room, 3)
    visitor = await open_page(stage.page_of(room), java_script_enabled=script)
    if not script:
        await visitor.locator("form[action$='/join'] button").click()
    code = await code_of(visitor)
    await stage.join(room, 2)

    size = DESK if script else PHONE
    page = await signed_in(stage, open_page, java_script_enabled=script, viewport=size)
    await page.fill("#find", code.replace("-", "").lower())
    await page.press("#find", "Enter")
    await expect(page.get_by_role("heading", level=1)).to_contain_text(code)
    await expect(page.locator("#person-figures")).to_contain_text("of 6 waiting")
    why = page.locator(".causes")
    await expect(why).to_contain_text("The room is paused: nobody is called.")
    await expect(why).to_contain_text("3 people are ahead")
    await expect(page.locator(".way")).to_contain_text("Joined the line")
    await no_wider_than_the_screen(page)
    if script:
        assert 0 == (await Axe().run(page)).violations_count

    await page.get_by_role("link", name="Remove", exact=True).click()
    await page.get_by_role("button", name=f"Remove it from {room}").click()
    await expect(page.locator(".done")).to_contain_text("Removed 1 of 1 tickets")
    await expect(page.locator(".way li").last).to_contain_text("Removed")
    if not script:  # otherwise their page learns it by itself
        await visitor.reload()
    await expect(visitor.locator("[data-face=waiting]")).to_be_hidden()

    await page.get_by_role("link", name="Give the place back").click()
    await expect(page.locator(".effect")).to_contain_text("They return to their old place")
    await page.get_by_role("button", name=f"Give the place back in {room}").click()
    await expect(page.locator(".done")).to_contain_text("its place back")
    await expect(page.locator("#person-figures")).to_contain_text("4of 6 waiting")
    await expect(page.locator(".way li").last).to_contain_text("Got the place back")
    await no_wider_than_the_screen(page)
    await visitor.reload()
    assert code == await code_of(visitor)
    (line,) = await stage.tickets(room, short_code=code)
    assert "waiting" == line["state"]
