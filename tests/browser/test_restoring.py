"""After a loss the page keeps its number and says that the line is being restored."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.stage import PHONE, Stage
from tests.support.servers import Server, start_server
from tests.support.serving import serving
from waitroom.engine.keys import room_key

pytestmark = pytest.mark.asyncio(loop_scope="session")
AHEAD = 30
SAYS = {
    "en-GB": re.compile("We are restoring the line"),
    "ko-KR": re.compile("대기열을 복구하고 있습니다"),
}
STANDS = {"en-GB": "when admission resumes", "ko-KR": "입장 재개 후 안내"}
DESKTOP = {"width": 1280, "height": 900}
SHOWN = """
    new MutationObserver(() => {
      const part = document.querySelector("[data-face=waiting]:not([hidden]) [data-x=ahead]");
      if (part) shown(part.textContent);
    }).observe(document, { childList: true, subtree: true, characterData: true });
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run a Valkey that may be emptied."""
    with start_server("valkey", tmp_path_factory.mktemp("store")) as server:
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def fragile(tmp_path_factory: pytest.TempPathFactory, store: Server) -> AsyncIterator[Stage]:
    """Run a Waitroom on it, and return its operator."""
    folder: Path = tmp_path_factory.mktemp("fragile")
    with serving(folder, redis_url=store.url) as server:
        stage = Stage(server.base)
        yield stage
        await stage.aclose()


async def lost(stage: Stage, store: Server, room: str, tickets: list[str]) -> None:
    """Lose everything, and bring back all but the first half of the line."""
    store.command("FLUSHALL")
    await come_back(stage, room, tickets[len(tickets) // 2 :])


async def come_back(stage: Stage, room: str, tickets: list[str]) -> None:
    """Make people poll, the last in line first."""
    async with httpx2.AsyncClient(base_url=stage.base, timeout=60) as http:
        for ticket in reversed(tickets):
            view = (await http.get(f"/v1/rooms/{room}/tickets/{ticket}")).json()
            assert (None, None, True) == (view["position"], view["eta_s"], view["restoring"])


def end_of_hold(store: Server, room: str) -> None:
    """Wait until `recover_s` is over."""
    for field in ("hold_until", "restoring_until"):
        store.command("HSET", room_key(room, "meta"), field, 0)


async def watched(open_page: Open, numbers: list[str], **context: object) -> Page:
    """Open a page that records its numbers, also those it shows after a reload."""
    page = await open_page("about:blank", **context)
    await page.expose_function("shown", lambda number: numbers.append(number))
    await page.add_init_script(SHOWN)
    return page


@pytest.mark.parametrize(
    ("streams", "locale", "viewport"),
    [(True, "en-GB", PHONE), (False, "ko-KR", DESKTOP)],
    ids=["stream", "polls"],
)
async def test_no_number_falls_and_rises(
    fragile: Stage,
    store: Server,
    open_page: Open,
    streams: bool,
    locale: str,
    viewport: dict[str, int],
) -> None:
    """Anybody who waited keeps their number, even over a reload; newcomers get none until later."""
    room = await fragile.room(recover_s=3_600, presence_s=None)
    tickets = await fragile.join(room, AHEAD)
    numbers: list[str] = []
    page = await watched(open_page, numbers, locale=locale, viewport=viewport)
    if not streams:
        await page.route("**/events", lambda route: route.fulfill(status=429, json={}))
    await page.goto(fragile.page_of(room))
    ahead, note = page.locator("[data-x=ahead]"), page.locator("[data-x=note]")
    await expect(ahead).to_have_text(str(AHEAD))

    await lost(fragile, store, room, tickets)
    await expect(note).to_have_text(SAYS[locale])
    await expect(page.locator("[data-x=wait]")).to_have_text(STANDS[locale])
    await page.reload()
    await expect(note).to_have_text(SAYS[locale])
    await expect(ahead).to_have_text(str(AHEAD))
    new = await open_page(fragile.page_of(room), locale=locale, viewport=viewport)
    await expect(new.locator("[data-x=note]")).to_have_text(SAYS[locale])
    await expect(new.locator("[data-x=ahead]")).to_have_text("…")

    await come_back(fragile, room, tickets)
    end_of_hold(store, room)
    await expect(new.locator("[data-x=ahead]")).to_have_text(str(AHEAD + 1))
    await expect(note).to_be_hidden()
    await expect(ahead).to_have_text(str(AHEAD))
    assert {str(AHEAD)} == {number for number in numbers if number != "…"}


@pytest.mark.parametrize("locale", SAYS)
async def test_without_a_script(
    fragile: Stage, store: Server, open_page: Open, locale: str
) -> None:
    """The server-rendered page keeps the number too, and has a sentence for newcomers."""
    room = await fragile.room(recover_s=3_600, presence_s=None)
    tickets = await fragile.join(room, 4)
    page, new = [
        await open_page(fragile.page_of(room), locale=locale, java_script_enabled=False)
        for _ in range(2)
    ]
    await page.click("[data-face=join] .big")
    ahead, note = page.locator("[data-x=ahead]"), page.locator("[data-x=note]")
    await expect(ahead).to_have_text("4")

    await lost(fragile, store, room, tickets)
    await page.reload()
    await expect(note).to_have_text(SAYS[locale])
    await expect(ahead).to_have_text("4")
    await new.click("[data-face=join] .big")
    await expect(new.locator("[data-x=note]")).to_have_text(SAYS[locale])

    await come_back(fragile, room, tickets)
    end_of_hold(store, room)
    await page.reload()
    await expect(ahead).to_have_text("4")
    await expect(note).to_be_hidden()
    await new.reload()
    await expect(new.locator("[data-x=ahead]")).to_have_text("5")
