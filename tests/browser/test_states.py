"""What the page says when there is nothing to wait for, and what people can do then."""

from __future__ import annotations

import re
import time

import pytest
from playwright.async_api import expect

from tests.browser.conftest import Open
from tests.browser.stage import Stage, heading, picture
from waitroom.server.http.answers import moment

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.sample(0)]


def in_s(seconds: int) -> str | None:
    """Return a moment from now."""
    return moment(int(time.time() * 1000) + seconds * 1000)


async def test_before_opening(stage: Stage, open_page: Open) -> None:
    """The countdown runs, and at the opening the page continues by itself."""
    room = await stage.room(mode="open", capacity=1, opens_at=in_s(1_800))
    await stage.join(room, 1)
    page = await open_page(stage.page_of(room))
    await expect(page.get_by_role("heading", name="Opening soon")).to_be_visible()
    left = page.locator("[data-x=opens]")
    await expect(left).to_have_text(re.compile(r"^2\d:\d\d$"))
    await expect(left).not_to_have_text(await left.inner_text())
    await expect(page.locator("[data-x=early]")).to_have_text(
        "You are in line already, as number 2."
    )
    await picture(page, "waiting-soon")
    await stage.change(room, opens_at=in_s(4))
    await expect(page.locator("[data-x=place]")).to_have_text("You are next")


async def test_an_opening_that_is_set_later(stage: Stage, open_page: Open) -> None:
    """Somebody waiting in an open room is told if it gets an opening time after all."""
    room = await stage.room()
    await stage.join(room, 1)
    page = await open_page(stage.page_of(room))
    await expect(page.locator("[data-x=ahead]")).to_have_text("1")
    await stage.change(room, opens_at=in_s(1_800))
    await expect(page.get_by_role("heading", name="Opening soon")).to_be_visible()
    await expect(page.locator("[data-x=opens]")).to_have_text(re.compile(r"^2\d:\d\d$"))


async def test_before_opening_nobody_may_join(stage: Stage, open_page: Open) -> None:
    """If a room refuses until it opens, the page waits and joins then."""
    room = await stage.room(opens_at=in_s(1_800), before_open="refuse")
    page = await open_page(stage.page_of(room))
    await expect(page.locator("[data-x=early]")).to_have_text("You can join from then on.")
    await expect(page.get_by_text("Leave the line", exact=True)).to_be_hidden()
    assert 0 == (await stage.stats(room))["waiting"]
    await stage.change(room, opens_at=in_s(4))
    await expect(page.locator("[data-x=ahead]")).to_have_text("0")


async def test_full(stage: Stage, open_page: Open) -> None:
    """A full line says so, and the visitor takes no place."""
    room = await stage.room(queue_limit=1)
    await stage.join(room, 1)
    page = await open_page(stage.page_of(room))
    await expect(page.get_by_role("heading", name="The line is full")).to_be_visible()
    assert 1 == (await stage.stats(room))["waiting"]


async def test_closed(stage: Stage, open_page: Open) -> None:
    """A closed line says so to newcomers; waiting people keep their place and read why."""
    room = await stage.room()
    page = await open_page(stage.page_of(room))
    await expect(page.locator("[data-x=ahead]")).to_have_text("0")
    await stage.change(room, mode="closed")
    await expect(page.locator("[data-x=note]")).to_have_text(
        "The line is closed to newcomers. Your place is kept."
    )
    other = await open_page(stage.page_of(room))
    await expect(other.get_by_role("heading", name="This line is closed")).to_be_visible()


async def test_a_turn_that_passed(stage: Stage, open_page: Open) -> None:
    """Anybody who was called and did not come may join again."""
    room = await stage.room(enter_within_s=1)
    page = await open_page(stage.page_of(room), java_script_enabled=False)
    await page.get_by_role("button", name="Join the line").click()
    await expect(page.locator("[data-x=ahead]")).to_have_text("0")
    await stage.admit(room, 1)
    for _ in range(40):
        if await heading(page) == "Your turn has passed":
            break
        await page.wait_for_timeout(200)
        await page.reload()
    await page.get_by_role("button", name="Join the line again").click()
    await expect(page.get_by_role("heading", name="You are in line")).to_have_count(1)


async def test_a_session_that_is_over(stage: Stage, open_page: Open) -> None:
    """Inside, the remaining time is shown; when it is up the page says so and offers the line."""
    long, short = [await stage.room(mode="open", session_s=seconds) for seconds in (600, 2)]
    page = await open_page(stage.page_of(long))
    await expect(page.get_by_role("heading", name="You are inside")).to_be_visible()
    await expect(page.locator("[data-x=session]")).to_have_text(re.compile(r"^9:\d\d$"))
    await page.goto(stage.page_of(short))
    over = page.get_by_role("heading", name="Your session is over")
    await expect(over).to_be_visible()
    await expect(page.get_by_role("button", name="Join the line again")).to_be_visible()


async def test_a_cleared_room(stage: Stage, open_page: Open) -> None:
    """An open page learns within seconds that the line was cleared."""
    room = await stage.room()
    page = await open_page(stage.page_of(room))
    await expect(page.locator("[data-x=ahead]")).to_have_text("0")
    await stage.clear(room)
    await expect(page.get_by_role("heading", name="The line has restarted")).to_be_visible()


@pytest.mark.parametrize("name", ["no-such-room", "%20", "a%00b"])
async def test_no_such_room(stage: Stage, open_page: Open, name: str) -> None:
    """A wrong link gets a page with text, not a bare error."""
    page = await open_page(stage.page_of(name))
    await expect(page.locator("h1, h2")).to_have_text("Line not found")


async def test_the_page_in_dark_on_a_desk(stage: Stage, open_page: Open) -> None:
    """On a large dark screen it is the same calm card."""
    room = await stage.room(mode="open", capacity=1, session_s=120, colour="#0b8f6a")
    await stage.join(room, 4)
    size = {"width": 1_280, "height": 860}
    page = await open_page(stage.page_of(room), viewport=size, color_scheme="dark")
    await expect(page.locator("[data-x=ahead]")).to_have_text("3")
    await picture(page, "waiting-dark")
