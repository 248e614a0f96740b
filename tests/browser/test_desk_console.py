"""A store's console in a real browser: one tap each, two hosts at once, a flaky network, keys."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, ViewportSize, expect

from tests.browser.conftest import Open
from tests.browser.desk_stage import TABLET, UPRIGHT, Diner, open_diner, serious, sign_in, too_wide
from tests.browser.stage import PHONE, picture
from tests.support.serving import Serving

pytestmark = pytest.mark.asyncio(loop_scope="session")
THUMB_PX = 44


@pytest_asyncio.fixture(loop_scope="session")
async def diner(desk_served: Serving) -> AsyncIterator[Diner]:
    """Return a store for this test only."""
    made = await open_diner(desk_served.base)
    yield made
    await made.http.aclose()


async def console(diner: Diner, open_page: Open, **context: object) -> Page:
    """Return the console of a signed-in host."""
    page = await open_page("about:blank", **{"viewport": TABLET} | context)
    await sign_in(page, diner)
    return page


def card(page: Page, name: str) -> Locator:
    """Return the card of a party."""
    return page.locator("[data-party]:visible", has_text=name)


def at_rest(page: Page, name: str) -> Locator:
    """Return it once nothing is under way: while it moves to another list there may be two."""
    return page.locator("[data-party]:visible:not(.busy)", has_text=name)


async def tap(page: Page, name: str, button: str) -> None:
    """Tap one of the buttons of a party."""
    await card(page, name).get_by_role("button", name=f"{button}:").click()


async def test_an_evening(diner: Diner, open_page: Open) -> None:
    """Call, seat, no-show, cancel, undo and restore are one tap each, and the list follows."""
    for name in ("Kim", "Lee", "Park", "Choi"):
        await diner.join(name)
    page = await console(diner, open_page)
    await page.get_by_role("button", name="Call next", exact=False).first.click()
    await expect(at_rest(page, "Kim")).to_contain_text("Called")
    await expect(page.locator("#said")).to_contain_text("1 Kim called")
    await tap(page, "Kim", "Seat")
    await expect(page.locator("#ended")).to_contain_text("Kim")
    await page.locator("#said").get_by_role("button", name="Undo").click()
    await expect(at_rest(page, "Kim")).to_contain_text("Called")
    await tap(page, "Kim", "Undo")
    await expect(at_rest(page, "Kim")).to_contain_text("Waiting")
    await tap(page, "Lee", "No-show")
    await expect(at_rest(page, "Lee")).to_contain_text("No-show")
    await tap(page, "Lee", "Restore")
    await expect(at_rest(page, "Lee")).to_contain_text("Waiting")
    await tap(page, "Park", "Cancel")
    await expect(at_rest(page, "Park")).to_contain_text("Cancelled")
    assert ["Kim", "Lee", "Choi"] == list(await diner.statuses())
    await card(page, "Kim").get_by_text("Defer").click()
    await card(page, "Kim").get_by_role("button", name="1", exact=True).click()
    await expect(page.locator("#list [data-party]").first).to_contain_text("Lee")
    assert ["Lee", "Kim", "Choi"] == list(await diner.statuses())


async def test_a_table_that_fits(diner: Diner, open_page: Open) -> None:
    """The next party that fits is called, past a larger one, and nobody if none fits."""
    await diner.join("Kim", size=6)
    await diner.join("Lee", size=4)
    await diner.join("Park", size=2)
    page = await console(diner, open_page)
    await page.get_by_role("button", name="Call next that fits: 4").click()
    await expect(card(page, "Lee")).to_contain_text("Called")
    await page.get_by_role("button", name="Call next that fits: 1").click()
    await expect(page.locator("#alert")).to_contain_text("Nobody waiting fits.")
    assert {"Kim": "WAITING", "Lee": "CALLED", "Park": "WAITING"} == await diner.statuses()


async def test_walk_ins_and_the_store(diner: Diner, open_page: Open) -> None:
    """A host adds a party, pauses the store with a reason, and can still add one."""
    page = await console(diner, open_page)
    guest = await open_page(diner.page)
    await page.locator("summary", has_text="Store").click()
    await page.get_by_label("Reason").fill("Kitchen is full")
    await page.get_by_role("button", name="Pause").click()
    await expect(page.locator("#state")).to_contain_text("Paused")
    await expect(page.locator("#state")).to_contain_text("Kitchen is full")
    await guest.reload()
    await expect(guest.locator(".note")).to_contain_text("Kitchen is full")
    await page.locator("summary", has_text="Add a walk-in").click()
    form = page.locator("form[action$='/host/add']")
    await form.get_by_role("button", name="One more").click()
    await form.get_by_label("Name").fill("<b>Kim</b>")
    await form.get_by_role("button", name="Add").click()
    await expect(card(page, "<b>Kim</b>")).to_contain_text("3 people")
    await expect(form.get_by_label("Name")).to_have_value("")
    await form.get_by_label("Mobile number").fill("12")
    await form.get_by_role("button", name="Add").click()
    await expect(page.locator("#alert")).to_contain_text("does not look like a mobile number")
    await page.get_by_role("button", name="Open").click()
    await expect(page.locator("#state")).to_have_text("Open")
    assert 1 == len(await diner.parties())


async def test_a_phone_number(diner: Diner, open_page: Open) -> None:
    """It is masked until a host wants to call it, and the record says who looked."""
    await diner.join("Kim", phone="010-0000-1234")
    page = await console(diner, open_page)
    link = card(page, "Kim").locator("a.phone")
    await expect(link).to_contain_text("****")
    await link.click()
    await expect(link).to_have_attribute("href", "tel:+821000001234")
    await tap(page, "Kim", "Call")
    await expect(page.locator("#said")).to_contain_text("1 Kim called")


async def test_lines_are_tabs(diner: Diner, open_page: Open) -> None:
    """Each line has its own list and its own next party."""
    await diner.join("Kim")
    await diner.join("Lee", type="takeout")
    page = await console(diner, open_page)
    await expect(card(page, "Kim")).to_be_visible()
    await expect(card(page, "Lee")).to_have_count(0)
    await page.locator("[data-tab=takeout]").click()
    await expect(card(page, "Lee")).to_be_visible()
    await page.locator(".call:visible .next").click()
    await expect(card(page, "Lee")).to_contain_text("Called")
    await page.reload()
    await expect(card(page, "Lee")).to_be_visible()
    assert {"Kim": "WAITING", "Lee": "CALLED"} == await diner.statuses()


async def test_two_consoles(diner: Diner, open_page: Open) -> None:
    """The other host sees an action without a reload, and nobody is called twice."""
    for name in ("Kim", "Lee"):
        await diner.join(name)
    first, other = (
        await console(diner, open_page),
        await console(diner, open_page, viewport=UPRIGHT),
    )
    await tap(first, "Kim", "Call")
    await expect(card(other, "Kim")).to_contain_text("Called")
    await expect(card(other, "Kim").get_by_role("button", name="Call:")).to_have_count(0)
    # Now the other one sees an old list, because no news reaches it.
    await other.route("**/host?live=1", lambda route: route.abort())
    await tap(first, "Lee", "Call")
    await expect(card(first, "Lee")).to_contain_text("Called")
    await other.locator(".call:visible .next").click()
    await expect(other.locator("#alert")).to_contain_text("nobody else is waiting")
    await tap(other, "Lee", "Call")
    await expect(other.locator("#alert")).to_contain_text("2 Lee is now: Called (by front tablet")
    await other.unroute_all()
    lee = next(party for party in await diner.parties() if party["name"] == "Lee")
    history = await diner.http.get(f"/v1/stores/{diner.id}/line/{lee['id']}/history")
    assert ["join", "call"] == [change["action"] for change in history.json()["changes"]]


async def test_a_flaky_network(diner: Diner, open_page: Open) -> None:
    """Anything unsaved says so, survives a reload, and is saved once the network is back."""
    for name in ("Kim", "Lee"):
        await diner.join(name)
    page = await console(diner, open_page)
    await page.context.set_offline(True)
    await tap(page, "Kim", "Call")
    await expect(card(page, "Kim")).to_contain_text("Not saved yet: Call")
    await expect(page.locator("#unsaved")).to_contain_text("Not saved yet: 1")
    await tap(page, "Lee", "Seat")
    await expect(page.locator("#unsaved")).to_contain_text("Not saved yet: 2")
    assert {"Kim": "WAITING", "Lee": "WAITING"} == await diner.statuses()
    await page.context.set_offline(False)
    await expect(page.locator("#unsaved")).to_be_hidden()
    await expect(card(page, "Kim")).to_contain_text("Called")
    await expect(page.locator("#ended")).to_contain_text("Lee")
    assert {"Kim": "CALLED"} == await diner.statuses()


async def test_an_answer_that_got_lost(diner: Diner, open_page: Open) -> None:
    """An action that was saved though its answer was lost is sent again, and done once."""
    await diner.join("Kim")
    page = await console(diner, open_page)
    keys: list[str | None] = []

    async def lose(route: object) -> None:
        assert hasattr(route, "request")
        keys.append(await route.request.header_value("idempotency-key"))
        if len(keys) == 1:
            await route.fetch()  # type: ignore[attr-defined]
            await route.abort()  # type: ignore[attr-defined]
        else:
            await route.continue_()  # type: ignore[attr-defined]

    await page.route("**/host/act", lose)
    await tap(page, "Kim", "Call")
    await expect(page.locator("#said")).to_contain_text("1 Kim called")
    await expect(page.locator("#alert")).to_be_hidden()
    assert 2 == len(keys)
    assert 1 == len(set(keys))
    (party,) = await diner.parties()
    assert "CALLED" == party["status"]


async def test_what_is_not_saved_outlives_a_reload(diner: Diner, open_page: Open) -> None:
    """A tablet that is reloaded meanwhile sends it then."""
    await diner.join("Kim")
    page = await console(diner, open_page)
    page.on("dialog", lambda dialog: dialog.accept())
    await page.route("**/host/act", lambda route: route.abort())
    await tap(page, "Kim", "Call")
    await expect(page.locator("#unsaved")).to_be_visible()
    await page.unroute_all()
    await page.reload()
    await expect(card(page, "Kim")).to_contain_text("Called")


async def press(page: Page, key: str) -> None:
    """Press a key once nothing is under way: a party that is being saved takes no second action."""
    await expect(page.locator(".busy")).to_have_count(0)
    await page.keyboard.press(key)


async def test_keys(diner: Diner, open_page: Open) -> None:
    """n calls next, arrows move, c, s, x and u act on the party in focus, ? explains."""
    for name in ("Kim", "Lee", "Park"):
        await diner.join(name)
    page = await console(diner, open_page)
    await press(page, "?")
    await expect(page.get_by_role("dialog")).to_be_visible()
    await press(page, "Escape")
    await expect(page.get_by_role("dialog")).to_be_hidden()
    await press(page, "n")
    await expect(card(page, "Kim")).to_contain_text("Called")
    await press(page, "ArrowDown")
    await expect(card(page, "Kim")).to_be_focused()
    await press(page, "s")
    await expect(page.locator("#ended")).to_contain_text("Kim")
    await expect(card(page, "Lee")).to_be_focused()
    await press(page, "ArrowDown")
    await expect(card(page, "Park")).to_be_focused()
    await press(page, "ArrowUp")
    await press(page, "c")
    await expect(card(page, "Lee")).to_contain_text("Called")
    await expect(card(page, "Lee")).to_be_focused()
    await press(page, "u")
    await expect(card(page, "Lee")).to_contain_text("Waiting")
    await press(page, "x")
    await expect(page.locator("#ended")).to_contain_text("Lee")
    assert {"Park": "WAITING"} == await diner.statuses()
    await press(page, "?")
    await page.get_by_label("Use these keys").uncheck()
    await press(page, "Escape")
    await expect(page.get_by_role("dialog")).to_be_hidden()
    await press(page, "n")
    assert {"Park": "WAITING"} == await diner.statuses()


async def test_without_a_script(diner: Diner, open_page: Open) -> None:
    """Every button is a form."""
    for name in ("Kim", "Lee"):
        await diner.join(name)
    page = await console(diner, open_page, java_script_enabled=False)
    await page.locator(".call:visible .next").click()
    await expect(page.locator("#said")).to_contain_text("1 Kim called")
    await page.locator("#said").get_by_role("button", name="Undo").click()
    await expect(card(page, "Kim")).to_contain_text("Waiting")
    await diner.do("cancel", "Kim")
    await tap(page, "Kim", "Seat")
    await expect(page.locator("#alert")).to_contain_text("1 Kim is now: Cancelled")
    assert {"Lee": "WAITING"} == await diner.statuses()


async def test_in_korean(diner: Diner, open_page: Open) -> None:
    """A Korean tablet reads Korean."""
    await diner.join("김")
    page = await console(diner, open_page, locale="ko-KR")
    await tap(page, "김", "호출")
    await expect(card(page, "김")).to_contain_text("호출함")
    await expect(page.locator("#said")).to_contain_text("1번 김 호출했습니다")
    for word in ("착석", "노쇼", "되돌리기", "취소", "미루기"):
        await expect(card(page, "김")).to_contain_text(word)


@pytest.mark.sample(1)
@pytest.mark.parametrize("viewport", [TABLET, UPRIGHT, PHONE], ids=["wide", "upright", "phone"])
async def test_everyone_can_use_it(diner: Diner, open_page: Open, viewport: ViewportSize) -> None:
    """axe-core finds nothing serious, nothing is too wide, and every target is big enough."""
    await diner.join("Kim", note="A high chair, please", phone="010-0000-0000")
    for name in ("Lee", "Park", "A name of very many words, at most forty"):
        await diner.join(name)
    await diner.do("call", "Kim")
    await diner.do("cancel", "Park")
    page = await open_page(f"{diner.page}/host/sign-in", viewport=viewport, has_touch=True)
    assert [] == await serious(page)
    await sign_in(page, diner)
    for summary in await page.locator(".card > summary:visible").all():
        if await summary.evaluate("one => !one.parentNode.open"):
            await summary.click()
    await card(page, "Lee").get_by_text("Defer").click()
    assert [] == await serious(page)
    assert not await too_wide(page)
    small = []
    for target in await page.locator(
        "main button, main summary, aside button, .calls button"
    ).all():
        box = await target.bounding_box()
        if box and box["width"] and min(box["width"], box["height"]) < THUMB_PX:  # 0 = folded away
            small.append((await target.inner_text(), box))
    assert [] == small


async def test_the_picture_of_the_docs(diner: Diner, desk_served: Serving, open_page: Open) -> None:
    """An evening with people who have waited for a while, as the docs show it."""
    people = [("Kim", 4, "Window seat"), ("Lee", 2, None), ("Park", 3, "High chair, please")]
    people += [("Choi", 2, None), ("Jung", 6, "A birthday"), ("Kang", 2, None), ("Cho", 4, None)]
    code = await diner.code()
    for n, (name, size, note) in enumerate(people):
        phone = f"010-0000-{1000 + n}" if n % 2 else None
        await diner.join(name, size=size, note=note, phone=phone, code=None if n % 3 == 1 else code)
    await diner.join("Seo", type="takeout")
    for act, name in (("seat", "Kim"), ("no-show", "Lee"), ("call", "Park")):
        await diner.do(act, name)
    record = sqlite3.connect(desk_served.data_dir / "desk.db", timeout=30)
    with record:  # as if they had come one after another
        now_ms = int(time.time() * 1000)
        record.execute(
            "UPDATE parties SET registered_ms = ? - (40 - number * 5) * 60000 WHERE store = ?",
            (now_ms, diner.id),
        )
        record.execute(
            "UPDATE parties SET called_ms = ? WHERE status = 'CALLED'", (now_ms - 130_000,)
        )
    record.close()
    page = await console(diner, open_page, viewport={"width": 1024, "height": 540})
    await expect(card(page, "Choi")).to_contain_text("waited 20 min")
    await expect(card(page, "Park")).to_contain_text("called 2 min ago")
    await picture(page, "desk-console")
