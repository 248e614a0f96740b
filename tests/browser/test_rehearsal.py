"""A rehearsal's report in a browser: it opens from a file, offline, and shows its plots."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.stage import picture
from waitroom.rehearsal import find, rehearse
from waitroom.rehearsal.report import render

pytestmark = pytest.mark.asyncio(loop_scope="session")


SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
# The labels of a plot that stick out of it or touch each other.
CLIPPED = """svg => {
  const frame = svg.getBoundingClientRect();
  const labels = [...svg.querySelectorAll('text')];
  const box = label => label.getBoundingClientRect();
  const out = a =>
    a.left < frame.left || a.right > frame.right || a.top < frame.top || a.bottom > frame.bottom;
  const touch = (a, b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  return labels.filter(label => out(box(label))
    || labels.some(other => other !== label && touch(box(label), box(other))))
    .map(label => label.textContent);
}"""
LOOK = """paths => paths.map(path => getComputedStyle(path))
  .map(css => [css.stroke, css.strokeDasharray])"""


async def test_the_report_opens_offline(open_page: Open, tmp_path: Path) -> None:
    """Verdicts and plots are readable at any width, and no script is needed."""
    file = tmp_path / "report.html"
    file.write_text(render(await rehearse(find("concert-onsale"), people=500)), "utf-8")
    page = await open_page(file.as_uri(), offline=True, java_script_enabled=False)
    await expect(page.locator(".verdict")).to_contain_text("every promise was kept")
    plots = page.locator("figure > svg")
    await expect(plots).to_have_count(5)
    for width in (320, 390, 760):
        await page.set_viewport_size({"width": width, "height": 1000})
        assert width >= await page.evaluate("document.documentElement.scrollWidth")
        for plot in await plots.all():
            box = await plot.bounding_box()
            assert box is not None
            assert box["width"] > 0.8 * width
            assert [] == await plot.evaluate(CLIPPED), width
    await _check_names(page)
    for scheme in SCHEMES:
        await page.emulate_media(color_scheme=scheme)
        await _check_limits(page)
    await page.emulate_media(color_scheme="light")
    await page.set_viewport_size({"width": 760, "height": 880})
    await page.evaluate("document.querySelector('figure').previousElementSibling.scrollIntoView()")
    await picture(page, "rehearsal")


async def _check_names(page: Page) -> None:
    """Check that a screen reader finds each plot by its heading, and nothing unnamed."""
    titles = await page.locator("h2:has(+ figure)").all_inner_texts()
    assert 5 == len(set(titles)) == await page.get_by_role("img").count()
    for title in titles:
        await expect(page.get_by_role("img", name=title, exact=True)).to_have_count(1)


async def _check_limits(page: Page) -> None:
    """Check that limits differ in colour and dashes, and that the legend shows them as drawn."""
    figure = page.locator("figure").nth(1)
    drawn = await figure.locator("> svg .limit").evaluate_all(LOOK)
    assert 2 == len({look[0] for look in drawn}) == len({look[1] for look in drawn})
    assert drawn == await figure.locator(".legend .limit").evaluate_all(LOOK)
