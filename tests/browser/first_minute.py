"""The animated picture in the README: the first minute of a visitor who waits, in a real room.

`make pictures` runs it. People without a browser stand in front, the room admits one every second,
and each change on the page becomes a frame. Nothing is drawn by hand.
"""

from __future__ import annotations

import asyncio
import io
import tempfile
from pathlib import Path

from PIL import Image
from playwright.async_api import Page, ViewportSize, async_playwright, expect

from tests.browser.stage import FLAGS, IMAGES, Stage
from tests.browser.test_branding import EVENT
from tests.support.programs import needed
from tests.support.serving import serving

FILE = IMAGES / "first-minute.webp"
LARGEST = 1_000_000
SIZE = ViewportSize(width=390, height=760)
AHEAD = 24
FRAME_MS, LOOK_MS = 450, 2_500  # for a falling number; for something to read


async def film(stage: Stage, page: Page) -> list[tuple[bytes, int]]:
    """Wait in a room from the end of the line to the inside; return frames and their times."""
    room = await stage.room(mode="paused", eta="batch", batch=1, every_s=1, **EVENT)
    await stage.join(room, AHEAD)
    await page.goto(stage.page_of(room))
    ahead = page.locator("[data-x=ahead]")
    await expect(ahead).to_have_text(str(AHEAD))
    await stage.change(room, mode="open")
    await expect(page.locator("[data-x=wait]")).to_have_text("less than a minute")
    frames = [(await page.screenshot(), LOOK_MS)]
    number = await ahead.inner_text()
    while await ahead.is_visible():
        if (now := await ahead.inner_text()) != number:
            number = now
            frames.append((await page.screenshot(), FRAME_MS))
    await expect(page.locator("[data-face=called]")).to_be_visible()
    frames.append((await page.screenshot(), LOOK_MS))
    await expect(page.get_by_role("heading", name="You are inside")).to_be_visible()
    return [*frames, (await page.screenshot(), LOOK_MS)]


def write(frames: list[tuple[bytes, int]], file: Path) -> None:
    """Write the frames as one animation."""
    first, *others = [Image.open(io.BytesIO(frame)).convert("RGB") for frame, _ in frames]
    lasting = [shown_ms for _, shown_ms in frames]
    first.save(
        file, save_all=True, append_images=others, duration=lasting, loop=0, quality=82, method=6
    )
    assert LARGEST >= file.stat().st_size, f"{file} is too large for the README"


async def main() -> None:
    """Run a server and a browser, and record what is seen."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as served:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=needed("chromium"), args=FLAGS
            )
            page = await browser.new_page(viewport=SIZE, locale="en-GB", reduced_motion="reduce")
            stage = Stage(served.base)
            frames = await film(stage, page)
            await stage.aclose()
            await browser.close()
    write(frames, FILE)


if __name__ == "__main__":
    asyncio.run(main())
