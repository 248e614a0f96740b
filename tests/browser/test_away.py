"""Redis or Valkey goes away and comes back: the page says so, and nobody loses their place."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest
from playwright.async_api import expect

from tests.browser.conftest import Open
from tests.browser.stage import Stage, heading
from tests.support.programs import needed
from tests.support.servers import Server, start_server
from tests.support.serving import SOON_AWAY, Serving, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")
LOST = "Reconnecting, your place is kept"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run a Valkey that a test may kill; its data survives."""
    folder = tmp_path_factory.mktemp("store")
    with start_server("valkey", folder, appendonly="yes", appendfsync="always") as server:
        yield server


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, store: Server) -> Iterator[Serving]:
    """Run a server on that Valkey."""
    needed("chromium")
    folder = tmp_path_factory.mktemp("served")
    with serving(folder, redis_url=store.url, **SOON_AWAY) as server:
        yield server


async def test_the_store_goes_away_and_comes_back(
    stage: Stage, open_page: Open, store: Server
) -> None:
    """Open pages and new ones say that they reconnect, and continue by themselves."""
    room = await stage.room()
    await stage.join(room, 2)
    page = await open_page(stage.page_of(room))
    await expect(page.locator("[data-x=ahead]")).to_have_text("2")
    store.kill()
    fresh = page.locator("[data-x=fresh]")
    await expect(fresh).to_have_text(LOST)
    await expect(page.locator("[data-x=ahead]")).to_have_text("2")
    cookies = {cookie["name"]: cookie["value"] for cookie in await page.context.cookies()}
    async with httpx2.AsyncClient(cookies=cookies) as visitor:
        for _ in range(5):
            answer = await visitor.get(stage.page_of(room))
            assert (503, "3") == (answer.status_code, answer.headers["retry-after"])
            assert LOST in answer.text
            assert "Aurora Live" in answer.text
    other = await open_page(stage.page_of(room), java_script_enabled=False)
    assert LOST == await heading(other)
    reader = await open_page(stage.page_of(room))
    assert LOST == await heading(reader)
    store.restart()
    await expect(fresh).not_to_have_text(LOST)
    await expect(page.locator("[data-x=ahead]")).to_have_text("2")
    await expect(reader.locator("[data-x=ahead]")).to_have_text("3")
    await expect(other.get_by_role("button", name="Join the line")).to_be_visible()


async def test_the_network_goes_away_and_comes_back(stage: Stage, open_page: Open) -> None:
    """A phone in a tunnel keeps its number on the screen, and continues afterwards."""
    room = await stage.room()
    await stage.join(room, 2)
    page = await open_page(stage.page_of(room))
    await expect(page.locator("[data-x=ahead]")).to_have_text("2")
    await page.context.set_offline(True)
    fresh = page.locator("[data-x=fresh]")
    await expect(fresh).to_have_text(LOST)
    await expect(page.locator("[data-x=live]")).to_have_text(LOST)
    await page.context.set_offline(False)
    await expect(fresh).not_to_have_text(LOST)
