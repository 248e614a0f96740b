"""The organiser's own page: the event, its colours, its font and its texts."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.stage import PHONE, Stage, picture
from tests.support.serving import ADMIN_KEY
from waitroom.server.waiting.faces import Face

pytestmark = pytest.mark.asyncio(loop_scope="session")
DESKTOP = {"width": 1280, "height": 800}
SVG = (
    b"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 160 90'>"
    b"<rect width='160' height='90' fill='#7a2ff0'/><circle cx='120' cy='30' r='50' fill='#f0a'/>"
    b"</svg>"
)
EVENT: dict[str, Any] = {
    "picture": "data:image/svg+xml;base64," + base64.b64encode(SVG).decode(),
    "event_date": "Fri 3 May 2030, 20:00",
    "event_place": "Olympic Hall, Seoul",
    "colour": "#7a2ff0",
    "background": "#10002b",
    "font": "/static/none.woff2",
    "footer": "Aurora Ltd\n1 Stage Street",
    "help_link": "mailto:help@aurora.example",
}


async def accessible(page: Page) -> None:
    """Check that axe-core finds nothing."""
    violations = (await Axe().run(page)).response["violations"]
    assert [] == [violation["id"] for violation in violations]


@pytest.mark.sample(1)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["phone", "desktop"])
@pytest.mark.parametrize("scripts", [True, False], ids=["script", "plain"])
async def test_the_event_is_shown(
    stage: Stage, open_page: Open, scheme: str, viewport: dict[str, int], scripts: bool
) -> None:
    """Picture, date, place, colours, footer and help show on every screen, also without scripts."""
    room = await stage.room(mode="open", capacity=2, session_s=240, **EVENT)
    await stage.join(room, 14)
    page = await open_page(
        "about:blank", color_scheme=scheme, viewport=viewport, java_script_enabled=scripts
    )
    async with page.expect_request("**/static/none.woff2"):
        await page.goto(stage.page_of(room))
    box = await page.locator("header .picture").bounding_box()
    assert box is not None
    assert box["width"] > 300
    await expect(page.get_by_text("Fri 3 May 2030, 20:00 · Olympic Hall, Seoul")).to_be_visible()
    await expect(page.locator("body")).to_have_css("background-color", "rgb(16, 0, 43)")
    await expect(page.locator("body")).to_have_css("font-family", re.compile("^room,"))
    await expect(page.get_by_text("1 Stage Street")).to_have_css("color", "rgb(255, 255, 255)")
    help_link = page.get_by_role("link", name="Get help")
    await expect(help_link).to_have_attribute("href", EVENT["help_link"])
    if scripts:
        await expect(page.locator("[data-x=ahead]")).to_have_text("12")
        await accessible(page)
    if scripts and viewport == PHONE:
        await picture(page, f"event-{scheme}")


@pytest.mark.sample(1)
@pytest.mark.parametrize("streams", [True, False], ids=["stream", "polls"])
async def test_words_in_the_visitor_s_language(
    stage: Stage, open_page: Open, streams: bool
) -> None:
    """Everybody reads the organiser's texts in their language, at first and after a change."""
    texts = {"title": "오로라", "message": "곧 시작합니다", "footer": "오로라 주식회사"}
    room = await stage.room(message="We begin soon", texts={"ko": texts}, event_place="Seoul")
    pages = {}
    for locale in ("ko-KR", "en-GB"):
        page = pages[locale] = await open_page("about:blank", locale=locale)
        if not streams:
            await page.route("**/events", lambda route: route.fulfill(status=429, json={}))
        await page.goto(stage.page_of(room))
        await expect(page.get_by_text("Seoul")).to_be_visible()
    korean, english = pages.values()
    await expect(korean.get_by_role("heading", level=1)).to_have_text("오로라")
    await expect(korean.get_by_text("오로라 주식회사")).to_be_visible()
    await expect(korean.locator("[data-x=message]")).to_have_text("곧 시작합니다")
    await expect(english.get_by_role("heading", level=1)).to_have_text("Aurora Live")
    await expect(english.locator("[data-x=message]")).to_have_text("We begin soon")
    later = texts | {"title": "오로라 라이브", "message": "십 분 늦습니다"}
    await stage.change(room, message="Ten minutes late", texts={"ko": later})
    await expect(korean.locator("[data-x=message]")).to_have_text("십 분 늦습니다")
    await expect(korean.get_by_role("heading", level=1)).to_have_text("오로라 라이브")
    await expect(english.locator("[data-x=message]")).to_have_text("Ten minutes late")
    await expect(english.get_by_role("heading", level=1)).to_have_text("Aurora Live")
    over = {"ko": later | {"ended_text": "매진되었습니다"}}
    await stage.change(room, mode="ended", ended_text="Sold out", texts=over)
    await expect(korean.locator("[data-x=ended_text]")).to_have_text("매진되었습니다")
    await expect(english.locator("[data-x=ended_text]")).to_have_text("Sold out")


@pytest.mark.sample(1)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("viewport", "width"), [(PHONE, "phone"), (DESKTOP, "desktop")], ids=["phone", "desktop"]
)
async def test_a_preview_of_every_face(
    stage: Stage, open_page: Open, scheme: str, viewport: dict[str, int], width: str
) -> None:
    """An operator sees every state of the page in Korean, in frames, and nobody joins by that."""
    room = await stage.room(mode="open", texts={"ko": {"title": "오로라"}}, **EVENT)
    page = await open_page(f"{stage.base}/admin", color_scheme=scheme, viewport=viewport)
    await page.fill("#key", ADMIN_KEY)
    await page.locator("form[method=post] button.main").click()
    await expect(page).to_have_url(f"{stage.base}/admin")
    await page.goto(f"{stage.base}/admin/rooms/{room}")
    await page.get_by_role("link", name="Page preview").click()
    await page.get_by_label("Language").select_option("ko")
    await page.get_by_label("Width").select_option(width)
    await page.get_by_role("button", name="Show").click()
    await page.wait_for_url("**/preview?*language=ko*")  # until then the old frames are there
    await expect(page.get_by_label("Language")).to_have_value("ko")
    for face in Face:
        await page.locator(f"#{face} iframe").scroll_into_view_if_needed()  # loads it
        frame = page.frame_locator(f"#{face} iframe")
        await expect(frame.locator(f"[data-face={face}]")).to_be_visible()
        if face is not Face.UNKNOWN:
            await expect(frame.locator("h1")).to_have_text("오로라")
    called = page.frame_locator("#called iframe")
    await expect(called.get_by_role("heading", name="내 차례입니다")).to_be_visible()
    await accessible(page)
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    stats = await stage.stats(room)
    assert [0, 0] == [stats["waiting"], stats["inside"]]
