"""A real server and Debian's Chromium; a page that contacts another host or throws fails its test.

Tests use Playwright's asynchronous API: the synchronous one would leave its event loop running in
this thread, and every later asynchronous test would fail. One browser serves all tests, each in its
own context, so they share one event loop: a test module here begins with
`pytestmark = pytest.mark.asyncio(loop_scope="session")`.
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

from tests.browser.stage import FLAGS, PHONE, SOON_MS, TAKING_PICTURES, Stage, picture
from tests.support.programs import needed
from tests.support.serving import Serving

Open = Callable[..., Awaitable[Page]]
_HARMLESS = ("Failed to load resource",)  # an answer of 4xx or 5xx, which tests check themselves
expect.set_options(timeout=SOON_MS)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """While making the pictures for the docs, run only the tests that take one."""
    if not TAKING_PICTURES:
        return
    others = [
        item
        for item in items
        if isinstance(item, pytest.Function)
        and picture.__name__ not in item.function.__code__.co_names
    ]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in others]


@pytest.fixture(autouse=True, scope="package")
def chromium() -> Path:
    """Skip this whole folder if there is no Chromium."""
    return Path(needed("chromium"))


@pytest_asyncio.fixture(loop_scope="session")
async def stage(served: Serving) -> AsyncIterator[Stage]:
    """Return the operator of that server."""
    made = Stage(served.base)
    yield made
    await made.aclose()


# Scoped to this folder, not the session: a browser that idled for half an hour did not respond when
# it was to be closed.
@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def browser(chromium: Path) -> AsyncIterator[Browser]:
    """Run a Chromium with a temporary profile."""
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
    """Return which hosts a page contacts; where its links lead is another matter."""
    return "" if request.is_navigation_request() else urlsplit(request.url).netloc
