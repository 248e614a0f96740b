"""Every lever in a real browser: its preview, its effect on people in line, its undo, its log."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.conftest import Open
from tests.browser.stage import PHONE, WALL, Stage, heading, tab_to
from tests.browser.test_console import signed_in
from tests.browser.test_truth import STANDS

pytestmark = pytest.mark.asyncio(loop_scope="session")
CROWD = {"mode": "open", "capacity": 3, "session_s": 3600, "time_zone": "Asia/Seoul"}


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
        r"Nobody is called until you resume\. \d+ people waiting keep their place",
        "Mode: Open → Paused",
        {"mode": "paused"},
        button="Pause",
        also=["3 people already called may still enter, each within 600 s", "may still join"],
    ),
    "mode": Lever(
        "lever-modes",
        {"mode": "closed"},
        r"Nobody new may join and nobody is called\. \d+ people waiting keep their place",
        "Mode: Open → Closed",
        {"mode": "closed"},
    ),
    "message": Lever(
        "message",
        {"message": "Ten minutes late"},
        r"The pages of \d+ people waiting or called show it within two seconds",
        "Message: none → Ten minutes late",
        {"message": "Ten minutes late"},
        also=["whatever the language of their page"],
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
        {"max_entries": "1", "per_s": "600"},
        r"The last of \d+ waits .+ → .+; so does whoever joins now",
        "Maximum entries: no limit → 1",
        {"max_entries": 1, "per_s": 600.0},
    ),
    "queue": Lever(
        "lever-queue",
        {"queue_limit": "9"},
        r"\d+ waiting now, so \d+ more may join",
        "Maximum waiting: no limit → 9",
        {"queue_limit": 9},
    ),
    "events": Lever(
        "lever-events",
        {"opens_at": "2090-03-03T10:00", "ends_at": "2090-03-03T11:00"},
        r"It is over at 2090-03-03 11:00 \(Asia/Seoul\), in ",
        "End: none → 2090-03-03T02:00:00.000Z",
        {"opens_at": "2090-03-03T01:00:00.000Z", "ends_at": "2090-03-03T02:00:00.000Z"},
        also=["It is open now: nobody is called until then", "should have been called"],
    ),
    "texts": Lever(
        "lever-texts",
        {"title": "Aurora, second day"},
        r"The pages of \d+ people waiting or called show it within two seconds",
        "Title: Aurora Live → Aurora, second day",
        {"title": "Aurora, second day"},
    ),
    "end": Lever(
        "lever-end",
        {"ended_text": "Sold out"},
        r"It is over: .+ \d+ people waiting are told so within two seconds",
        "Mode: Open → Ended",
        {"mode": "ended", "ended_text": "Sold out"},
    ),
    "capacity": Lever(  # last: it calls people, which cannot be undone
        "lever-capacity",
        {"capacity": "5"},
        r"The last of \d+ waits .+ → .+; so does whoever joins now",
        "Capacity: 3 → 5",
        {"capacity": 5},
        also=["2 people are called at once", "rise from 3 to about 5 of 5", "Nobody has finished"],
    ),
}


class Pointer:
    """An operator who clicks."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def press(self, part: Locator) -> None:
        """Press a button or a link."""
        await part.click()

    async def give(self, given: Locator, value: str) -> None:
        """Fill in a field."""
        if await given.evaluate("given => given.tagName") == "SELECT":
            await given.select_option(value)
        else:
            await given.fill(value)


class Keys(Pointer):
    """An operator without a pointer: Tab, Enter and what is typed."""

    async def press(self, part: Locator) -> None:
        """Go to a button or a link, and press Enter."""
        await tab_to(self.page, part)
        await self.page.keyboard.press("Enter")

    async def give(self, given: Locator, value: str) -> None:
        """Go to a field, and type."""
        keyboard = self.page.keyboard
        await tab_to(self.page, given)
        if await given.get_attribute("type") == "datetime-local":
            # Day and month are the same, and it is morning: so it is right in every region.
            year, month, day, hour, minute = re.split(r"\D", value)
            await keyboard.type(f"{day}{month}{year}")
            await keyboard.press("ArrowRight")  # a year may have more digits
            await keyboard.type(f"{hour}{minute}a")
        else:
            await keyboard.press("Control+A")
            await keyboard.type(value)
        await expect(given).to_have_value(value)


async def form_of(hand: Pointer, place: str) -> Locator:
    """Return the form of a lever; open it if it is folded."""
    part = hand.page.locator(f"#{place}")
    if await part.evaluate("part => part.tagName") == "FORM":
        return part
    if await part.get_attribute("open") is None:
        await hand.press(part.locator("summary"))
    return part.locator("form")


async def preview(hand: Pointer, stage: Stage, room: str, lever: Lever) -> None:
    """Fill in a lever, and read what it will do."""
    await hand.page.goto(f"{stage.base}/admin/rooms/{room}")
    form = await form_of(hand, lever.place)
    for name, value in lever.fill.items():
        await hand.give(form.locator(f'[name="{name}"]'), value)
    await expect_to_fit(hand.page)
    await hand.press(form.get_by_role("button", name=lever.button, exact=True))
    effect = hand.page.locator(".effect")
    await expect(effect).to_contain_text(re.compile(lever.preview))
    for sentence in lever.also:
        await expect(effect).to_contain_text(sentence)
    await expect_to_fit(hand.page)


async def expect_to_fit(page: Page) -> None:
    """Expect that nobody has to scroll sideways."""
    assert 0 >= await page.evaluate("document.documentElement.scrollWidth - innerWidth")


async def pull(hand: Pointer, stage: Stage, room: str, lever: Lever) -> None:
    """Preview a lever and do it; the page says what was done, and the room has changed."""
    await preview(hand, stage, room, lever)
    await hand.press(hand.page.locator("form[method=post] button.main"))
    await expect(hand.page.locator("#last-change .done")).to_contain_text(lever.log)
    policy = await stage.policy(room)
    assert lever.changes == {name: policy[name] for name in lever.changes}


async def undo(hand: Pointer, stage: Stage, room: str, before: dict[str, Any]) -> None:
    """Undo the last action."""
    last = hand.page.locator("#last-change")
    await hand.press(last.get_by_role("button", name="Undo"))
    await expect(last.locator(".done")).to_contain_text("Undone")
    assert before == await stage.policy(room)


SEEN = {
    "pause": STANDS,
    "mode": "The line is closed to newcomers",
    "message": "Ten minutes late",
    "events": "Not open yet",
    "texts": "Aurora, second day",
    "end": "This line has ended",
}
"""What a page in line says while a lever is pulled, and only then."""


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("viewport", "kind"),
    [(PHONE, Keys), (PHONE, Pointer), (WALL, Pointer)],
    ids=["phone-keys", "phone", "wall"],
)
async def test_every_lever(
    stage: Stage, open_page: Open, viewport: dict[str, int], kind: type[Pointer]
) -> None:
    """Each is previewed, reaches the crowd, is undone, and is in the log with its undo."""
    room = await stage.room(**CROWD)
    people = await stage.join(room, 10)
    visitor = await open_page(stage.page_of(room))
    shown, ahead = visitor.locator("main"), visitor.locator("[data-x=ahead]")
    await expect(ahead).to_have_text("7")
    hand = kind(await signed_in(stage, open_page, viewport=viewport))
    before = await stage.policy(room)
    for name, lever in LEVERS.items():
        words = SEEN.get(name)
        if words:
            await expect(shown).not_to_contain_text(words, use_inner_text=True)
        await pull(hand, stage, room, lever)
        match name:
            case "pace":  # one of two free places is given; the other with the undo
                await stage.leave(room, *people[:2])
                await expect(ahead).to_have_text("6")
                assert 2 == (await stage.stats(room))["called"]
            case "limit":
                await expect(ahead).to_have_text("5")
                assert [True, False] == [await stage.enter(room, each) for each in people[2:4]]
            case "queue":
                await stage.join(room, 3)
                newcomer = await open_page(stage.page_of(room))
                await expect(newcomer.get_by_text("The line is full")).to_be_visible()
                await newcomer.close()
            case "capacity":
                await expect(ahead).to_have_text("3")
            case _:
                assert words, f"what {name} does to the crowd is not tried"
                await expect(shown).to_contain_text(words, use_inner_text=True)
        await undo(hand, stage, room, before)
    stats = await stage.stats(room)
    assert (4, 1, 7) == (stats["called"], stats["inside"], stats["waiting"])  # they stay called
    await expect(visitor.locator("h1")).to_have_text("Aurora Live")
    assert "" != await heading(visitor)

    await hand.page.goto(f"{stage.base}/admin/audit?room={room}")
    rows = hand.page.locator("tbody tr")
    await expect(rows).to_have_count(2 * len(LEVERS) + 1)
    for number, lever in enumerate(reversed(LEVERS.values())):
        await expect(rows.nth(2 * number)).to_contain_text("Undone")
        await expect(rows.nth(2 * number + 1)).to_contain_text(lever.log)
    await hand.press(hand.page.get_by_role("button", name="Undo"))  # an undo can be undone
    await expect(hand.page.locator("#last-change")).to_contain_text("Capacity: 3 → 5")


async def test_what_cannot_be_undone(stage: Stage, open_page: Open) -> None:
    """Calling people says who and beyond which limits; then, what to do instead of an undo."""
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
    await expect(page.locator(".done")).to_contain_text("Called 2 of 2 requested")
    await expect(page.locator(".done")).to_contain_text("This cannot be undone: those called keep")
    await expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    await expect(page.locator("#n-called")).to_have_text("5")
    assert 5 == (await stage.stats(room))["waiting"]


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", LEVERS)
async def test_without_a_script(stage: Stage, open_page: Open, name: str) -> None:
    """Each lever and its undo work without JavaScript."""
    room = await stage.room(**CROWD)
    await stage.join(room, 10)
    before = await stage.policy(room)
    hand = Pointer(await signed_in(stage, open_page, java_script_enabled=False))
    await pull(hand, stage, room, LEVERS[name])
    await undo(hand, stage, room, before)
