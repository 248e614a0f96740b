"""The report of a rehearsal in a browser: it opens from a file, offline, and shows its plots."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.conftest import Open
from tests.browser.stage import picture
from waitroom.rehearsal import find, rehearse
from waitroom.rehearsal.report import render

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_report_opens_offline(open_page: Open, tmp_path: Path) -> None:
    """Verdicts and plots are there, nothing overflows a phone, and no script is needed."""
    file = tmp_path / "report.html"
    file.write_text(render(await rehearse(find("per-minute-burst"), people=300)), "utf-8")
    page = await open_page(file.as_uri(), offline=True, java_script_enabled=False)
    assert "every promise was kept" in await page.inner_text(".verdict")
    assert 5 <= await page.locator("svg").count()
    for plot in await page.locator("svg").all():
        box = await plot.bounding_box()
        assert box is not None
        assert box["width"] > 300
        assert box["height"] > 80
    wide = await open_page(file.as_uri(), viewport={"width": 390, "height": 844})
    assert 390 >= await wide.evaluate("document.documentElement.scrollWidth")
    await wide.set_viewport_size({"width": 760, "height": 900})
    await wide.evaluate("document.querySelector('figure').previousElementSibling.scrollIntoView()")
    await picture(wide, "rehearsal")
