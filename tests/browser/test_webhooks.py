"""The Webhooks page in a real browser: one is created, switched off and on, and removed."""

from __future__ import annotations

import secrets

import pytest
from playwright.async_api import expect

from tests.browser.conftest import Open
from tests.browser.stage import PHONE, Stage
from tests.browser.test_console import check, signed_in
from waitroom.server.pages.text import load_text

pytestmark = pytest.mark.asyncio(loop_scope="session")
DESKTOP = {"width": 1280, "height": 800}


@pytest.mark.parametrize(
    ("locale", "script", "phone", "scheme"),
    [
        ("ko-KR", True, True, "dark"),
        ("en-GB", True, False, "light"),
        ("en-GB", False, True, "dark"),
    ],
)
async def test_a_webhook_from_beginning_to_end(
    stage: Stage, open_page: Open, locale: str, script: bool, phone: bool, scheme: str
) -> None:
    """It works in both languages and without a script; every step is readable and fits."""
    t = load_text("operator", locale[:2])
    url = f"http://127.0.0.1:9/{secrets.token_hex(8)}"
    viewport = PHONE if phone else DESKTOP
    page = await signed_in(
        stage,
        open_page,
        viewport=viewport,
        locale=locale,
        color_scheme=scheme,
        java_script_enabled=script,
    )

    async def look() -> None:
        if script:  # axe-core is a script itself
            await check(page, locale)

    await page.get_by_role("link", name=t("nav_webhooks"), exact=True).click()
    await page.get_by_label(t("webhook_url"), exact=True).fill(url)
    await page.get_by_label(t("rooms"), exact=True).fill("none")
    await page.get_by_label("room.paused").check()
    await page.get_by_role("button", name=t("webhook_make")).click()
    await expect(page.locator("#secret-text")).to_contain_text("whsec_")
    await look()
    await page.get_by_role("link", name=t("webhooks"), exact=True).last.click()

    hook = page.get_by_role("region", name=url)
    await expect(hook).to_contain_text("room.paused")
    await hook.get_by_role("button", name=t("webhook_off")).click()
    await expect(hook).to_contain_text(t("webhook_is_off"))
    await look()
    await hook.get_by_role("button", name=t("webhook_on")).click()
    await expect(hook.get_by_role("button", name=t("webhook_off"))).to_be_visible()
    await expect(hook).not_to_contain_text(t("webhook_is_off"))

    await hook.get_by_role("link", name=t("webhook_delete")).click()
    await expect(page.locator(".effect")).to_contain_text(t("webhook_delete_effect"))
    await look()
    await page.get_by_role("button", name=t("webhook_delete")).click()
    await expect(page).to_have_url(f"{stage.base}/admin/webhooks")
    await expect(hook).to_have_count(0)
