"""A real server and Debian's Chromium; a page that talks to another host or throws fails its test.

The browser is driven by Playwright's asynchronous side: the synchronous one would leave its event
loop running in this thread, and every other asynchronous test would fail after it. One browser
serves all tests, each in a context of its own, so they share one event loop: a test module here
begins with `pytestmark = pytest.mark.asyncio(loop_scope="session")`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, Request, async_playwright, expect

from tests.browser.stage import FLAGS, PHONE, SOON_MS, Stage
from tests.support.programs import needed
from tests.support.serving import Serving

Open = Callable[..., Awaitable[Page]]
_HARMLESS = ("Failed to load resource",)  # an answer of 4xx or 5xx, which tests look at themselves
expect.set_options(timeout=SOON_MS)


@pytest.fixture(autouse=True, scope="package")
def chromium() -> Path:
    """Skip all of this folder where there is no Chromium."""
    return Path(needed("chromium"))


@pytest_asyncio.fixture(loop_scope="session")
async def stage(served: Serving) -> AsyncIterator[Stage]:
    """Return the operator of that server."""
    made = Stage(served.base)
    yield made
    await made.aclose()


# Of this folder, not of the session: one that idled for half an hour was not heard of again when
# it was to be closed.
@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def browser(chromium: Path) -> AsyncIterator[Browser]:
    """Run a Chromium with a profile of its own, which goes with it."""
    playwright = await async_playwright().start()
    launched = await playwright.chromium.launch(executable_path=chromium, args=FLAGS)
    yield launched
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(20):
            await launched.close()
            await playwright.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(browser: Browser) -> AsyncIterator[Open]:
    """Open pages as different people: `await open_page(url, locale="ko-KR")`."""
    hosts: set[str] = set()
    faults: list[str] = []
    contexts: list[BrowserContext] = []

    async def opened(url: str, **context: Any) -> Page:
        context = {"viewport": PHONE, "locale": "en-GB", "reduced_motion": "reduce"} | context
        contexts.append(await browser.new_context(**context))
        contexts[-1].set_default_timeout(SOON_MS)
        page = await contexts[-1].new_page()
        page.on("request", lambda request: hosts.add(_host(request)))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "console",
            lambda message: faults.append(message.text) if message.type == "error" else None,
        )
        await page.goto(url)
        return page

    yield opened
    for context in contexts:
        await context.close()
    assert len(hosts - {""}) <= 1, f"pages asked other hosts: {hosts}"
    assert [] == [fault for fault in faults if not fault.startswith(_HARMLESS)]


def _host(request: Request) -> str:
    """Return whom a page asks for something; where it leads to is another matter."""
    return "" if request.is_navigation_request() else urlsplit(request.url).netloc
