"""Details of the waiting page: its texts fit the distance, the place and each other."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.faces import faces, put, room_view, ticket_view, waiting
from tests.browser.stage import Stage, heading, text
from waitroom.estimate.methods import Wait
from waitroom.models import Policy
from waitroom.server.waiting.view import PageView

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.sample(1)]
MORNING = datetime(2026, 12, 22, 1, 0, tzinfo=UTC)  # ten o'clock in Seoul
OPENINGS = (
    (timedelta(minutes=20), "Opening soon", "today at 10:20 AM", "오늘 오전 10:20 시작"),
    (timedelta(hours=8, minutes=3), "Not open yet", "today at 6:03 PM", "오늘 오후 6:03 시작"),
    (timedelta(hours=15), "Not open yet", "tomorrow at 1:00 AM", "내일 오전 1:00 시작"),
    (
        timedelta(days=2, hours=8),
        "Not open yet",
        "on December 24 at 6:00 PM",
        "12월 24일 오후 6:00 시작",
    ),
)


def before_opening(lang: str, left: timedelta) -> PageView:
    """Return the page of somebody who is early."""
    now_ms = int(MORNING.timestamp() * 1000)
    policy = Policy(title="Aurora Live", opens_at=MORNING + left, time_zone="Asia/Seoul")
    soon = replace(dict(faces(lang))["soon"], now_ms=now_ms, policy=policy, view=room_view(policy))
    return replace(soon, ticket=ticket_view("waiting", position=3))


async def fits(page: Page, part: str) -> None:
    """A part of the page is inside the card, and nothing is wider than the screen."""
    inner = await page.locator(f"[data-x={part}]").bounding_box()
    card = await page.locator("main").bounding_box()
    assert inner is not None
    assert card is not None
    assert card["x"] <= inner["x"]
    assert inner["x"] + inner["width"] <= card["x"] + card["width"]
    assert 390 >= await page.evaluate("document.documentElement.scrollWidth")


@pytest.mark.parametrize("lang", ["en", "ko"])
async def test_when_it_opens(stage: Stage, open_page: Open, lang: str) -> None:
    """Today, tomorrow or a date, in the reader's time zone; "soon" is within an hour."""
    page = await open_page("about:blank", locale=lang, timezone_id="Asia/Seoul")
    await page.clock.set_fixed_time(MORNING)
    for left, title, english, korean in OPENINGS:
        await put(page, stage, before_opening(lang, left))
        moment = english if lang == "en" else korean
        await expect(page.locator("[data-x=opens_at]")).to_have_text(moment)
        if lang == "en":
            assert title == await heading(page)
            await expect(page).to_have_title(f"{title} · Aurora Live")
        await fits(page, "opens")


@pytest.mark.parametrize("lang", ["en", "ko"])
async def test_without_a_script_nothing_pretends_to_tick(
    stage: Stage, open_page: Open, lang: str
) -> None:
    """Durations in words, which fit a phone, and the time in the room's zone."""
    page = await open_page("about:blank", java_script_enabled=False)
    words = {
        timedelta(days=2, hours=7, minutes=33): ("2 d 7 h", "2일 7시간", "2026-12-24 17:33"),
        timedelta(hours=2, minutes=14): ("2 h 14 min", "2시간 14분", "2026-12-22 12:14"),
        timedelta(seconds=50): ("50 s", "50초", "2026-12-22 10:00"),
    }
    for left, (english, korean, moment) in words.items():
        await put(page, stage, before_opening(lang, left))
        assert (english if lang == "en" else korean) == await text(page, "opens")
        assert moment in await text(page, "opens_at")
        await fits(page, "opens")


@pytest.mark.parametrize(
    ("position", "wait", "words", "clock"),
    [
        (37, Wait(480, 540, 660), "8–11 minutes", "around 10:09 AM"),
        (37, Wait(0, 3, 20), "less than a minute", None),
        (2, Wait(0, 3, 20), "any moment", None),
        (37, Wait(0, 300, 900), "up to 15 min", None),
        (37, Wait(300, 700, 1_800), "between 5 and 30 minutes", None),
        (37, Wait(240, 900, 2_400), "at least 4 minutes", None),
        (37, Wait(30, 900, 2_400), "working it out…", None),
        (37, Wait(3_700, 9_300, 15_000), "1 h – 4 h 10 min", None),
    ],
)
async def test_two_numbers_that_agree(
    stage: Stage, open_page: Open, position: int, wait: Wait, words: str, clock: str | None
) -> None:
    """How many are ahead, and how long; a time of day only if the range is narrow."""
    page = await open_page("about:blank", locale="en", timezone_id="Asia/Seoul")
    await page.clock.set_fixed_time(MORNING)
    view = waiting(dict(faces())["join"], position=position, eta=wait)
    await put(page, stage, replace(view, now_ms=int(MORNING.timestamp() * 1000)))
    assert f"{position - 1}" == await text(page, "ahead")
    assert words == await text(page, "wait")
    if clock is None:
        await expect(page.locator("[data-x=clock]")).to_be_hidden()
    else:
        await expect(page.locator("[data-x=clock]")).to_have_text(clock)


async def test_inside_without_an_address_leads_back(stage: Stage, open_page: Open) -> None:
    """If a room leads nowhere, the page offers the site that the visitor came from."""
    page = await open_page("about:blank")
    inside = replace(dict(faces())["inside"], policy=Policy(title="Aurora Live"))
    link = page.locator("[data-x=return]")
    await put(page, stage, inside)
    await expect(page.get_by_text("Go back to the site or app")).to_be_visible()
    await expect(link).to_be_hidden()
    await page.goto(stage.page_of("made-inside"), referer="https://shop.example/start")
    await expect(link).to_have_text("shop.example")
    await expect(link).to_have_attribute("href", "https://shop.example/start")
