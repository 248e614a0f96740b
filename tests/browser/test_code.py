"""The short code on the page: the one an operator can search for, with and without scripts."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from tests.browser.conftest import Open
from tests.browser.stage import PHONE, Stage

DESKTOP = {"width": 1280, "height": 800}
pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize(("locale", "label"), [("en-GB", "Your code"), ("ko-KR", "문의 코드")])
@pytest.mark.parametrize("script", [True, False], ids=["script", "plain"])
async def test_it_is_shown(
    stage: Stage, open_page: Open, locale: str, label: str, script: bool
) -> None:
    """It appears with the place, survives a reload, and leads to one ticket of the room."""
    room = await stage.room(mode="paused")
    size = PHONE if script else DESKTOP
    url = stage.page_of(room)
    page = await open_page(url, locale=locale, java_script_enabled=script, viewport=size)
    if not script:
        await page.locator("form[action$='/join'] button").click()
    code = page.locator("[data-x=code]")
    await expect(code).to_have_text(re.compile(rf"^{label}: \w{{3}}-\w{{3}}$"))
    text = await code.inner_text()
    await page.reload()
    await expect(code).to_have_text(text)
    tickets = await stage.tickets(room, code=text.split(": ")[1])
    assert [text.split(": ")[1]] == [ticket["short_code"] for ticket in tickets]
