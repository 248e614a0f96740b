"""A real server and Debian's Chromium; a page that talks to another host or throws fails its test.

The browser is driven by Playwright's asynchronous side: the synchronous one would leave its event
loop running in this thread, and every other asynchronous test would fail after it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, Page, Request, async_playwright

from tests.browser.stage import FLAGS, PHONE, Stage, chromium_or_skip
from tests.serving import Serving, serving

Open = Callable[..., Awaitable[Page]]
_HARMLESS = ("Failed to load resource",)  # an answer of 4xx or 5xx, which tests look at themselves


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Run a server for the tests of one module."""
    chromium_or_skip()
    with serving(tmp_path_factory.mktemp("served"), secret="s" * 44) as one:
        yield one


@pytest.fixture
async def stage(served: Serving) -> AsyncIterator[Stage]:
    """Return the operator of that server."""
    made = Stage(served.base)
    yield made
    await made.aclose()


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    """Run a Chromium with a profile of its own, which goes with it."""
    binary = chromium_or_skip()
    async with async_playwright() as playwright:
        found = await playwright.chromium.launch(executable_path=binary, args=FLAGS)
        yield found
        await found.close()


@pytest.fixture
async def open_page(browser: Browser) -> AsyncIterator[Open]:
    """Open pages as different people: `await open_page(url, locale="ko-KR")`."""
    hosts: set[str] = set()
    faults: list[str] = []

    async def opened(url: str, **context: Any) -> Page:
        context = {"viewport": PHONE, "locale": "en-GB", "reduced_motion": "reduce"} | context
        page = await (await browser.new_context(**context)).new_page()
        page.on("request", lambda request: hosts.add(_host(request)))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
        await page.goto(url)
        return page

    yield opened
    assert len(hosts - {""}) <= 1, f"pages asked other hosts: {hosts}"
    assert [] == [fault for fault in faults if not fault.startswith(_HARMLESS)]


def _host(request: Request) -> str:
    """Return whom a page asks for something; where it leads to is another matter."""
    return "" if request.is_navigation_request() else urlsplit(request.url).netloc
