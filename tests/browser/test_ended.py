"""When a room ends, every page says so: open ones by themselves, with the organiser's text."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from tests.browser.conftest import Open
from tests.browser.stage import SOON_MS, Stage, heading
from waitroom.server.http.answers import moment

pytestmark = pytest.mark.asyncio(loop_scope="session")
DESKTOP = {"width": 1_280, "height": 860}
SOLD_OUT = {
    "ended_text": "Sold out.\nReturned tickets are on sale from Friday.",
    "ended_picture": (
        "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHdpZHRoPSIz"
        "MDAiIGhlaWdodD0iMTIwIj48cmVjdCB3aWR0aD0iMzAwIiBoZWlnaHQ9IjEyMCIgZmlsbD0iIzdhMmZmMCIvPjwvc3Zn"
        "Pg=="
    ),
    "ended_link": "/next",
}
ENGLISH = {"locale": "en-GB"}
MINUTES = re.compile(r"\d")
"""An estimate has a number; its clock is hidden while the range is wide."""

KOREAN = {"locale": "ko-KR", "viewport": DESKTOP, "color_scheme": "dark"}
TITLES = {"en-GB": "This line has ended", "ko-KR": "대기가 종료되었습니다"}
BUTTONS = {"en-GB": "More information", "ko-KR": "자세히 보기"}


async def in_line(stage: Stage, open_page: Open, *, streams: bool, **look: Any) -> tuple[str, Page]:
    """Open a page with an estimated wait."""
    room = await stage.room(mode="open", batch=1, every_s=10, enter_within_s=300)
    await stage.join(room, 40)
    page = await open_page("about:blank", **look)
    if not streams:
        await page.route("**/events", lambda route: route.fulfill(status=429, json={}))
    await page.goto(stage.page_of(room))
    await expect(page.locator("[data-x=wait]")).to_have_text(MINUTES)
    return room, page


async def reloaded(page: Page, title: str) -> None:
    """Reload a page without a script until it says something: the server checks once a second."""
    deadline = time.monotonic() + SOON_MS / 1000
    while await heading(page) != title:
        assert time.monotonic() < deadline, f"{await heading(page)!r} instead of {title!r}"
        await page.wait_for_timeout(100)
        await page.reload()


@pytest.mark.parametrize(
    ("streams", "look"), [(True, ENGLISH), (False, KOREAN)], ids=["stream-en", "polls-ko"]
)
async def test_the_organiser_ends_it(
    stage: Stage, open_page: Open, streams: bool, look: dict[str, Any]
) -> None:
    """An open page says so, in the organiser's words; after an undo, the place is still there."""
    room, page = await in_line(stage, open_page, streams=streams, **look)
    title, button = TITLES[look["locale"]], BUTTONS[look["locale"]]
    await stage.change(room, mode="ended", **SOLD_OUT)
    newcomer = await open_page(stage.page_of(room), **look)
    for shown in (page, newcomer):
        await expect(shown.get_by_role("heading", name=title)).to_be_visible()
        words = shown.locator("[data-x=ended_text]")
        await expect(words).to_have_text(SOLD_OUT["ended_text"])
        assert SOLD_OUT["ended_text"] == await words.inner_text()  # with its line breaks
        await expect(shown.get_by_role("link", name=button)).to_have_attribute("href", "/next")
        box = await shown.locator("[data-x=ended_picture]").bounding_box()
        assert box is not None
        assert box["height"] > 100
    for part in ("wait", "place", "note", "freedom", "link"):
        await expect(page.locator(f"[data-x={part}]")).to_be_hidden()
    assert (await page.title()).startswith(title)
    await stage.change(room, mode="open")
    await expect(page.locator("[data-x=wait]")).to_have_text(MINUTES)
    await expect(page.locator("[data-x=ahead]")).not_to_have_text("0")
    await expect(page.get_by_role("heading", name=title)).to_be_hidden()


@pytest.mark.parametrize("streams", [True, False], ids=["stream", "polls"])
async def test_it_ends_by_itself(stage: Stage, open_page: Open, streams: bool) -> None:
    """At `ends_at` an open page says so by itself; called people may still go in."""
    room, page = await in_line(stage, open_page, streams=streams)
    lucky = await open_page("about:blank")
    other = await stage.room(enter_within_s=300)
    over = asyncio.Event()  # the page would go in by itself before we see that it was called

    async def enter(route: Route) -> None:
        await over.wait()
        await route.continue_()

    await lucky.add_init_script("delete AbortSignal.timeout")  # the end may take long
    await lucky.route("**/tickets/me/enter", enter)
    await lucky.goto(stage.page_of(other))
    await expect(lucky.locator("[data-x=ahead]")).to_have_text("0")
    await stage.admit(other, 1)
    await expect(lucky.get_by_role("heading", name="It is your turn")).to_be_visible()
    soon = moment(int(time.time() * 1000) + 1_500)
    for name in (room, other):
        await stage.change(name, ends_at=soon)
    await expect(page.get_by_role("heading", name=TITLES["en-GB"])).to_be_visible()
    await expect(page.locator("[data-x=ended_text]")).to_contain_text("sold out or over")
    await expect(page.locator("[data-x=ended_link]")).to_be_hidden()
    await expect(page.locator("[data-x=ended_picture]")).to_be_hidden()
    async with asyncio.timeout(SOON_MS / 1000):
        while (await stage.view(other))["mode"] != "ended":  # noqa: ASYNC110 - it tells no other way
            await asyncio.sleep(0.1)
    over.set()
    await expect(lucky.get_by_role("heading", name="You are inside")).to_be_visible()


async def test_without_a_script(stage: Stage, open_page: Open) -> None:
    """The page says the same; removed people are told so, and nobody is invited to join again."""
    room = await stage.room()
    page = await open_page(stage.page_of(room), java_script_enabled=False)
    await page.get_by_role("button", name="Join the line").click()
    await expect(page.locator("[data-x=ahead]")).to_have_text("0")
    await stage.change(room, mode="ended", ended_text="Sold out.")
    await reloaded(page, "This line has ended")
    await expect(page.locator("[data-x=ended_text]")).to_have_text("Sold out.")
    assert "30" == await page.get_attribute("meta[http-equiv=refresh]", "content")

    newcomer = await open_page(stage.page_of(room), java_script_enabled=False, locale="ko-KR")
    assert TITLES["ko-KR"] == await heading(newcomer)
    assert 0 == await newcomer.locator("form, script, meta[http-equiv=refresh]").count()

    await stage.kick(room, [ticket["id"] for ticket in await stage.tickets(room)])
    await reloaded(page, "You were removed from the line")
    await expect(page.get_by_text("Sold out.")).to_be_visible()
    assert 0 == await page.locator("form").count()
