"""The operator page refreshes while the operator uses it, and disturbs nothing."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.browser.conftest import Open
from tests.browser.stage import Stage
from tests.browser.test_console import SLOTS, signed_in
from tests.support.programs import need_assets

pytestmark = pytest.mark.asyncio(loop_scope="session")
TAPS = 12
COUNT_TAPS = """
window.taps = 0;
document.addEventListener("click", (event) => {
  event.preventDefault();
  if (event.target.closest("#message-now button, #n-waiting")) window.taps++;
});
"""


async def test_no_tap_is_lost(stage: Stage, open_page: Open) -> None:
    """A press during a refresh still clicks; node, focus and typed text stay too.

    Between each press and its release arrive other numbers, another message and a line about the
    last change, which moves everything below it.
    """
    need_assets()
    room = await stage.room(**SLOTS, message="Message 0")
    page = await signed_in(stage, open_page)
    await page.clock.install()
    await page.goto(f"{stage.base}/admin/rooms/{room}")
    box = page.locator("textarea[name=message]")
    await box.fill("half a sentence")
    await box.evaluate("box => box.setSelectionRange(2, 6)")
    await page.evaluate(COUNT_TAPS)
    parts = {name: page.locator(name) for name in ("#message-now button", "#n-waiting")}
    nodes = [await part.element_handle() for part in parts.values()]
    for tap in range(1, TAPS + 1):
        await parts["#message-now button" if tap % 2 else "#n-waiting"].hover()
        await page.mouse.down()
        await stage.change(room, message=f"Message {tap}")
        await stage.join(room, 1)
        async with page.expect_response(lambda answer: "live=1" in answer.url):
            await page.clock.run_for(2_000)
        await page.mouse.up()
        assert tap == await page.evaluate("window.taps")
        await expect(page.locator("#message-now .banner")).to_contain_text(f"Message {tap}")
    assert [True, True] == [await node.evaluate("node => node.isConnected") for node in nodes]
    await expect(box).to_have_value("half a sentence")
    assert [2, 6] == await box.evaluate("box => [box.selectionStart, box.selectionEnd]")
    await box.focus()
    await stage.change(room, message=None)
    await expect(page.locator("#message-now .banner")).to_have_count(0)
    await expect(box).to_be_focused()
