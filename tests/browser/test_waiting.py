"""The waiting page in a real browser: from joining to being inside, for everybody."""

from __future__ import annotations

import asyncio
import re

import pytest
from playwright.async_api import Page, Route, expect

from tests.browser.conftest import Open
from tests.browser.stage import Stage, heading, picture, text
from waitroom.web.browser_mark import mark_of, new_secret

pytestmark = pytest.mark.asyncio(loop_scope="session")
HOSTILE = '<script>window.hacked=1</script>"><img src=x onerror=window.hacked=1>'


async def numbers(page: Page) -> None:
    """Record every number that the page shows from now on, also after a reload."""
    await page.add_init_script(
        """
        window.shown = JSON.parse(sessionStorage.getItem("shown") || "[]");
        setInterval(() => {
          const part = document.querySelector("[data-face=waiting]:not([hidden]) [data-x=ahead]");
          if (!part) return;
          shown.push(Number(part.textContent.replaceAll(",", "")));
          sessionStorage.setItem("shown", JSON.stringify(shown));
        }, 50);
        """
    )


async def test_a_visitor_waits_is_called_and_enters(stage: Stage, open_page: Open) -> None:
    """Joining is automatic, the number falls, the turn is announced, and the page goes in."""
    room = await stage.room(enter_within_s=300, ready="Have your card ready.", colour="#7a2ff0")
    await stage.join(room, 5)
    page = await open_page("about:blank")
    await numbers(page)
    await page.add_init_script("delete AbortSignal.timeout")  # as below: the checks may take long
    await page.goto(stage.page_of(room))
    await expect(page.locator("[data-x=ahead]")).to_have_text("5")
    assert "You are in line" == await heading(page)
    await stage.join(room, 12)
    await expect(page.locator("[data-x=behind]")).to_have_text("12 people behind you")
    await expect(page.locator("[data-x=place]")).to_have_text("of 18 waiting")
    await stage.admit(room, 3)
    await expect(page.locator("[data-x=ahead]")).to_have_text("2")
    await expect(page).to_have_title("2 ahead · Aurora Live")
    await page.wait_for_function("shown.includes(2)")
    await page.reload()
    looked = asyncio.Event()  # the page would go in by itself while we still check it

    async def enter(route: Route) -> None:
        await looked.wait()
        await route.continue_()

    await page.route("**/tickets/me/enter", enter)
    await stage.admit(room, 3)
    await expect(page).to_have_title("● It is your turn · Aurora Live")
    await expect(page.locator("[data-x=live]")).to_have_text("It is your turn")
    await expect(page.locator("[data-x=left]")).to_have_text(re.compile(r"^[34]:\d\d$"))
    icon = await page.get_attribute("link[rel=icon]", "href")
    assert "fill=%22%231f9d55%22" in (icon or "")
    await picture(page, "your-turn")
    looked.set()
    await expect(page.get_by_role("heading", name="You are inside")).to_be_visible()
    shown: list[int] = await page.evaluate("JSON.parse(sessionStorage.getItem('shown'))")
    assert sorted(shown, reverse=True) == shown
    assert {5, 2} <= set(shown)
    names = {cookie["name"] for cookie in await page.context.cookies()}
    assert {f"waitroom-ticket-{room}", f"waitroom-pass-{room}"} <= names


async def test_inside_leads_on(stage: Stage, open_page: Open) -> None:
    """Anybody who finds an empty room goes straight through to where the room leads."""
    room = await stage.room(mode="open", go_to="/healthz")
    page = await open_page(stage.page_of(room))
    await page.wait_for_url("**/healthz")
    await page.goto(stage.page_of(room))
    await expect(page.get_by_role("link", name="Continue")).to_have_attribute("href", "/healthz")


async def test_without_a_script(stage: Stage, open_page: Open) -> None:
    """Forms and reloads do everything; viewing alone takes no place, and leaving asks once."""
    room = await stage.room()
    await stage.join(room, 1)
    page = await open_page(stage.page_of(room), java_script_enabled=False)
    assert 1 == (await stage.stats(room))["waiting"]
    await page.get_by_role("button", name="Join the line").click()
    await expect(page.locator("[data-x=ahead]")).to_have_text("1")
    assert "10" == await page.get_attribute("noscript meta[http-equiv=refresh]", "content")
    await page.get_by_text("Leave the line", exact=True).click()
    await page.get_by_role("button", name="Yes, leave the line").click()
    await expect(page.get_by_role("heading", name="You have left the line")).to_be_visible()
    assert 1 == (await stage.stats(room))["waiting"]
    await page.get_by_role("button", name="Join the line again").click()
    await expect(page.locator("[data-x=ahead]")).to_have_text("1")
    await stage.admit(room, 2)
    await page.reload()
    await expect(page.get_by_role("heading", name="It is your turn")).to_be_visible()
    await page.get_by_role("button", name="Enter now").click()
    await expect(page.get_by_role("heading", name="You are inside")).to_be_visible()
    await page.get_by_text("I am done", exact=True).click()
    await page.get_by_role("button", name="Yes, I am done").click()
    await expect(page.get_by_role("heading", name="You are done")).to_be_visible()


async def test_without_a_script_on_to_another_site(stage: Stage, open_page: Open) -> None:
    """The page's own policy lets the entry form lead to where the room says, with a code."""
    room = await stage.room(mode="open", go_to=f"{stage.base.replace('127.0.0.1', 'localhost')}/x")
    start = f"{stage.page_of(room)}?browser={mark_of(new_secret())}"
    page = await open_page(start, java_script_enabled=False)
    await page.get_by_role("button", name="Join the line").click()
    await page.route("http://localhost:*/x?*", lambda route: route.fulfill(body="there"))
    await page.get_by_role("button", name="Enter now").click()
    await page.wait_for_url(re.compile(r"^http://localhost:\d+/x\?waitroom_code=[\w-]{20,}$"))


async def test_in_korean_on_a_phone(stage: Stage, open_page: Open) -> None:
    """A Korean phone gets Korean text, and everything that matters is above the fold."""
    policy = {"mode": "open", "capacity": 1, "session_s": 300, "max_defers": 1}
    room = await stage.room(title="오로라 콘서트", **policy)
    await stage.join(room, 4)
    page = await open_page(stage.page_of(room), locale="ko-KR", color_scheme="dark")
    await expect(page.locator("[data-x=ahead]")).to_have_text("3")
    assert "ko" == await page.get_attribute("html", "lang")
    await expect(page.locator("[data-x=place]")).to_have_text("전체 대기 인원 4명")
    await expect(page).to_have_title("내 앞 3명 · 오로라 콘서트")
    for part in ("ahead", "place", "bar", "wait", "link"):
        box = await page.locator(f"[data-x={part}]").bounding_box()
        assert box is not None
        assert 844 >= box["y"] + box["height"], f"{part} is below the fold"
    width = await page.evaluate("document.documentElement.scrollWidth")
    assert 390 == width
    await picture(page, "waiting-ko")
    await page.locator("footer summary").click()
    await page.get_by_role("link", name="English").click()
    await expect(page.get_by_text("People ahead of you")).to_be_visible()
    await page.goto(stage.page_of(room))
    assert "en" == await page.get_attribute("html", "lang"), "the choice is kept"


async def test_letting_others_go_first(stage: Stage, open_page: Open) -> None:
    """Going back is the only way for the number to rise; a second time is refused with a reason."""
    room = await stage.room(max_defers=1)
    page = await open_page(stage.page_of(room))
    await expect(page.locator("[data-x=ahead]")).to_have_text("0")
    await expect(page.locator("[data-x=place]")).to_have_text("You are next")
    await expect(page.get_by_text("Let others go first")).to_be_hidden()  # nobody is behind
    await stage.join(room, 3)
    for ahead, note in (("2", ""), ("2", "You have let others go first as often as")):
        await page.get_by_text("Let others go first").click()
        await page.get_by_role("spinbutton").fill("2")
        async with page.expect_navigation():
            await page.get_by_role("button", name="Let them go first").click()
        await expect(page.locator("[data-x=ahead]")).to_have_text(ahead)
        await expect(page.locator("[data-x=note]")).to_have_text(re.compile(f"^{note}"))


async def test_leaving_asks_once(stage: Stage, open_page: Open) -> None:
    """One click does not leave; the second does, and says that the place is gone."""
    room = await stage.room()
    page = await open_page(stage.page_of(room))
    await page.get_by_text("Leave the line", exact=True).click()
    assert 1 == (await stage.stats(room))["waiting"]
    await page.get_by_role("button", name="Yes, leave the line").click()
    await expect(page.get_by_role("heading", name="You have left the line")).to_be_visible()
    assert 0 == (await stage.stats(room))["waiting"]
    await page.reload()
    assert 0 == (await stage.stats(room))["waiting"], "a reload does not join again"


@pytest.mark.attack
async def test_a_hostile_title_runs_no_script(stage: Stage, open_page: Open) -> None:
    """Whatever an operator or their database puts into the texts is shown, not run."""
    room = await stage.room(title=HOSTILE, message=HOSTILE, ready=HOSTILE)
    page = await open_page(stage.page_of(room))
    await expect(page.locator("[data-x=ahead]")).to_have_text("0")
    assert HOSTILE == await page.text_content("h1")
    assert await page.evaluate("window.hacked === undefined")
    assert 0 == await page.locator("img[src]").count()  # the frame of an ended room is empty


async def test_the_number_never_rises(stage: Stage, open_page: Open) -> None:
    """People who get an earlier place back do not make the number rise, nor does a reload."""
    room = await stage.room()
    await stage.join(room, 4)
    page = await open_page(stage.page_of(room))
    await expect(page.locator("[data-x=ahead]")).to_have_text("4")
    asked: list[str] = []

    async def higher(route: Route) -> None:
        answer = await route.fetch()
        asked.append(route.request.url)
        body = await answer.json() | {"position": 900, "waiting": 1_000, "poll_after_ms": 100}
        await route.fulfill(response=answer, json=body)

    await page.route("**/tickets/me", higher)
    await page.route("**/tickets/me/events", lambda route: route.abort())
    await page.reload()
    await expect(page.locator("[data-x=behind]")).to_have_text("995 people behind you")
    assert asked
    assert "4" == await text(page, "ahead")
    await page.reload()
    await expect(page.locator("[data-x=ahead]")).to_have_text("4")


async def test_a_pause_is_explained_at_once(stage: Stage, open_page: Open) -> None:
    """A change by the operator reaches open pages without a reload."""
    room = await stage.room(mode="open", capacity=1)
    await stage.join(room, 3)
    page = await open_page(stage.page_of(room))
    await expect(page.locator("[data-x=ahead]")).to_have_text("2")
    await stage.change(room, mode="paused")
    note = page.locator("[data-x=note]")
    await expect(note).to_have_text(re.compile("has paused admission"))
    await stage.change(room, mode="open")
    await expect(note).to_be_hidden()
