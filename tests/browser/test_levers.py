"""Every lever in a real browser: its preview, its effect on people in line, its undo, its log."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.conftest import Open
from tests.browser.stage import PHONE, Stage, heading
from tests.browser.test_console import signed_in

pytestmark = pytest.mark.asyncio(loop_scope="session")
CROWD = {"mode": "open", "capacity": 3, "session_s": 300, "time_zone": "Asia/Seoul"}


@dataclass(frozen=True)
class Lever:
    """A lever: where it is, what is filled in, what the preview and the log say, what changes."""

    place: str
    fill: dict[str, str]
    preview: str
    log: str
    changes: dict[str, Any]
    button: str = "Preview"
    also: list[str] = field(default_factory=list)


LEVERS = {
    "pause": Lever(
        "lever-mode",
        {},
        r"Nobody is called until you resume\. \d+ people who wait keep their place",
        "Mode: Open → Paused",
        {"mode": "paused"},
        button="Pause",
        also=["3 people who are called may still enter, each within 600 s", "may still join"],
    ),
    "mode": Lever(
        "lever-modes",
        {"mode": "closed"},
        r"Nobody new may join and nobody is called\. \d+ people who wait keep their place",
        "Mode: Open → Closed",
        {"mode": "closed"},
    ),
    "message": Lever(
        "message",
        {"message": "Ten minutes late"},
        r"The pages of \d+ people who wait or are called show it within two seconds",
        "Message: none → Ten minutes late",
        {"message": "Ten minutes late"},
        also=["whatever language their page has"],
    ),
    "pace": Lever(
        "lever-pace",
        {"batch": "1", "every_s": "600"},
        r"The last of \d+ waits .+ → .+; so does whoever joins now",
        "People per step: no limit → 1",
        {"batch": 1, "every_s": 600.0},
    ),
    "limit": Lever(
        "lever-limit",
        {"max_entries": "100", "per_s": "60"},
        r"The last of \d+ still waits about .+: the capacity is what limits it",
        "Most entries: no limit → 100",
        {"max_entries": 100, "per_s": 60.0},
    ),
    "queue": Lever(
        "lever-queue",
        {"queue_limit": "50"},
        r"\d+ wait now, so \d+ more may join",
        "Most waiting: no limit → 50",
        {"queue_limit": 50},
    ),
    "events": Lever(
        "lever-events",
        {"ends_at": "2090-03-01T23:00"},
        r"It is over at 2090-03-01 23:00 \(Asia/Seoul\), in ",
        "End: none → 2090-03-01T14:00:00.000Z",
        {"ends_at": "2090-03-01T14:00:00.000Z"},
        also=["should have been called"],
    ),
    "texts": Lever(
        "lever-texts",
        {"title": "Aurora, second day"},
        r"The pages of \d+ people who wait or are called show it within two seconds",
        "Title: Aurora Live → Aurora, second day",
        {"title": "Aurora, second day"},
    ),
    "end": Lever(
        "lever-end",
        {"ended_text": "Sold out"},
        r"It is over: .+ \d+ people who wait are told so within two seconds",
        "Mode: Open → Ended",
        {"mode": "ended", "ended_text": "Sold out"},
    ),
    "capacity": Lever(  # last: it calls people, which no undo takes back
        "lever-capacity",
        {"capacity": "5"},
        r"The last of \d+ waits .+ → .+; so does whoever joins now",
        "Capacity: 3 → 5",
        {"capacity": 5},
        also=["2 people are called at once", "rise from 3 to about 5 of 5", "Nobody has finished"],
    ),
}


async def form_of(page: Page, place: str) -> Locator:
    """Return the form of a lever; one that is folded away is opened."""
    part = page.locator(f"#{place}")
    if await part.evaluate("part => part.tagName") == "FORM":
        return part
    if await part.get_attribute("open") is None:
        await part.locator("summary").click()
    return part.locator("form")


async def preview(page: Page, stage: Stage, room: str, lever: Lever) -> None:
    """Fill in a lever, and read what it will do."""
    await page.goto(f"{stage.base}/admin/rooms/{room}")
    form = await form_of(page, lever.place)
    for name, value in lever.fill.items():
        given = form.locator(f'[name="{name}"]')
        if await given.evaluate("given => given.tagName") == "SELECT":
            await given.select_option(value)
        else:
            await given.fill(value)
    await form.get_by_role("button", name=lever.button, exact=True).click()
    effect = page.locator(".effect")
    await expect(effect).to_contain_text(re.compile(lever.preview))
    for sentence in lever.also:
        await expect(effect).to_contain_text(sentence)


async def pull(page: Page, stage: Stage, room: str, lever: Lever) -> None:
    """Preview a lever and do it; the page says what was done, and the room has changed."""
    await preview(page, stage, room, lever)
    await page.locator("form[method=post] button.main").click()
    await expect(page.locator("#last-change .done")).to_contain_text(lever.log)
    policy = await stage.policy(room)
    assert lever.changes == {name: policy[name] for name in lever.changes}


async def undo(page: Page, stage: Stage, room: str, before: dict[str, Any]) -> None:
    """Take back what was done last."""
    await page.locator("#last-change").get_by_role("button", name="Undo").click()
    await expect(page.locator("#last-change .done")).to_contain_text("Undone")
    assert before == await stage.policy(room)


async def test_every_lever(stage: Stage, open_page: Open) -> None:
    """Each is previewed, reaches those who wait, is undone, and stands in the log with its undo."""
    room = await stage.room(**CROWD)
    await stage.join(room, 10)
    visitor = await open_page(stage.page_of(room))
    await expect(visitor.locator("[data-x=ahead]")).to_have_text("7")
    page = await signed_in(stage, open_page)
    before = await stage.policy(room)
    seen = {
        "pause": lambda: expect(visitor.locator("[data-x=clock]")).to_be_hidden(),
        "message": lambda: expect(visitor.locator("[data-x=message]")).to_have_text(
            "Ten minutes late"
        ),
        "texts": lambda: expect(visitor.locator("h1")).to_have_text("Aurora, second day"),
        "end": lambda: expect(
            visitor.get_by_role("heading", name="This line has ended")
        ).to_be_visible(),
        "capacity": lambda: expect(visitor.locator("[data-x=ahead]")).to_have_text("5"),
    }
    for name, lever in LEVERS.items():
        await pull(page, stage, room, lever)
        if name in seen:
            await seen[name]()
        await undo(page, stage, room, before)
    stats = await stage.stats(room)
    assert (5, 6) == (stats["called"], stats["waiting"])  # called they stay
    await expect(visitor.locator("h1")).to_have_text("Aurora Live")
    assert "" != await heading(visitor)

    await page.goto(f"{stage.base}/admin/audit?room={room}")
    rows = page.locator("tbody tr")
    await expect(rows).to_have_count(2 * len(LEVERS) + 1)
    for number, lever in enumerate(reversed(LEVERS.values())):
        await expect(rows.nth(2 * number)).to_contain_text("Undone")
        await expect(rows.nth(2 * number + 1)).to_contain_text(lever.log)
    await page.get_by_role("button", name="Undo").click()  # from the log: an undo can be undone
    await expect(page.locator("#last-change")).to_contain_text("Capacity: 3 → 5")


async def test_what_cannot_be_undone(stage: Stage, open_page: Open) -> None:
    """Calling people says who and above which limits; afterwards, what to do instead of an undo."""
    room = await stage.room(**CROWD)
    await stage.join(room, 10)
    page = await signed_in(stage, open_page)
    await page.goto(f"{stage.base}/admin/rooms/{room}")
    await page.fill("input[name=count]", "2")
    await page.check("input[name=force]")
    await page.locator("#lever-admit button").click()
    effect = page.locator(".effect")
    await expect(effect).to_contain_text("The first 2 of 7 in line are called at once")
    await expect(effect).to_contain_text("2 people are then called or inside above the capacity")
    await page.get_by_role("button", name=f"Call them in {room}").click()
    await expect(page.locator(".done")).to_contain_text("Called 2 of 2 asked for")
    await expect(page.locator(".done")).to_contain_text("This cannot be undone: those called keep")
    await expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    await expect(page.locator("#n-called")).to_have_text("5")
    assert 5 == (await stage.stats(room))["waiting"]


async def test_with_the_keyboard_on_a_phone(stage: Stage, open_page: Open) -> None:
    """Capacity is changed and taken back without a pointer, on a small screen."""
    room = await stage.room(**CROWD)
    await stage.join(room, 10)
    page = await signed_in(stage, open_page, viewport=PHONE)
    await page.goto(f"{stage.base}/admin/rooms/{room}")
    await page.locator("input[name=capacity]").focus()
    await page.keyboard.press("Control+A")
    await page.keyboard.type("4")
    await page.keyboard.press("Enter")
    await expect(page.locator(".effect")).to_contain_text("One person is called at once.")
    width = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert width <= 0
    await page.locator("form[method=post] button.main").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("#last-change .done")).to_contain_text("Capacity: 3 → 4")
    await page.locator("#last-change button").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("#last-change .done")).to_contain_text("Capacity: 4 → 3")
    await page.locator("#lever-end summary").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("#lever-end form")).to_be_visible()
    width = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert width <= 0


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", LEVERS)
async def test_without_a_script(stage: Stage, open_page: Open, name: str) -> None:
    """Each lever and its undo work without JavaScript."""
    room = await stage.room(**CROWD)
    await stage.join(room, 10)
    before = await stage.policy(room)
    page = await signed_in(stage, open_page, java_script_enabled=False)
    await pull(page, stage, room, LEVERS[name])
    await undo(page, stage, room, before)
