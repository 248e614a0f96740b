"""How soon an open page tells the truth. Machines stall, so a time is the best of some tries."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Awaitable, Callable, Iterator

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.stage import SOON_MS, Stage
from tests.support import figures
from tests.support.programs import needed
from tests.support.serving import Serving, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")
TRIES = 5


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Run a server that a test may stop."""
    needed("chromium")
    with serving(tmp_path_factory.mktemp("served")) as server:
        yield server


async def shows(page: Page, part: str, text: str) -> None:
    """Wait until a part has this text, checking every frame."""
    script = "([x, text]) => document.querySelector(`[data-x=${x}]`).textContent.includes(text)"
    await page.wait_for_function(script, arg=[part, text], timeout=SOON_MS)


async def best_s(within_s: float, attempt: Callable[[int], Awaitable[float]]) -> float:
    """Return the shortest time of some tries; stop at the first that is short enough."""
    best = float("inf")
    for number in range(TRIES):
        best = min(best, await attempt(number))
        if best <= within_s:
            break
    return best


async def test_a_change_is_there_within_two_seconds(stage: Stage, open_page: Open) -> None:
    """The estimate disappears on a pause, and a message appears, on a page with a stream."""
    room = await stage.room(mode="open", batch=1, every_s=10, enter_within_s=300)
    await stage.join(room, 40)
    page = await open_page(stage.page_of(room))

    async def pause(_: int) -> float:
        await stage.change(room, mode="open")
        await shows(page, "wait", "minutes")
        began = time.monotonic()
        await stage.change(room, mode="paused")
        await shows(page, "wait", "when admission resumes")
        return time.monotonic() - began

    async def speak(number: int) -> float:
        began = time.monotonic()
        await stage.change(room, message=f"We begin {number} minutes later")
        await shows(page, "message", f"We begin {number} minutes later")
        return time.monotonic() - began

    spans = [await best_s(2, pause), await best_s(2, speak)]
    figures.say(f"a pause shows after {spans[0]:.2f} s, a message after {spans[1]:.2f} s")
    assert max(spans) <= 2


async def test_a_server_that_hangs_is_noticed(
    stage: Stage, open_page: Open, served: Serving
) -> None:
    """Without a word from us the page says that it reconnects, and then continues."""
    room = await stage.room()
    await stage.join(room, 3)
    page = await open_page(stage.page_of(room))
    processes = [served.process.pid, *served.workers]

    async def hang(_: int) -> float:
        await expect(page.locator("[data-x=link]")).not_to_have_class("link lost")
        began = time.monotonic()
        for pid in processes:
            os.kill(pid, signal.SIGSTOP)
        try:
            await shows(page, "fresh", "Reconnecting, your place is kept")
            return time.monotonic() - began
        finally:
            for pid in processes:
                os.kill(pid, signal.SIGCONT)

    span = await best_s(20, hang)
    await expect(page.locator("[data-x=ahead]")).to_have_text("3")
    await expect(page.locator("[data-x=link]")).not_to_have_class("link lost")
    figures.say(f"a server that hangs is noticed after {span:.1f} s")
    assert span <= 20
