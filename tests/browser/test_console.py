"""The operator page in a real browser: numbers that move, times, accessibility."""

from __future__ import annotations

import math
import re
import time

import pytest
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import Page, expect
from redis.asyncio import Redis

from tests.browser.conftest import Open
from tests.browser.stage import PHONE, Stage, picture
from tests.support.programs import need_assets
from tests.support.serving import ADMIN_KEY, Serving
from waitroom.engine.keys import room_key

pytestmark = pytest.mark.asyncio(loop_scope="session")
DESK = {"width": 1280, "height": 900}
ZOOMED = {"width": 195, "height": 422}  # a phone at 200 %
SLOTS = {"mode": "open", "capacity": 3, "session_s": 300}


async def signed_in(stage: Stage, open_page: Open, **context: object) -> Page:
    """Return a signed-in page."""
    page = await open_page(f"{stage.base}/admin", **{"viewport": DESK} | context)
    await page.fill("#key", ADMIN_KEY)
    await page.locator("form[method=post] button.main").click()
    await expect(page).to_have_url(f"{stage.base}/admin")
    await page.wait_for_load_state()  # before that its script does nothing
    return page


async def remember(served: Serving, room: str) -> None:
    """Give a room an hour of history, as the samples that charts are drawn from."""
    socket = served.data_dir / "valkey.sock"
    async with Redis(unix_socket_path=str(socket)) as redis:
        now_ms, calls = int(time.time() * 1000), 0
        pipe = redis.pipeline()  # all at once: the server takes its own samples
        pipe.delete(room_key(room, "series"))
        for step in range(700):
            at_ms, share = now_ms - 3_590_000 + step * 5_000, step / 700
            waiting = int(130 * (share * (2.1 - share)) + 3 * math.sin(step / 7))
            calls += step % 3 == 0 and not 0.6 < share < 0.65
            counts = {"at": at_ms, "waiting": waiting, "called": 2 + step // 9 % 3}
            inside, more = min(8, step // 5), {"called_total": calls, "entered": calls}
            fields = {**counts, "inside": inside, **more}
            pipe.xadd(room_key(room, "series"), fields, id=f"{at_ms}-0")  # type: ignore[arg-type]
        await pipe.execute()


async def test_it_is_live(stage: Stage, open_page: Open) -> None:
    """Numbers, signs and buttons follow what others do, and a half-filled form stays."""
    need_assets()
    room = await stage.room(**SLOTS)
    await stage.join(room, 3)
    page = await signed_in(stage, open_page)
    overview = page.locator(".room", has_text=room)
    await expect(overview).to_be_visible()
    await stage.join(room, 2)
    await expect(overview.locator("dd").first).to_have_text("2")
    await overview.get_by_role("link").first.click()
    await page.fill("input[name=capacity]", "44")
    await page.locator("#plotted-table summary").click()
    await stage.join(room, 4)
    await expect(page.locator("#n-waiting")).to_have_text("6")
    await stage.change(room, mode="paused")
    await expect(page.get_by_role("button", name="Resume")).to_be_visible()
    assert "44" == await page.input_value("input[name=capacity]")
    assert await page.locator("#plotted-table").get_attribute("open") is not None


async def test_capacity_says_what_it_does(served: Serving, stage: Stage, open_page: Open) -> None:
    """Before a change the page tells how the wait will change, and a number is a link."""
    need_assets()
    page = await signed_in(stage, open_page, viewport={"width": 1060, "height": 720})
    policy = SLOTS | {"capacity": 10, "title": "Aurora Live"}
    room = served.new_room("aurora", **policy)  # a name that reads well in the docs
    await remember(served, room)
    await stage.join(room, 130)
    await page.goto(f"{stage.base}/admin/rooms/{room}")
    await expect(page.locator("#plots canvas")).to_have_count(4)
    await page.locator("#plotted-table summary").click()
    await expect(page.locator("#plotted-rows tr").nth(11)).to_be_visible()
    await page.fill("input[name=capacity]", "40")
    await page.locator("form:has(input[name=capacity]) button").click()
    effect = page.locator(".effect")
    await expect(effect).to_contain_text(re.compile(r"The last of 120 waits .+ → .+"))
    await picture(page, "operator-confirm")
    await page.get_by_role("link", name="Cancel").click()
    await page.locator("#n-called").click()
    await expect(page.locator("tbody tr")).to_have_count(10)


async def test_times_are_in_the_operators_zone(stage: Stage, open_page: Open) -> None:
    """The log shows the same moment as 09:00 in Seoul and as 00:00 in UTC."""
    need_assets()
    await stage.room()
    shown = []
    for zone in ("UTC", "Asia/Seoul"):
        page = await signed_in(stage, open_page, timezone_id=zone)
        await expect(page.get_by_text("Live", exact=True)).to_be_visible()
        await page.goto(f"{stage.base}/admin/audit")
        first = page.locator("td time").last
        moment = await first.get_attribute("datetime")
        shown.append((moment, await first.text_content()))
    assert shown[0][0] == shown[1][0]
    assert shown[0][1] != shown[1][1]


async def test_without_a_script(stage: Stage, open_page: Open) -> None:
    """Signing in and reading work without JavaScript; levers have their own tests."""
    room = await stage.room(**SLOTS)
    await stage.join(room, 5)
    page = await signed_in(stage, open_page, java_script_enabled=False)
    await page.goto(f"{stage.base}/admin/rooms/{room}")
    await expect(page.locator("#n-waiting")).to_have_text("2")
    await expect(page.get_by_role("link", name="Refresh the numbers")).to_be_visible()
    await expect(page.get_by_text("Live", exact=True)).to_be_hidden()
    await expect(page.locator("#charts svg[role=img]")).to_have_count(3)
    await page.locator("#drawn summary").click()
    await expect(page.locator("#drawn table")).to_be_visible()


@pytest.mark.sample(0)
@pytest.mark.parametrize(
    ("locale", "size", "scheme"),
    [("en-GB", DESK, "light"), ("ko-KR", PHONE, "dark"), ("ko-KR", ZOOMED, "light")],
)
async def test_everybody_can_use_it(
    stage: Stage, open_page: Open, locale: str, size: dict[str, int], scheme: str
) -> None:
    """No page has a serious violation by axe-core, and each fits its screen, in both languages."""
    room = await stage.room(**SLOTS)
    await stage.join(room, 5)
    page = await open_page(
        f"{stage.base}/admin/sign-in", viewport=size, locale=locale, color_scheme=scheme
    )
    await check(page, locale)
    await page.fill("#key", ADMIN_KEY)
    await page.locator("form[method=post] button.main").click()
    await expect(page.locator(".room").first).to_be_visible()
    await check(page, locale)
    at = f"{stage.base}/admin/rooms/{room}"
    for path in ("", "/tickets", "/tickets?state=called", "/confirm?do=capacity&capacity=9"):
        await page.goto(at + path)
        await check(page, locale)
    for path in ("/admin/audit", "/admin/rooms/none"):
        await page.goto(stage.base + path)
        await check(page, locale)


async def check(page: Page, locale: str) -> None:
    """Reject serious violations, a page wider than its screen, and the wrong language."""
    violations = (await Axe().run(page)).response["violations"]
    assert [] == [
        violation["id"]
        for violation in violations
        if violation["impact"] in ("serious", "critical")
    ], page.url
    width = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert width <= 0, f"{page.url} is {width} px too wide"
    assert locale[:2] == await page.get_attribute("html", "lang")
