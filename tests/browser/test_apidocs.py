"""The HTTP reference in a real browser: readable on a phone, in the dark, by a screen reader."""

from __future__ import annotations

import pytest
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]

from tests.browser.conftest import Open
from tests.support.serving import Serving

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.sample(1)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/docs", "/docs/errors"])
async def test_everybody_can_read_it(
    open_page: Open, served: Serving, path: str, scheme: str
) -> None:
    """axe-core finds nothing, the page is no wider than a phone, and its style is allowed."""
    # axe is put into the page, which the policy of the page would not allow.
    page = await open_page(served.base + path, color_scheme=scheme, bypass_csp=True)
    results = await Axe().run(page)
    assert [] == [
        (violation["id"], violation["nodes"][0]["html"])
        for violation in results.response["violations"]
    ]
    width = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    assert await page.evaluate(width)


async def test_it_works_under_its_own_policy(open_page: Open, served: Serving) -> None:
    """With the policy on, the style acts, and without a script every link within leads on."""
    page = await open_page(f"{served.base}/docs", java_script_enabled=False)
    await page.get_by_role("link", name="Contents", exact=True).click()
    await page.get_by_role("link", name="GET /v1/check").first.click()
    assert page.url.endswith("/docs#get-v1-check")
    article = page.locator("#get-v1-check")
    await article.scroll_into_view_if_needed()
    assert "curl" in await article.inner_text()
    box = await article.bounding_box()
    assert box is not None
    assert box["x"] >= 16  # the frame's padding: the style was applied
