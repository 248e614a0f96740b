"""A room's charts and the keyboard shortcuts of the operator page, in a real browser."""

from __future__ import annotations

import re
import time

import pytest
from playwright.async_api import Page, expect
from redis.asyncio import Redis

from tests.browser.conftest import Open
from tests.browser.stage import Stage
from tests.browser.test_console import SLOTS, signed_in
from tests.support.programs import need_assets
from tests.support.serving import Serving
from waitroom.engine.keys import room_key

pytestmark = pytest.mark.asyncio(loop_scope="session")
MINUTE_MS = 60_000
CHARTS = ("waiting", "places", "pace", "waits")


@pytest.fixture(autouse=True)
def built() -> None:
    """The charts are drawn by a script that must be built first."""
    need_assets()


async def past(served: Serving, room: str) -> None:
    """Give a room 50 minutes of samples, with a gap of 20 minutes in the middle."""
    now_ms = int(time.time() * 1000)
    async with Redis(unix_socket_path=str(served.data_dir / "valkey.sock")) as redis:
        pipe = redis.pipeline(transaction=True)
        pipe.delete(room_key(room, "series"))  # ids only grow, and the ticker may have started
        for step in range(600):
            at_ms = now_ms - 50 * MINUTE_MS + step * 5_000
            if 15 * MINUTE_MS < now_ms - at_ms < 35 * MINUTE_MS:
                continue
            counts = {"at": at_ms, "waiting": 1_000 + step, "called": 2, "inside": 5}
            more = {"called_total": step, "entered": step, "capacity": 3, "per_minute": 20}
            waits = {"waited_ms": 300_000, "told_s": 240}
            fields: dict[str, object] = {**counts, **more, **waits}
            pipe.xadd(room_key(room, "series"), fields, id=f"{at_ms}-0")  # type: ignore[arg-type]
        await pipe.execute()


async def drawn(page: Page) -> None:
    """Wait until the charts are there."""
    await page.wait_for_function("() => performance.getEntriesByName('console-ready').length > 0")
    await expect(page.locator("#plots canvas")).to_have_count(len(CHARTS))


def over(chart: str = "waiting") -> str:
    """Return where a chart takes the pointer."""
    return f"[data-chart={chart}] .u-over"


async def test_look_closer(served: Serving, stage: Stage, open_page: Open) -> None:
    """All charts show the moment under the pointer; a drag zooms, and Esc goes back."""
    room = await stage.room(**SLOTS)
    await past(served, room)
    page = await signed_in(stage, open_page)
    await page.goto(f"{stage.base}/admin/rooms/{room}")
    await drawn(page)
    await expect(page.locator("#drawn")).to_be_hidden()

    box = await page.locator(over()).bounding_box()
    assert box is not None
    await page.locator(over()).hover(position={"x": box["width"] * 0.85, "y": 60})
    captions = {
        "waiting": r"^Waiting1,\d{3}$",
        "places": r"Called2Inside5Limit3$",
        "pace": r"^Calls per minute12Limit20$",
        "waits": r"Actual wait5 minTold on arrival4 min$",
    }
    for chart, told in captions.items():
        caption = page.locator(f"[data-chart={chart}] figcaption")
        await expect(caption).to_have_text(re.compile(told))
    times = await page.locator("#plots .clock").all_text_contents()
    assert 1 == len(set(times)), times
    caption = page.locator("[data-chart=waiting] figcaption")
    # Just after the start of the gap nothing is known.
    await page.locator(over()).hover(position={"x": box["width"] * 0.425, "y": 60})
    await expect(caption).to_have_text("Waiting–")

    await page.mouse.down()
    await page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 60, steps=4)
    await page.mouse.up()
    await expect(page.get_by_role("button", name="Zoom out")).to_be_visible()
    await expect(page).to_have_url(re.compile(r"range=1h&since=\d+&until=\d+$"))
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="Zoom out")).to_be_hidden()
    await expect(page).to_have_url(re.compile(r"range=1h$"))

    await page.get_by_text("As a table").locator("visible=true").click()
    await expect(page.locator("#plotted-rows tr").nth(9)).to_contain_text(re.compile(r"1,\d{3}"))


async def test_flags(stage: Stage, open_page: Open) -> None:
    """Charts follow what happens; an action becomes a flag for pointer and keyboard."""
    room = await stage.room(**SLOTS)
    page = await signed_in(stage, open_page)
    await page.goto(f"{stage.base}/admin/rooms/{room}?range=5m")
    await drawn(page)
    await stage.join(room, 5)
    await expect(page.locator("[data-chart=places] figcaption")).to_contain_text("Called3")
    await stage.change(room, capacity=77)
    flag = page.locator("#plots .mark button").last
    await expect(flag).to_have_accessible_name(re.compile("77"))
    await expect(page.locator("#plots .tip").last).to_be_hidden()
    await flag.focus()
    await expect(page.locator("#plots .tip").last).to_be_visible()
    await expect(page.locator("#plots .tip").last).to_contain_text("77")
    await expect(page.locator("[data-chart=pace] .mark")).not_to_have_count(0)
    await expect(page.locator("[data-chart=pace] .mark button")).to_have_count(0)


async def test_keys(stage: Stage, open_page: Open) -> None:
    """Ranges, search, help and the overview have shortcuts, which are off while somebody types."""
    room = await stage.room(**SLOTS)
    page = await signed_in(stage, open_page)
    await page.goto(f"{stage.base}/admin/rooms/{room}")
    await drawn(page)
    pressed = page.locator("#ranges [aria-pressed=true]")
    await expect(pressed).to_have_text("1 h")
    for key, (name, text) in enumerate({"5m": "5 min", "15m": "15 min", "1h": "1 h"}.items(), 1):
        await page.keyboard.press(str(key))
        await expect(pressed).to_have_text(text)
        await expect(page).to_have_url(re.compile(f"range={name}$"))
    await page.keyboard.press("7")
    await page.reload()
    await drawn(page)
    await expect(pressed).to_have_text("30 days")

    await page.keyboard.press("/")
    search = page.locator("[role=search] input:not([type=hidden])").first
    await expect(search).to_be_focused()
    await page.keyboard.type("1?gr")
    await expect(search).to_have_value("1?gr")
    await expect(pressed).to_have_text("30 days")
    await search.blur()
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    await page.keyboard.press("2")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_be_hidden()
    await expect(pressed).to_have_text("30 days")
    await page.keyboard.press("g")
    await page.keyboard.press("r")
    await expect(page).to_have_url(f"{stage.base}/admin")
