"""The concert in a real browser: people wait for a seat, and paying lets the next one in."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import Browser, BrowserContext, Page, expect
from playwright.async_api import TimeoutError as TooLate

from tests.browser.stage import PHONE, SOON_MS, Stage, picture
from tests.examples.serving import concert

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.sample(0)]
SERIOUS = ("serious", "critical")


class Hall:
    """The site, its room, and people who arrive with their own browsers."""

    def __init__(self, url: str, room: str, browser: Browser) -> None:
        self.url = url
        self.room = room
        self.faults: list[str] = []
        self._browser = browser
        self._contexts: list[BrowserContext] = []

    async def arrive(self, path: str = "/", **context: Any) -> Page:
        """Open the site as a new person."""
        given: dict[str, Any] = {"viewport": PHONE, "locale": "en-GB", "reduced_motion": "reduce"}
        self._contexts.append(await self._browser.new_context(**(given | context)))
        self._contexts[-1].set_default_timeout(SOON_MS)
        page = await self._contexts[-1].new_page()
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", self._said)
        await page.goto(self.url + path)
        return page

    def _said(self, message: Any) -> None:
        """Record a page's complaints, above all breaches of its content policy."""
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            self.faults.append(message.text)

    async def close(self) -> None:
        """Close all pages; nothing went wrong on any of them."""
        for context in self._contexts:
            await context.close()
        assert [] == self.faults


@pytest_asyncio.fixture(loop_scope="session")
async def hall(stage: Stage, browser: Browser, tmp_path: Path) -> AsyncIterator[Hall]:
    """Put the site behind a room for one person."""
    room = await stage.room(mode="open", capacity=1, session_s=600, title="Night Lights")
    with concert(tmp_path, stage.base, room) as url:
        await stage.change(room, go_to=f"{url}/book")
        made = Hall(url, room, browser)
        yield made
        await made.close()


async def get_in(hall: Hall, **context: Any) -> Page:
    """Press the button on the first page, and pass through the waiting room."""
    page = await hall.arrive(**context)
    await page.click("a.big")
    await page.wait_for_url(hall.url + "/book")
    return page


async def choose(page: Page, number: int) -> None:
    """Open the first evening and tap a seat in row A."""
    await page.click(".evenings a >> nth=0")
    await page.click(f"fieldset:first-of-type button >> nth={number - 1}")
    await page.wait_for_url("**/book/seats/*")


async def pay(page: Page) -> None:
    """Go from a held seat to the receipt."""
    await page.fill("[name=name]", "Ann")
    await page.click("main form button")
    await page.wait_for_url("**/book/reservations/*")
    await page.click("main form button")
    await page.wait_for_url("**/orders/*")


async def test_paying_lets_the_next_one_in(hall: Hall, stage: Stage) -> None:
    """Two browsers and a room for one: the second gets in once the first has paid, and sees it."""
    ann = await get_in(hall)
    bob = await hall.arrive()
    await picture(bob, "concert-home")
    await bob.click("a.big")
    await bob.wait_for_url(f"{stage.base}/rooms/{hall.room}*")
    await expect(bob.locator("[data-face=waiting]")).to_be_visible()
    await choose(ann, 3)
    stats = await stage.stats(hall.room)
    assert (1, 1) == (stats["inside"], stats["waiting"])
    await pay(ann)
    await expect(ann.locator("h1")).to_have_text("Seat A3 is yours")
    await bob.wait_for_url(hall.url + "/book")
    await bob.click(".evenings a >> nth=0")
    sold = bob.locator("fieldset:first-of-type button >> nth=2")
    await expect(sold).to_have_class("sold")
    await expect(sold).to_be_disabled()
    await picture(bob, "concert-seats")
    await ann.reload()  # the receipt stays, but booking again means waiting again
    await expect(ann.locator("h1")).to_have_text("Seat A3 is yours")
    await ann.goto(hall.url + "/book")
    await expect(ann.locator("[data-face=waiting]")).to_be_visible()


async def test_leaving_lets_the_next_one_in(hall: Hall) -> None:
    """Anybody who does not want to book can say so, and makes room at once."""
    ann = await get_in(hall)
    bob = await hall.arrive("/book")
    await expect(bob.locator("[data-face=waiting]")).to_be_visible()
    await ann.click("footer a")
    await expect(ann.locator("h1")).to_have_text("You have left")
    await bob.wait_for_url(hall.url + "/book")


async def test_the_seat_map_is_alive(hall: Hall, stage: Stage) -> None:
    """Somebody viewing the map sees a seat being held and sold, without reloading."""
    await stage.change(hall.room, capacity=2)
    ann, bob = await get_in(hall), await get_in(hall)
    await bob.click(".evenings a >> nth=0")
    seat = bob.locator("fieldset:first-of-type button >> nth=4")
    await expect(seat).to_have_class("free")
    await choose(ann, 5)
    await expect(seat).to_have_class("held")
    await pay(ann)
    await expect(seat).to_have_class("sold")
    await expect(seat).to_be_disabled()
    await expect(seat).to_have_attribute("aria-label", "Row A, seat 5, ₩154,000, sold")


async def test_a_visit_that_is_over(hall: Hall, stage: Stage) -> None:
    """Anybody whose pass has ended waits again, by a form or, on the seat map, automatically."""
    await stage.change(hall.room, capacity=2)
    ann, cho = await get_in(hall), await get_in(hall)
    await choose(ann, 1)
    await cho.click(".evenings a >> nth=0")
    await stage.change(hall.room, mode="manual")
    await stage.clear(hall.room)  # otherwise a tab that lost its cookies is still known by its key
    for page in (ann, cho):
        await page.context.clear_cookies(name=re.compile("^waitroom-(pass|ticket)-"))
    await cho.wait_for_url(f"{stage.base}/rooms/**")
    await ann.fill("[name=name]", "Ann")
    await ann.click("main form button")
    for page in (ann, cho):
        await expect(page.locator("[data-face=waiting]")).to_be_visible()


async def test_it_works_without_a_script(hall: Hall) -> None:
    """Line, map, hold, reservation, payment and receipt: all with forms alone."""
    page = await hall.arrive(java_script_enabled=False)
    await page.click("a.big")
    # The room's page takes a place by its form, then reloads by itself. This may happen just when
    # we want to press the button, which is then gone.
    while not page.url.startswith(hall.url):
        with contextlib.suppress(TooLate):
            await page.click("[data-face]:not([hidden]) form .big", timeout=2_000)
    await choose(page, 1)
    await pay(page)
    await expect(page.locator("h1")).to_have_text("Seat A1 is yours")


@pytest.mark.sample(1)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("locale", ["en-GB", "ko-KR"])
async def test_everyone_can_use_it(hall: Hall, scheme: str, locale: str) -> None:
    """axe-core finds nothing serious on any page, and each fits a phone's width."""
    wrong: dict[str, list[str]] = {}
    page = await hall.arrive(color_scheme=scheme, locale=locale)

    async def look(name: str) -> None:
        violations = (await Axe().run(page)).response["violations"]
        wrong[name] = [
            violation["id"] for violation in violations if violation["impact"] in SERIOUS
        ]
        wide = await page.evaluate("document.documentElement.scrollWidth")
        assert PHONE["width"] >= wide, name

    await look("home")
    await page.click("a.big")
    await page.wait_for_url(hall.url + "/book")
    await look("evenings")
    await page.click(".evenings a >> nth=0")
    await look("map")
    await page.click("fieldset:first-of-type button >> nth=0")
    await page.wait_for_url("**/book/seats/*")
    await look("held")
    await page.fill("[name=name]", "김하나")
    await page.click("main form button")
    await page.wait_for_url("**/book/reservations/*")
    await look("reserved")
    await page.click("main form button")
    await page.wait_for_url("**/orders/*")
    await look("order")
    assert {} == {name: ids for name, ids in wrong.items() if ids}
