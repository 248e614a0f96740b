"""The overview in a browser: sixty rooms on a phone, desktop and wall; keyboard only; no script."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterator

import pytest
from playwright.async_api import Page, expect
from redis.asyncio import Redis

from tests.browser.conftest import Open
from tests.browser.stage import PHONE, WALL, Stage, picture, tab_to
from tests.browser.test_console import check, signed_in
from tests.support.clock import open_engine
from tests.support.serving import Serving, serving
from waitroom.engine import Engine
from waitroom.engine.keys import room_key
from waitroom.models import Policy, State

pytestmark = pytest.mark.asyncio(loop_scope="session")
DOCS = {"width": 1060, "height": 720}  # for pictures in the docs
TITLES = ("Aurora Live", "Harbour Lights", "Museum Night", "Winter Sale", "Passport Office")
PEOPLE = (1_840, 620, 90, 260, 35)
INSIDE = 240
SAMPLES, SAMPLE_MS = 700, 5_000


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Run a separate server: five busy rooms, and 55 quiet ones."""
    with serving(tmp_path_factory.mktemp("hall")) as served:
        asyncio.run(_fill(served))
        yield served


async def _fill(served: Serving) -> None:
    socket = str(served.data_dir / "valkey.sock")
    usual = Policy(capacity=INSIDE, session_s=3_600, enter_within_s=3_600, presence_s=7_200)
    async with open_engine(f"unix://{socket}") as engine, Redis(unix_socket_path=socket) as redis:
        for number in range(60):
            title = TITLES[number] if number < len(TITLES) else f"Branch {number}"
            policy = usual.change(title=title, mode="paused" if number == 2 else "open")
            await engine.create(title.lower().replace(" ", "-"), policy)
        for title, people in zip(TITLES, PEOPLE, strict=True):
            room = title.lower().replace(" ", "-")
            await _crowd(engine, room, people)
            await _remember(redis, room, people)


async def _crowd(engine: Engine, room: str, people: int) -> None:
    joined = [await engine.join(room) for _ in range(people)]
    while (await engine.advance(room)).called:
        pass
    called = (await engine.list(room, State.CALLED, limit=INSIDE)).tickets
    ids = {ticket.id for ticket in called[: INSIDE * 9 // 10]}
    await asyncio.gather(*(engine.enter(room, each.ticket) for each in joined if each.id in ids))


async def _remember(redis: Redis, room: str, people: int) -> None:
    """Give a room an hour of history, with counters that lead to the current ones."""
    totals = {"joined": 5 * people, "called_total": 4 * people, "entered": 3 * people}
    totals |= {"no_show": people // 8, "abandoned": people // 6}
    await redis.hset(room_key(room, "meta"), mapping=totals)  # type: ignore[arg-type]
    now_ms, places = int(time.time() * 1000), min(people, INSIDE)
    pipe = redis.pipeline()  # all at once: the server takes its own samples
    pipe.delete(room_key(room, "series"))
    for step in range(SAMPLES):
        at_ms, share = now_ms - (SAMPLES - step) * SAMPLE_MS, step / SAMPLES
        waiting = int((people - places) * (0.4 + 0.6 * share + 0.05 * math.sin(step / 40)))
        counts = {name: int(total * (0.4 + 0.6 * share)) for name, total in totals.items()}
        now = {"at": at_ms, "waiting": waiting, "called": places // 10, "inside": places * 9 // 10}
        now |= {"waited_ms": int(1_000_000 + 500_000 * share), "told_s": int(950 + 600 * share)}
        pipe.xadd(room_key(room, "series"), now | counts, id=f"{at_ms}-0")  # type: ignore[arg-type]
    await pipe.execute()


async def test_sixty_rooms_on_every_screen(hall: Serving, open_page: Open) -> None:
    """Problem rooms first, quiet ones folded; columns aligned, and a phone shows cards to tap."""
    stage = Stage(hall.base)
    for scheme in ("light", "dark"):
        page = await signed_in(stage, open_page, viewport=DOCS, color_scheme=scheme)
        await expect(page.locator("#rooms .room h2").first).to_have_text("Museum Night")
        await expect(page.locator("#quiet-rooms summary")).to_have_text("55 quiet rooms")
        await expect(page.locator("#quiet-rooms .room").first).to_be_hidden()
        await expect(page.locator("#health")).to_contain_text("All is well")
        rights = await page.eval_on_selector_all(
            "#rooms .cells > div:first-child",
            "all => all.map(e => e.getBoundingClientRect().right)",
        )
        assert (5, 1) == (len(rights), len(set(rights)))
        await picture(page, "operator-rooms" if scheme == "light" else "operator-rooms-dark")
    phone = await signed_in(stage, open_page, viewport=PHONE, locale="ko-KR", color_scheme="dark")
    await check(phone, "ko")
    await phone.locator("#quiet-rooms summary").click()
    await expect(phone.locator("#quiet-rooms .room")).to_have_count(55)
    small = await phone.eval_on_selector_all(
        "header a, header button, .tools button, .room a, summary",
        "all => all.map(e => e.getBoundingClientRect()).filter(r => r.height && r.height < 43.5)",
    )
    assert [] == small
    await check(phone, "ko")
    await stage.aclose()


async def test_on_the_wall(hall: Serving, open_page: Open) -> None:
    """At 1920 px the page is filled; the wall view has only large numbers and charts."""
    stage = Stage(hall.base)
    page = await signed_in(stage, open_page, viewport=WALL)
    assert 1_750 < await _width(page, "#rooms")
    await page.goto(f"{hall.base}/admin/rooms/aurora-live?wall=1")
    await expect(page.locator("#figures dd")).to_have_count(8)
    for hidden in ("header", "aside"):
        await expect(page.locator(hidden).first).to_be_hidden()
    size = await page.eval_on_selector(
        "#n-waiting", "e => parseFloat(getComputedStyle(e).fontSize)"
    )
    assert 64 < size
    await check(page, "en")
    await page.get_by_role("link", name="Leave the wall screen").click()
    await expect(page.locator("header")).to_be_visible()
    await stage.aclose()


async def test_filter_by_keys_only(hall: Serving, open_page: Open) -> None:
    """Typing filters at once, including quiet rooms; Tab and Enter lead to the room."""
    stage = Stage(hall.base)
    page = await signed_in(stage, open_page)
    await tab_to(page, page.locator("#filter"))
    await page.keyboard.type("branch 17")
    await expect(page.locator(".room:visible")).to_have_count(1)
    await expect(page.locator("#shown")).to_have_text("1 of 60 rooms")
    await tab_to(page, page.locator(".room:visible h2 a"))
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(f"{hall.base}/admin/rooms/branch-17")
    await page.go_back()
    await page.fill("#filter", "nothing like it")
    await expect(page.locator("#no-match")).to_be_visible()
    await stage.aclose()


async def test_without_a_script(hall: Serving, open_page: Open) -> None:
    """The filter is a form, a total is a link, and quiet rooms unfold by themselves."""
    stage = Stage(hall.base)
    page = await signed_in(stage, open_page, java_script_enabled=False)
    await page.fill("#filter", "PAUSED")
    await page.press("#filter", "Enter")
    await expect(page.locator(".room h2")).to_have_text(["Museum Night"])
    await page.locator('#totals a[href="?only=inside"]').click()
    await expect(page.locator(".room")).to_have_count(4)
    await page.get_by_role("link", name="All rooms").click()
    await page.locator("#quiet-rooms summary").click()
    await expect(page.locator("#quiet-rooms .room").first).to_be_visible()
    await stage.aclose()


async def test_pictures_of_a_room(hall: Serving, open_page: Open) -> None:
    """A room shows its figures and charts, in light and dark, without a serious axe violation."""
    stage = Stage(hall.base)
    for scheme in ("light", "dark"):
        page = await signed_in(stage, open_page, viewport=DOCS, color_scheme=scheme)
        await page.goto(f"{hall.base}/admin/rooms/aurora-live")
        await expect(page.locator("#plots canvas").first).to_be_visible()
        await expect(page.locator("#n-waiting")).to_have_text("1,600")
        await check(page, "en")
        await picture(page, "operator-room" if scheme == "light" else "operator-room-dark")
    await stage.aclose()


async def _width(page: Page, part: str) -> float:
    width: float = await page.eval_on_selector(part, "e => e.getBoundingClientRect().width")
    return width


async def test_pictures_of_other_pages(hall: Serving, open_page: Open) -> None:
    """One person, entry codes, keys, and who did what when: each fits, and axe finds nothing."""
    stage = Stage(hall.base)
    room = "winter-sale"
    await stage.codes(room, 500)
    await stage.change(room, capacity=300)
    await stage.change(room, message="The sale goes on until midnight.")
    await stage.key("Front of house", "operator")
    await stage.key("Wall screen", "viewer")
    (person,) = (await stage.tickets("harbour-lights", state="waiting"))[14:15]
    pages = {
        "operator-person": f"rooms/harbour-lights/people/{person['id']}",
        "operator-codes": f"rooms/{room}/codes",
        "operator-keys": "keys",
        "operator-audit": "audit",
    }
    page = await signed_in(stage, open_page, viewport=DOCS)
    for name, path in pages.items():
        await page.goto(f"{hall.base}/admin/{path}")
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        await check(page, "en")
        await picture(page, name)
    await stage.aclose()
