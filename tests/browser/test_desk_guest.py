"""A guest in a real browser: join by the poster, watch the place move, be called, cancel."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import ViewportSize, expect

from tests.browser.conftest import Open
from tests.browser.desk_stage import Diner, open_diner, serious, too_wide
from tests.browser.stage import picture, text
from tests.server.desk import qr
from tests.support.serving import ADMIN, Serving
from waitroom.desk.models import Place, Range, Status
from waitroom.server.desk import text as say
from waitroom.server.desk.pages import place as page_place
from waitroom.server.pages.text import LANGUAGES, load_text

pytestmark = pytest.mark.asyncio(loop_scope="session")
ZOOMED: ViewportSize = {"width": 195, "height": 422}  # a phone at 200 %


@pytest_asyncio.fixture(loop_scope="session")
async def diner(desk_served: Serving) -> AsyncIterator[Diner]:
    """Return a store for this test only."""
    made = await open_diner(desk_served.base)
    yield made
    await made.http.aclose()


async def test_join_by_the_poster_and_be_called(diner: Diner, open_page: Open) -> None:
    """Anybody who scans the poster joins on site, and learns of the call on the open page."""
    poster = await open_page(f"{diner.page}/poster", extra_http_headers=ADMIN)
    address = qr.read(await poster.content())
    await diner.join("Lee")
    page = await open_page(address)
    await expect(page.locator("form.join")).to_contain_text("1 party waiting")
    for _ in range(2):
        await page.get_by_role("button", name="One more").click()
    await page.fill("#name", "Kim")
    await picture(page, "desk-join")
    await page.get_by_role("button", name="Join the waitlist").click()
    await expect(page.locator("[data-x=ahead]")).to_have_text("1 party ahead")
    lee, kim = await diner.parties()
    assert ("Kim", 4, "on_site") == (kim["name"], kim["size"], kim["source"])

    await diner.do("call", "Lee")
    await expect(page.locator("[data-x=ahead]")).to_have_text("You are next")
    await diner.do("call", "Kim")
    ready = page.get_by_role("heading", name="Your table is ready")
    await expect(ready).to_be_visible()
    await expect(page.locator(".ready-now .number")).to_have_text(str(kim["number"]))
    assert (await page.title()).startswith("● Your table is ready")
    await expect(page.locator("[data-x=live]")).to_have_text("Your table is ready")
    await picture(page, "desk-ready")
    assert lee["number"] + 1 == kim["number"]


async def test_a_host_takes_back(diner: Diner, open_page: Open) -> None:
    """The page follows: called, waiting again, gone, and back in line."""
    page = await open_page(await diner.join("Kim"))
    await diner.do("call", "Kim")
    await expect(page.locator(".ready-now")).to_be_visible()
    await diner.do("undo", "Kim")
    await expect(page.locator("[data-x=ahead]")).to_be_visible()
    await expect(page.locator(".ready-now")).to_be_hidden()
    await diner.do("no-show", "Kim")
    await expect(page.get_by_role("heading", name="Your turn has passed")).to_be_visible()
    await diner.do("restore", "Kim")
    await expect(page.locator("[data-x=ahead]")).to_have_text("You are next")
    await diner.do("seat", "Kim")
    await expect(page.get_by_role("heading", name="Enjoy your meal")).to_be_visible()


async def test_defer_and_cancel(diner: Diner, open_page: Open) -> None:
    """Both ask once before anything happens; personal data can be erased at the end."""
    address = await diner.join("Kim", phone="010-0000-0000")
    for name in ("Lee", "Park", "Choi"):
        await diner.join(name)
    page = await open_page(address)
    await page.locator("summary", has_text="Let others go first").click()
    await page.locator(".picks label", has_text="2").click()
    await page.get_by_role("button", name="Let them go first").click()
    await expect(page.locator("[data-x=ahead]")).to_have_text("2 parties ahead")
    await expect(page.get_by_text("once more")).to_be_visible()
    await page.locator("summary", has_text="Cancel my place").click()
    assert "Kim" in await diner.statuses()
    await page.get_by_role("button", name="Yes, cancel my place").click()
    await expect(page.get_by_role("heading", name="Your place is cancelled")).to_be_visible()
    assert ["Lee", "Park", "Choi"] == list(await diner.statuses())
    await page.locator("summary", has_text="Erase my data").click()
    await page.get_by_role("button", name="Erase it now").click()
    await expect(page.get_by_text("are erased")).to_be_visible()
    (gone,) = await diner.parties(status="CANCELLED")
    assert (None, None) == (gone["name"], gone["phone"])


async def test_without_a_script(diner: Diner, open_page: Open) -> None:
    """Joining, looking, deferring and cancelling are forms."""
    await diner.join("Lee")
    page = await open_page(f"{diner.page}?code={await diner.code()}", java_script_enabled=False)
    await page.fill("#size", "99")
    await page.fill("#name", "Kim")
    await page.get_by_role("button", name="Join the waitlist").click()
    await expect(page.locator("#size-wrong")).to_contain_text("Between 1 and 8 people")
    await expect(page.locator("#name")).to_have_value("Kim")
    await page.fill("#size", "3")
    await page.get_by_role("button", name="Join the waitlist").click()
    await expect(page.locator("[data-x=ahead]")).to_have_text("1 party ahead")
    await diner.join("Park")
    await page.locator("summary", has_text="Let others go first").click()
    await page.get_by_role("button", name="Let them go first").click()
    await expect(page.locator("[data-x=ahead]")).to_have_text("2 parties ahead")
    await page.locator("summary", has_text="Cancel my place").click()
    await page.get_by_role("button", name="Yes, cancel my place").click()
    await expect(page.get_by_role("heading", name="Your place is cancelled")).to_be_visible()
    assert ["Lee", "Park"] == list(await diner.statuses())


async def test_in_korean(diner: Diner, open_page: Open) -> None:
    """A Korean phone shows Korean on every page, also in live updates."""
    for name in ("이", "박", "최"):
        await diner.join(name)
    page = await open_page(f"{diner.page}?code={await diner.code()}", locale="ko-KR")
    await expect(page.get_by_role("heading", name="대기 등록")).to_be_visible()
    await expect(page.locator("form.join")).to_contain_text("3팀 대기 중")
    await page.get_by_role("button", name="대기 등록하기").click()
    await expect(page.locator("[data-x=ahead]")).to_have_text("앞에 3팀")
    await expect(page.locator("dl")).to_contain_text("예상 대기 시간")
    await expect(page.locator("[data-x=wait]")).to_have_text("약 1시간")
    await diner.do("cancel", "이")
    await expect(page.locator("[data-x=ahead]")).to_have_text("앞에 2팀")
    await expect(page.locator("[data-x=wait]")).to_have_text("약 45분")
    assert (await page.title()).startswith("앞에 2팀")
    await page.get_by_role("link", name="English").click()
    await expect(page.locator("[data-x=ahead]")).to_have_text("2 parties ahead")


async def test_a_lost_network(diner: Diner, open_page: Open) -> None:
    """The page says that it reconnects and that the place is kept, and continues by itself."""
    await diner.join("Lee")
    page = await open_page(await diner.join("Kim"))
    await expect(page.locator("[data-x=fresh]")).to_contain_text("Updated")
    await page.context.set_offline(True)
    lost = "Reconnecting, your place is kept"
    await expect(page.locator("[data-x=fresh]")).to_have_text(lost)
    await diner.do("cancel", "Lee")
    await page.context.set_offline(False)
    await expect(page.locator("[data-x=ahead]")).to_have_text("You are next")
    await expect(page.locator("[data-x=fresh]")).to_contain_text("Updated")


async def test_a_paused_store(diner: Diner, open_page: Open) -> None:
    """Waiting guests are told that their place is kept; new ones, why they cannot join."""
    page = await open_page(await diner.join("Kim"))
    await diner.change(mode="paused", reason="Full kitchen")
    note = "The store is not taking new parties right now. Your place is kept."
    await expect(page.locator("[data-x=note]")).to_have_text(note)
    late = await open_page(diner.page)
    await expect(late.get_by_role("heading", name="Paused for a moment")).to_be_visible()
    await expect(late.locator(".note")).to_contain_text("Full kitchen")
    await diner.change(mode="open")
    await expect(page.locator("[data-x=note]")).to_be_hidden()


async def test_sound_is_a_choice(diner: Diner, open_page: Open) -> None:
    """Nothing asks for permission by itself; the choice of sound is kept."""
    address = await diner.join("Kim")
    page = await open_page(address)
    await page.get_by_label("Sound when my table is ready").check()
    await page.reload()
    await expect(page.get_by_label("Sound when my table is ready")).to_be_checked()


WAITS: tuple[tuple[int | None, Range | None], ...] = (
    (None, None),
    (0, Range(0, 0, 0)),
    (1, Range(0, 1, 2)),
    (15, Range(8, 9, 11)),
    (22, Range(41, 45, 53)),
    (43, Range(7, 7, 7)),
    (118, Range(95, 100, 133)),
    (155, Range(100, 130, 240)),
)


@pytest.mark.sample(1)
@pytest.mark.parametrize("lang", LANGUAGES)
async def test_the_script_words_waits_as_the_server_does(
    diner: Diner, open_page: Open, lang: str
) -> None:
    """The server, before the script runs, and the script write the same text."""
    words = load_text("desk", lang)
    for name in ("Lee", "Park"):
        await diner.join(name)
    address = await diner.join("Kim")
    answers: list[dict[str, object]] = []
    page = await open_page("about:blank", locale=lang)
    await page.route("**/events", lambda route: route.abort())
    await page.route(
        f"**/v1/stores/{diner.id}/parties/*", lambda route: route.fulfill(json=answers[-1])
    )
    await page.goto(address)
    for n, (minutes, observed) in enumerate(WAITS, 5):
        place = Place(
            store=diner.id,
            line_name="dine-in",
            status=Status.WAITING,
            position=n,
            waiting=n + 3,
            wait_minutes=minutes,
            observed=observed,
        )
        interval = observed and {"low": observed.low, "likely": 0, "high": observed.high}
        answers.append(
            {"status": "WAITING", "position": n, "waiting": n + 3}
            | {"wait_minutes": minutes, "observed": interval, "poll_after_ms": 60_000}
        )
        await page.evaluate("void dispatchEvent(new Event('online'))")  # makes it ask at once
        await expect(page.locator("[data-x=ahead]")).to_have_text(page_place.ahead(words, place))
        assert say.wait(words, minutes) == await text(page, "wait")
        expected = words("place_observed", range=say.within(words, observed)) if observed else ""
        assert expected == (await text(page, "observed") if observed else "")


@pytest.mark.sample(0)
async def test_everyone_can_use_it(diner: Diner, open_page: Open) -> None:
    """axe-core finds nothing serious on any guest page, and all fit a phone at 200 %."""
    wrong: dict[str, list[str]] = {}

    async def look(name: str, url: str, face: str = "", **context: object) -> None:
        page = await open_page(url, **context)
        if face:  # the live line may be a moment behind what a host did
            await expect(page.locator(f"section[data-face={face}]")).to_be_visible()
        wrong[name] = await serious(page)
        await page.set_viewport_size(ZOOMED)
        wrong[name] += ["too wide at 200 %"] * await too_wide(page)

    await diner.join("Lee")
    address = await diner.join("Kim", note="A high chair, please", phone="010-0000-0000")
    await look("join", f"{diner.page}?code={await diner.code()}")
    refused = await open_page(diner.page)
    await refused.fill("#size", "99")
    await refused.get_by_role("button", name="Join the waitlist").click()
    await expect(refused.locator("#size-wrong")).to_be_visible()
    wrong["refused"] = await serious(refused)
    await look("waiting", address, "waiting", locale="ko-KR")
    for act, name in (("call", "called"), ("cancel", "cancelled"), ("restore", "waiting")):
        await diner.do(act, "Kim")
        await look(name, address, name)
    await diner.do("seat", "Kim")
    await look("seated", address, "seated")
    for path in ("poster", "screen"):
        await look(path, f"{diner.page}/{path}", extra_http_headers=ADMIN)
    await look("unknown", f"{diner.page}/p/nothing")
    await diner.change(mode="closed", reason="Private party")
    await look("closed", diner.page)
    assert {} == {name: faults for name, faults in wrong.items() if faults}


async def test_a_poster_is_one_sheet(diner: Diner, open_page: Open) -> None:
    """Printed, it is one page of A4."""
    page = await open_page(f"{diner.page}/poster", extra_http_headers=ADMIN)
    sheet = await page.pdf(prefer_css_page_size=True)
    assert 1 == sheet.count(b"/Type /Page\n")
    assert b"/MediaBox [0 0 594" in sheet or b"/MediaBox [0 0 595" in sheet


async def test_names_are_text(diner: Diner, open_page: Open) -> None:
    """A name that is a script is a name."""
    name = "<img src=x onerror=alert(1)>"
    page = await open_page(await diner.join(name))
    await expect(page.locator(".ticket")).to_contain_text(name)


async def test_the_picture_of_the_docs(diner: Diner, open_page: Open) -> None:
    """A Korean evening, as the docs show it."""
    for name in ("Lee", "Park", "Choi"):
        await diner.join(name)
    page = await open_page(await diner.join("Kim", size=4))
    await expect(page.locator("[data-x=ahead]")).to_have_text("3 parties ahead")
    await picture(page, "desk-place")
