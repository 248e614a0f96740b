"""Rooms, keys and notes in a real browser: without a script on a phone, and by keyboard."""

from __future__ import annotations

import secrets

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.stage import PHONE, Stage
from tests.browser.test_console import check, signed_in

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_room_from_beginning_to_end(stage: Stage, open_page: Open) -> None:
    """On a phone without a script a room is created, corrected, changed, copied and removed."""
    page = await signed_in(stage, open_page, viewport=PHONE, java_script_enabled=False)
    name = f"t-{secrets.token_hex(6)}"
    await page.get_by_role("link", name="New room").first.click()  # an empty server has it twice
    await page.get_by_role("link", name="Places").click()
    await expect(page.get_by_label("Capacity")).to_have_value("50")
    await page.get_by_label("Name", exact=True).fill(name)
    await page.get_by_label("Capacity").fill("0")
    await page.get_by_role("button", name="Create room").click()
    await expect(page.get_by_role("alert")).to_contain_text("1 field needs attention")
    await expect(page.locator("#f-capacity-wrong")).to_contain_text("0 is not allowed")
    await expect(page.get_by_label("Name", exact=True)).to_have_value(name)
    await page.get_by_label("Capacity").fill("3")
    await page.get_by_role("button", name="Create room").click()
    await expect(page).to_have_url(f"{stage.base}/admin/rooms/{name}")
    await stage.join(name, 5)

    await page.get_by_role("link", name="Settings").click()
    await page.get_by_label("Capacity").fill("4")
    await page.locator("summary", has_text="When it is over").click()
    await page.get_by_label("Text at the end").fill("Sold out.\nThank you!")
    await page.get_by_role("button", name="Review the changes").click()
    await expect(page.locator(".diff")).to_contain_text("Sold out.")
    await expect(page.locator(".diff div", has_text="Capacity").locator("s")).to_have_text("3")
    await page.get_by_role("button", name="Keep editing").click()
    await expect(page.get_by_label("Capacity")).to_have_value("4")
    await page.get_by_role("button", name="Review the changes").click()
    await page.get_by_role("button", name=f"Change {name}").click()
    await expect(page.get_by_text("Capacity: 3 → 4").first).to_be_visible()

    await page.goto(f"{stage.base}/admin/rooms/{name}/settings")
    await page.get_by_role("link", name="Copy this room").click()
    await expect(page.get_by_label("Name", exact=True)).to_have_value(f"{name}-copy")
    await page.get_by_role("button", name="Create room").click()
    await expect(page).to_have_url(f"{stage.base}/admin/rooms/{name}-copy")

    await page.goto(f"{stage.base}/admin/rooms/{name}/settings")
    await page.get_by_role("link", name="Remove this room").click()
    await expect(page.locator(".lead")).to_contain_text("In it now:")
    await page.get_by_label("Type the room's name").fill(f"{name}-copy")
    await page.get_by_role("button", name=f"Remove {name}").click()
    await expect(page.get_by_role("alert")).to_contain_text("The name does not match")
    await page.get_by_label("Type the room's name").fill(name)
    await page.get_by_role("button", name=f"Remove {name}").click()
    await expect(page).to_have_url(f"{stage.base}/admin")
    gone = await page.goto(f"{stage.base}/admin/rooms/{name}")
    assert gone is not None
    assert 404 == gone.status


async def test_keys_and_notes_by_keyboard(stage: Stage, open_page: Open) -> None:
    """A key is created, copied and revoked, and a note written, without a mouse."""
    room, name = await stage.room(), f"box office {secrets.token_hex(4)}"
    rights = ["clipboard-read", "clipboard-write"]
    page = await signed_in(stage, open_page, permissions=rights)
    await page.goto(f"{stage.base}/admin/keys")
    await page.get_by_label("Name", exact=True).focus()
    await page.keyboard.type(name)
    await page.keyboard.press("Tab")
    await page.keyboard.press("ArrowDown")  # from viewer to operator
    await page.keyboard.press("Enter")
    key = page.locator("#secret-text")
    await expect(key).to_contain_text("wr_")
    await page.get_by_role("button", name="Copy").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert await key.text_content() == await page.evaluate("navigator.clipboard.readText()")
    await check(page, "en-GB")

    await page.goto(f"{stage.base}/admin/keys")
    line = page.get_by_role("row", name=name)
    await expect(line).to_contain_text("operator")
    await line.get_by_role("link", name="Revoke").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator(".effect")).to_contain_text("This cannot be undone")
    await page.get_by_role("button", name=f"Revoke the key of {name}").focus()
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(f"{stage.base}/admin/keys")
    await expect(page.get_by_role("row", name=name)).to_have_count(0)

    await page.goto(f"{stage.base}/admin/rooms/{room}")
    await page.get_by_label("Note on the timeline").focus()
    await page.keyboard.type("The bank is slow")
    await page.keyboard.press("Enter")
    await expect(page.locator(".done")).to_contain_text("Note: The bank is slow")
    await expect(page.locator(".deeds")).to_contain_text("The bank is slow")


@pytest.mark.parametrize(("locale", "scheme"), [("ko-KR", "dark"), ("en-GB", "light")])
async def test_the_forms_can_be_read(
    stage: Stage, open_page: Open, locale: str, scheme: str
) -> None:
    """No form has a serious violation by axe-core, and each fits a phone, errors included."""
    room = await stage.room()
    page = await signed_in(stage, open_page, viewport=PHONE, locale=locale, color_scheme=scheme)
    at = f"{stage.base}/admin/rooms/{room}"
    for path in ("/admin/keys", "/admin/new-room?begin=per-minute"):
        await page.goto(f"{stage.base}{path}")
        await check(page, locale)
    for path in ("/settings", "/clear", "/drop"):
        await page.goto(at + path)
        await opened_groups(page)
        await check(page, locale)
    await page.goto(f"{at}/settings")
    await opened_groups(page)
    await page.fill("#f-capacity", "0")
    await page.fill("#f-colour", "red")
    await page.locator(".sticky .main").click()
    await expect(page.locator("#f-colour-wrong")).to_be_visible()
    await check(page, locale)


async def opened_groups(page: Page) -> None:
    """Open all groups of fields."""
    await page.evaluate(
        "for (const group of document.querySelectorAll('.group')) group.open = true"
    )
