"""The organiser's message reaches open pages as a banner with its time, and goes with its text."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.stage import PHONE, Stage
from tests.support.serving import ADMIN_KEY

pytestmark = pytest.mark.asyncio(loop_scope="session")
DESKTOP = {"width": 1280, "height": 900}
LONG = "표가 모두 팔린 구역이 있습니다.\n" + "<b>S석</b>_" * 95
ZONE = "Asia/Seoul"


async def said_at(page: Page) -> str:
    """Return the time of the room's message in the browser's own words."""
    return str(
        await page.evaluate(
            """async () => {
              const room = location.pathname.split("/").pop();
              const { message_at: said } = await (await fetch(`/v1/rooms/${room}`)).json();
              const style = { hour: "numeric", minute: "2-digit" };
              return new Intl.DateTimeFormat(document.documentElement.lang, style)
                .format(new Date(said));
            }"""
        )
    )


async def fits(page: Page) -> bool:
    """Tell whether nothing on a page is wider than its window."""
    return bool(
        await page.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
    )


@pytest.mark.parametrize("streams", [True, False], ids=["stream", "polls"])
@pytest.mark.parametrize(
    ("locale", "size"), [("ko-KR", PHONE), ("en-GB", DESKTOP)], ids=["ko-phone", "en-desktop"]
)
async def test_a_message_comes_and_goes(
    stage: Stage, open_page: Open, locale: str, size: dict[str, int], streams: bool
) -> None:
    """It appears with its time, is read aloud once, stays plain text, and goes when removed."""
    room = await stage.room()
    await stage.join(room, 3)
    page = await open_page("about:blank", locale=locale, viewport=size, timezone_id=ZONE)
    if not streams:
        await page.route("**/events", lambda route: route.fulfill(status=429, json={}))
    await page.goto(stage.page_of(room))
    banner, message = page.locator("[data-x=banner]"), page.locator("[data-x=message]")
    intro, live = page.locator(".message[data-with]"), page.locator("[data-x=live]")
    await expect(page.locator("[data-x=ahead]")).to_have_text("3")
    await expect(banner).to_be_hidden()
    await expect(intro).to_be_visible()

    await stage.change(room, message=LONG, title="Aurora, second day", ready="Your card")
    await expect(banner).to_be_visible()
    assert LONG == await message.text_content()
    assert [True, 0] == [await fits(page), await message.locator("b").count()]
    await expect(page.locator("[data-x=said]")).to_have_text(await said_at(page))
    await expect(live).to_have_text(LONG)
    await expect(intro).to_be_hidden()
    await expect(page.locator("h1")).to_have_text("Aurora, second day")
    assert "Aurora, second day" in await page.title()
    await expect(page.locator("[data-x=ready]")).to_be_visible()

    # Another change does not repeat it.
    await page.evaluate("document.querySelector('[data-x=live]').textContent = ''")
    await stage.change(room, ready=None)
    await expect(page.locator("[data-x=have]")).to_be_hidden()
    assert "" == await live.text_content()
    await stage.change(room, message=None)
    await expect(banner).to_be_hidden()
    await expect(intro).to_be_visible()


async def test_polls_read_the_room_only_when_it_has_changed(stage: Stage, open_page: Open) -> None:
    """Without a stream a poll is one request, and makes a second one only after a change."""
    room = await stage.room()
    page = await open_page("about:blank")
    await page.route("**/events", lambda route: route.fulfill(status=429, json={}))
    reads: list[str] = []
    page.on("response", lambda answer: reads.append(answer.url.rpartition("/")[2]))
    await page.goto(stage.page_of(room))
    for _ in range(3):
        await page.wait_for_event("response", lambda answer: answer.url.endswith("/tickets/me"))
    assert 1 == reads.count(room) - 1, reads  # besides the page itself
    await stage.change(room, help_link="/help", footer="Aurora Ltd.")
    await expect(page.locator("[data-x=footer]")).to_have_text("Aurora Ltd.")
    await expect(page.locator("[data-x=help]")).to_have_attribute("href", "/help")
    assert 2 == reads.count(room) - 1, reads


async def test_where_people_go_on_to_may_move(stage: Stage, open_page: Open) -> None:
    """Anybody called after the address has changed goes to the new one."""
    room = await stage.room(go_to="/old")
    page = await open_page(stage.page_of(room))
    await expect(page.locator("[data-x=ahead]")).to_have_text("0")
    await stage.change(room, go_to="/docs", ready="Moved")
    await expect(page.locator("[data-x=ready]")).to_have_text("Moved")
    await stage.admit(room, 1)
    await page.wait_for_url("**/docs")


async def test_a_closed_room_speaks_too(stage: Stage, open_page: Open) -> None:
    """Anybody who came too late for a place reads the reason on the open page."""
    room = await stage.room(mode="closed")
    page = await open_page(stage.page_of(room))
    await expect(page.locator("[data-face=closed]")).to_be_visible()
    await stage.change(room, message="Sold out. Thank you!")
    await expect(page.locator("[data-x=message]")).to_have_text("Sold out. Thank you!")


@pytest.mark.parametrize("locale", ["ko-KR", "en-GB"])
async def test_without_a_script(stage: Stage, open_page: Open, locale: str) -> None:
    """After the page's own reload the banner is there, and says how old it is."""
    room = await stage.room()
    page = await open_page(stage.page_of(room), java_script_enabled=False, locale=locale)
    await page.click("[data-face=join] button")
    await expect(page.locator("[data-x=banner]")).to_be_hidden()
    await stage.change(room, message=LONG)
    await expect(page.locator("[data-x=message]")).to_have_text(LONG)  # after its own reload
    await expect(page.locator("[data-x=said]")).to_contain_text(
        "전" if locale == "ko-KR" else "ago"
    )
    await expect(page.locator(".message[data-with]")).to_be_hidden()


@pytest.mark.parametrize("script", [True, False], ids=["script", "no-script"])
async def test_an_operator_speaks(stage: Stage, open_page: Open, script: bool) -> None:
    """A draft is chosen, changed, previewed and sent from the page; then it is removed again."""
    room = await stage.room(title=None)
    reader = await open_page(stage.page_of(room))
    await expect(reader.locator("[data-x=ahead]")).to_have_text("0")
    page = await open_page(
        f"{stage.base}/admin", java_script_enabled=script, locale="ko-KR", viewport=DESKTOP
    )
    await page.fill("#key", ADMIN_KEY)
    await page.locator("form[method=post] button.main").click()
    await expect(page).to_have_url(f"{stage.base}/admin")
    await page.goto(f"{stage.base}/admin/rooms/{room}")  # the list may be a second old
    card = page.locator("#message")
    await expect(card).to_contain_text("모두에게 알림")
    await card.get_by_role("link", name="지연").click()
    field = card.locator("textarea")
    await expect(field).to_have_value(re.compile("10분 지연"))
    await field.fill("20분 지연됩니다.\n순서는 그대로입니다.")
    await card.get_by_role("button", name="미리").click()
    await expect(page.locator(".banner")).to_contain_text("20분 지연됩니다.\n순서는")
    await page.locator("form[method=post] button.main").click()
    await expect(page.locator(".done")).to_contain_text("20분 지연됩니다.")
    await expect(reader.locator("[data-x=message]")).to_have_text(
        "20분 지연됩니다.\n순서는 그대로입니다."
    )
    await card.get_by_role("button", name="알림 내리기").click()
    await page.wait_for_url("**/confirm")  # the room's own page has this button too
    await page.locator("form[method=post] button.main").click()
    await expect(card).to_contain_text("지금은 알림이 없습니다.")
    await expect(reader.locator("[data-x=banner]")).to_be_hidden()
