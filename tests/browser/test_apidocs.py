"""The list of routes in a real browser: readable on a phone, in dark mode, by a screen reader.

Also the viewer of the documentation site, which shows the same routes with their fields.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import expect

from tests.browser.conftest import Open
from tests.support.serving import Serving
from tests.support.static_site import static_site
from tests.test_docs import DOCS, ROOT
from tests.test_site import need_viewer

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.sample(1)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/docs", "/docs/errors"])
async def test_everybody_can_read_it(
    open_page: Open, served: Serving, path: str, scheme: str
) -> None:
    """axe-core finds nothing, the page is no wider than a phone, and its style is allowed."""
    # axe is injected into the page, which the page's policy would not allow.
    page = await open_page(served.base + path, color_scheme=scheme, bypass_csp=True)
    results = await Axe().run(page)
    assert [] == [
        (violation["id"], violation["nodes"][0]["html"])
        for violation in results.response["violations"]
    ]
    width = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    assert await page.evaluate(width)


@pytest.fixture
def viewer(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Build the viewer as the site has it, and serve it as any web server would."""
    need_viewer()
    spec = importlib.util.spec_from_file_location("viewer", DOCS / "viewer.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.write(ROOT, tmp_path)
    with static_site(tmp_path) as port:
        yield f"http://127.0.0.1:{port}/index.html", tmp_path


async def test_the_viewer_shows_every_call(viewer: tuple[str, Path], open_page: Open) -> None:
    """Each route of the document is there, from this host only; none can be sent."""
    address, folder = viewer
    document = json.loads((folder / "openapi.json").read_text("utf-8"))
    page = await open_page(address)
    calls = page.locator(".opblock")
    await expect(calls).to_have_count(sum(len(item) for item in document["paths"].values()))
    join = page.locator(".opblock", has_text="/v1/rooms/{room}/tickets").first
    await join.locator("button").first.click()
    await expect(join).to_contain_text("Take a place")
    await expect(join.get_by_text("Try it out")).to_have_count(0)
