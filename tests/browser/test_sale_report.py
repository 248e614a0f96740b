"""The report of a sale in a browser: it opens from a file, offline, and prints on paper."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.conftest import Open
from tests.browser.stage import picture
from tests.report.archives import concert
from waitroom.report.gather import gather
from waitroom.report.plan import Plan
from waitroom.report.sale_page import render

pytestmark = pytest.mark.asyncio(loop_scope="session")

PLANNED = Plan(
    name="rehearsal spring",
    people=2_800,
    called=2_790,
    no_shows=140,
    most_waiting=2_450,
    most_held=200,
    median_s=740.0,
    p90_s=1_330.0,
    longest_s=1_480.0,
)


async def test_the_report_opens_offline_and_prints(open_page: Open, tmp_path: Path) -> None:
    """Verdict, promises and plots are readable at any width; printed, it is dark on white."""
    sale = gather(concert(tmp_path), tmp_path, PLANNED)
    file = tmp_path / "report.html"
    file.write_text(render(sale), "utf-8")
    page = await open_page(file.as_uri(), offline=True, java_script_enabled=False)
    await expect(page.locator(".verdict")).to_contain_text("every promise was kept")
    await expect(page.locator("figure > svg")).to_have_count(6)
    for width in (320, 390, 760):
        await page.set_viewport_size({"width": width, "height": 1000})
        assert width >= await page.evaluate("document.documentElement.scrollWidth"), width
    await page.emulate_media(color_scheme="dark", media="print")
    colour = "getComputedStyle(document.body).backgroundColor"
    assert "rgb(255, 255, 255)" == await page.evaluate(colour)
    assert await page.pdf(format="A4")
    await page.emulate_media(color_scheme="light", media="screen")
    await page.set_viewport_size({"width": 760, "height": 740})
    await picture(page, "after-the-sale")
