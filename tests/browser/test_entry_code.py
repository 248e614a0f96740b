"""The field for an entry code in a browser: with and without scripts, in English and Korean."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.browser.conftest import Open
from tests.browser.stage import PHONE, Stage

DESKTOP = {"width": 1280, "height": 800}
pytestmark = pytest.mark.asyncio(loop_scope="session")
WORDS = {
    "en-GB": ("This line is by invitation", "We do not know this code."),
    "ko-KR": ("초대받은 분만 참여할 수 있습니다", "확인할 수 없는 코드입니다."),
}


@pytest.mark.parametrize("locale", WORDS)
@pytest.mark.parametrize("script", [True, False], ids=["script", "plain"])
async def test_it_is_asked_for(stage: Stage, open_page: Open, locale: str, script: bool) -> None:
    """A wrong code is told at the field, a good one gives a place; neither is in an address."""
    room = await stage.room(mode="paused", needs="code")
    (code,) = await stage.codes(room, 1)
    title, wrong = WORDS[locale]
    url, size = stage.page_of(room), PHONE if script else DESKTOP
    page = await open_page(url, locale=locale, java_script_enabled=script, viewport=size)
    await expect(page.locator("h1, h2", has_text=title)).to_be_visible()
    field = page.locator("input[name=code]")
    await field.fill("k7q20-0000")
    await page.locator("form[action$='/join'] button").click()
    await expect(page.locator("[role=alert]")).to_contain_text(wrong)
    await expect(field).to_be_focused()
    await field.fill(code.lower())
    await page.locator("form[action$='/join'] button").click()
    await expect(page.locator("[data-face=waiting]")).to_be_visible()
    for text in ("k7q20", code.lower(), code):
        assert text not in page.url


@pytest.mark.parametrize("uses", [1, 2])
async def test_where_a_challenge_is_asked_too(stage: Stage, open_page: Open, uses: int) -> None:
    """The page solves it for a code that several people may use; a wrong code is told as ever."""
    room = await stage.room(mode="paused", needs="code", challenge="work")
    (code,) = await stage.codes(room, 1, uses=uses)
    page = await open_page(stage.page_of(room))
    field, button = page.locator("input[name=code]"), page.locator("form[action$='/join'] button")
    await field.fill("k7q20-0000")
    await button.click()
    await expect(page.locator("[role=alert]")).to_contain_text(WORDS["en-GB"][1])
    await field.fill(code)
    await button.click()
    await expect(page.locator("[data-face=waiting]")).to_be_visible()
    assert 1 == (await stage.stats(room))["waiting"]
