"""The JavaScript client in other apps, and the way from the waiting page to another host."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route, expect

from tests.browser.conftest import Open
from tests.browser.stage import Stage
from tests.support.servers import Server as Backend
from tests.support.serving import serving
from tests.support.static_site import static_site
from waitroom.web.browser_mark import mark_of, new_secret

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.sample(0)]
APP = """<!doctype html><title>an app</title><script type="module">
import { Waitroom, Problem } from "BASE/waitroom.js";
Object.assign(window, { Waitroom, Problem, ready: true, heard: [] });
window.listen = (room) => {
  const note = (kind) => [kind, (value) => {
    heard.push([kind, value.state ?? value.code ?? value.mode, value.position]);
  }];
  window.following = room.follow(Object.fromEntries(["ticket", "room", "gone", "away"].map(note)));
};
</script>"""


async def app_at(page: Page, address: str) -> None:
    """Open a page of another app, which imports the client."""
    body = APP.replace("BASE", "")
    await page.route(address, lambda route: route.fulfill(body=body, content_type="text/html"))
    await page.goto(address)
    await page.wait_for_function("window.ready")


async def heard(page: Page, *wanted: Any) -> None:
    """Wait until the app was told this."""
    text = ",".join(str(value) for value in wanted)
    await page.wait_for_function(
        "text => heard.some((one) => one.join().startsWith(text))", arg=text
    )


async def refusal(page: Page, call: str) -> list[Any]:
    """Return status and code of a refused call."""
    values: list[Any] = await page.evaluate(
        f"{call}.then(() => [], (why) => [why instanceof Problem, why.status, why.code])"
    )
    return values


async def test_an_app_of_the_same_origin(stage: Stage, open_page: Open) -> None:
    """Join, follow, be called, enter, renew, finish: the ticket stays in a cookie."""
    room = await stage.room(max_defers=1, renewable=True, session_s=60)
    page = await open_page("about:blank")
    await app_at(page, f"{stage.base}/app")
    await page.evaluate(f"window.place = new Waitroom('{room}')")
    assert [True, 404, "invalid_ticket"] == await refusal(page, "place.status()")
    joined = await page.evaluate("place.join()")
    assert ("waiting", 1) == (joined["state"], joined["position"])
    assert await page.evaluate("place.ticket === null")
    assert [True, 409, "not_your_turn"] == await refusal(page, "place.enter()")
    await stage.join(room, 2)
    assert 2 == (await page.evaluate("place.defer(1)"))["position"]
    assert [True, 409, "defers_used_up"] == await refusal(page, "place.defer(1)")
    await page.evaluate("listen(place)")
    await heard(page, "ticket", "waiting", 2)
    await stage.change(room, title="Another")
    await heard(page, "room", "manual")
    await stage.admit(room, 2)
    await heard(page, "ticket", "called")
    inside = await page.evaluate("place.enter()")
    assert "inside" == inside["state"]
    assert "inside" == (await page.evaluate("place.renew()"))["state"]
    await heard(page, "ticket", "inside")
    assert re.fullmatch(r"[\w-]{20,}", (await page.evaluate("place.handoff()"))["code"])
    assert await page.evaluate("place.finish().then((found) => found === undefined)")
    await heard(page, "gone")
    before = await page.evaluate("heard.length")
    await stage.change(room, title="After the end")
    await page.wait_for_timeout(1_000)
    assert before == await page.evaluate("heard.length"), "an end is an end"


async def test_leaving_and_joining_again(stage: Stage, open_page: Open) -> None:
    """Anybody who leaves is gone; the same object may join again."""
    room = await stage.room()
    page = await open_page("about:blank")
    await app_at(page, f"{stage.base}/app")
    await page.evaluate(f"window.place = new Waitroom('{room}'); place.join()")
    await page.evaluate("place.leave()")
    assert 0 == (await stage.stats(room))["waiting"]
    await page.evaluate("place.join()")
    assert 1 == (await stage.stats(room))["waiting"]


async def test_a_code_outlives_a_lost_reply_and_a_reload(stage: Stage, open_page: Open) -> None:
    """The key is kept by the tab until the place is gone: the same code gives the same place."""
    room = await stage.room(mode="paused", needs="code")
    (code,) = await stage.codes(room, 1)
    page = await open_page("about:blank")

    async def lose(route: Route) -> None:
        await route.fetch()
        await route.abort()

    await app_at(page, f"{stage.base}/app")
    place = f"new Waitroom('{room}', {{ bearer: true }})"
    joins = f"{place}.join({{ code: '{code}' }})"
    await page.route("**/tickets", lose)
    assert [True, 0, "unreachable"] == await refusal(page, joins)
    await page.unroute("**/tickets")
    await app_at(page, f"{stage.base}/app")
    assert [True, 404, "invalid_ticket"] == await refusal(page, f"{place}.status()")
    joined = await page.evaluate(joins)
    assert ("waiting", 1) == (joined["state"], (await stage.stats(room))["waiting"])
    stored = "Object.keys(sessionStorage).filter((name) => sessionStorage[name]).length"
    assert 1 == await page.evaluate(stored)
    holder = f"new Waitroom('{room}', {{ bearer: true, ticket: '{joined['ticket']}' }})"
    await page.evaluate(f"{holder}.leave()")
    assert 0 == await page.evaluate(stored)


async def test_stopping(stage: Stage, open_page: Open) -> None:
    """After `stop` no connection is left and nothing is reported."""
    room = await stage.room()
    page = await open_page("about:blank")
    ended: list[str] = []
    page.on("requestfailed", lambda request: ended.append(request.url))
    await app_at(page, f"{stage.base}/app")
    await page.evaluate(f"window.place = new Waitroom('{room}'); place.join()")
    await page.evaluate("listen(place)")
    await heard(page, "ticket", "waiting")
    await page.evaluate("following.stop()")
    before = await page.evaluate("heard.length")
    await stage.change(room, mode="paused")
    await page.wait_for_timeout(1_200)
    assert before == await page.evaluate("heard.length")
    assert [f"{stage.base}/v1/rooms/{room}/tickets/me/events"] == ended


async def test_without_streams_it_polls(stage: Stage, open_page: Open) -> None:
    """If a proxy cuts streams, the app still learns of its turn, and polls as often as asked."""
    room = await stage.room()
    await stage.join(room, 1)
    page = await open_page("about:blank")
    asked: list[str] = []
    await page.route("**/tickets/me/events", lambda route: route.abort())
    page.on("request", lambda request: asked.append(request.url))
    await app_at(page, f"{stage.base}/app")
    await page.evaluate(f"window.place = new Waitroom('{room}'); place.join()")
    began = time.monotonic()
    await page.evaluate("listen(place)")
    await heard(page, "ticket", "waiting", 2)
    await heard(page, "room", "manual")
    await stage.admit(room, 2)
    await heard(page, "ticket", "called")
    polls = [url for url in asked if url.endswith("/tickets/me")]
    # A slow machine gives it time for more.
    assert len(polls) <= max(10, (time.monotonic() - began) / 2), "each 3 s in front"


async def test_a_hidden_tab(stage: Stage, open_page: Open) -> None:
    """While hidden it polls less; shown again it asks at once."""
    room = await stage.room()
    page = await open_page("about:blank")
    asked: list[str] = []
    await page.clock.install()
    await page.route("**/tickets/me/events", lambda route: route.abort())
    page.on("request", lambda request: asked.append(request.url))
    await app_at(page, f"{stage.base}/app")
    await page.evaluate(
        "Object.defineProperty(document, 'hidden', { get: () => window.away, configurable: true })"
    )
    await page.evaluate(f"window.away = true; window.place = new Waitroom('{room}'); place.join()")
    await page.evaluate(
        # Far more than the time below: that of a slow machine passes too.
        "place.follow({ hiddenMs: 300_000, ticket: (view) => heard.push(['ticket', view.state]) })"
    )
    await heard(page, "ticket", "waiting")
    asked.clear()
    await page.clock.run_for(30_000)
    assert [] == [url for url in asked if url.endswith("/tickets/me")]
    async with page.expect_request("**/tickets/me"):
        await page.evaluate("away = false; document.dispatchEvent(new Event('visibilitychange'))")


async def test_one_question_at_a_time(stage: Stage, open_page: Open) -> None:
    """Coming back while an answer is on its way asks nothing twice, and the page stays alive."""
    room = await stage.room()
    page = await open_page("about:blank")
    asked, answer_now = asyncio.Queue[str](), asyncio.Event()

    async def slowly(route: Route) -> None:
        asked.put_nowait(route.request.url)
        await answer_now.wait()
        await route.continue_()

    await page.route("**/tickets/me/events", lambda route: route.abort())
    await page.route("**/tickets/me", slowly)
    await app_at(page, f"{stage.base}/app")
    await page.evaluate(f"window.place = new Waitroom('{room}'); place.join()")
    await page.evaluate("listen(place)")
    await asked.get()
    for _ in range(5):
        await page.evaluate("void dispatchEvent(new Event('focus'))")
        await page.evaluate("void following.ask()")
    await page.wait_for_timeout(500)
    assert asked.empty()
    answer_now.set()
    await heard(page, "ticket", "waiting", 1)


async def test_a_bug_of_the_app_stops_nothing(stage: Stage, browser: Browser) -> None:
    """What a callback throws is reported as an error of the page, and following continues."""
    room = await stage.room()
    context = await browser.new_context()
    page = await context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    await app_at(page, f"{stage.base}/app")
    await page.evaluate(f"window.place = new Waitroom('{room}'); place.join()")
    await page.evaluate(
        "place.follow({ ticket({ state }) { heard.push(['ticket', state]); throw Error('bug'); } })"
    )
    await heard(page, "ticket", "waiting")
    await stage.admit(room, 1)
    await heard(page, "ticket", "called")
    for _ in range(600):  # they are reported a moment later
        if faults.count("bug") >= 2:
            break
        await page.wait_for_timeout(50)
    assert 2 <= faults.count("bug")
    await context.close()


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A server, and the addresses of an app: on another site, on a neighbour, and not listed."""

    stage: Stage
    app: str
    neighbour: str
    stranger: str


@pytest_asyncio.fixture(loop_scope="session")
async def elsewhere(valkey: Backend, tmp_path: Path) -> AsyncIterator[Elsewhere]:
    """Run a server that lists two origins of an app, one with cookies, but not a third."""
    with static_site(tmp_path) as port, static_site(tmp_path) as other:
        app, neighbour, stranger = (
            f"http://{host}"
            for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"localhost:{other}")
        )
        listed = {"cors_origins": f"{app},{neighbour}", "origins": neighbour}
        with serving(tmp_path, redis_url=valkey.url, **listed) as server:
            (tmp_path / "app.html").write_text(APP.replace("BASE", server.base), "utf-8")
            stage = Stage(server.base)
            yield Elsewhere(stage, *(f"{url}/app.html" for url in (app, neighbour, stranger)))
            await stage.aclose()


async def test_an_app_of_another_origin(elsewhere: Elsewhere, open_page: Open) -> None:
    """If listed, it holds the ticket and sends it as a bearer token, without cookies."""
    stage = elsewhere.stage
    room = await stage.room()
    page = await open_page(elsewhere.app)
    await page.wait_for_function("window.ready")
    assert [True, 404, "unknown_room"] == await refusal(page, "new Waitroom('no').join()")
    await page.evaluate(f"window.place = new Waitroom('{room}'); place.join()")
    ticket = await page.evaluate("place.ticket")
    async with page.expect_response("**/tickets/me/events") as opened:
        await page.evaluate("listen(place)")
    response = await opened.value
    assert 200 == response.status
    assert f"Bearer {ticket}" == (await response.request.all_headers())["authorization"]
    await heard(page, "ticket", "waiting", 1)
    await stage.admit(room, 1)
    await heard(page, "ticket", "called")
    assert "inside" == (await page.evaluate("place.enter()"))["state"]
    assert [] == await page.context.cookies()
    again = f"new Waitroom('{room}', {{ base: '{stage.base}', ticket: '{ticket}' }}).status()"
    assert "inside" == (await page.evaluate(again))["state"]
    await page.evaluate("place.leave()")
    await heard(page, "gone")


async def test_an_app_elsewhere_solves_a_challenge(elsewhere: Elsewhere, open_page: Open) -> None:
    """The client loads its solver from Waitroom and solves what the room asks, by itself."""
    room = await elsewhere.stage.room(challenge="work")
    page = await open_page(elsewhere.app)
    await page.wait_for_function("window.ready")
    joined = await page.evaluate(f"new Waitroom('{room}').join()")
    assert ("waiting", 1) == (joined["state"], joined["position"])
    mine = "{ solve: async ({ kind }) => ({ solution: `not solved: ${kind}` }) }"
    place = f"new Waitroom('{room}', {mine}).join()"
    assert [True, 403, "challenge_required"] == await refusal(page, place)


async def test_a_neighbour_with_cookies(elsewhere: Elsewhere, open_page: Open) -> None:
    """An app on the same site that is in both lists may leave its ticket to a cookie."""
    stage = elsewhere.stage
    room = await stage.room()
    page = await open_page(elsewhere.neighbour)
    await page.wait_for_function("window.ready")
    await page.evaluate(f"window.place = new Waitroom('{room}', {{ bearer: false }})")
    assert "waiting" == (await page.evaluate("place.join()"))["state"]
    assert await page.evaluate("place.ticket === null")
    assert [f"waitroom-ticket-{room}"] == [c.get("name") for c in await page.context.cookies()]
    await page.evaluate("listen(place)")
    await heard(page, "ticket", "waiting", 1)
    await stage.admit(room, 1)
    await heard(page, "ticket", "called")
    assert "inside" == (await page.evaluate("place.enter()"))["state"]


@pytest.mark.attack
async def test_apps_that_may_not(elsewhere: Elsewhere, browser: Browser) -> None:
    """The browser withholds every answer from an app that is not listed, or not with cookies."""
    room = await elsewhere.stage.room()
    context = await browser.new_context()
    page = await context.new_page()
    calls = ("join()", "room()", "status()")
    for address, options in ((elsewhere.stranger, "{}"), (elsewhere.app, "{ bearer: false }")):
        await page.goto(address)
        await page.wait_for_function("window.ready")
        for call in calls:
            place = f"new Waitroom('{room}', {options}).{call}"
            assert [True, 0, "unreachable"] == await refusal(page, place)
    assert [] == await context.cookies()
    await context.close()


async def test_live_with_a_bearer(stage: Stage, open_page: Open) -> None:
    """The stream also takes the ticket in a header, which an EventSource could not send."""
    room = await stage.room()
    page = await open_page("about:blank")
    await app_at(page, f"{stage.base}/app")
    await page.evaluate(f"window.place = new Waitroom('{room}', {{ bearer: true }}); place.join()")
    async with page.expect_response("**/tickets/me/events") as opened:
        await page.evaluate("listen(place)")
    assert 200 == (await opened.value).status
    await heard(page, "ticket", "waiting", 1)
    await stage.admit(room, 1)
    await heard(page, "ticket", "called")
    assert [] == await page.context.cookies()


# From the waiting page to another host ----------------------------------------------------------


@contextlib.asynccontextmanager
async def shop(page: Page) -> AsyncIterator[list[str]]:
    """Answer for a site on another host, and record how it was requested."""
    asked: list[str] = []

    async def there(route: Route) -> None:
        asked.append(route.request.url)
        assert "referer" not in await route.request.all_headers()
        await route.fulfill(body="<!doctype html><title>the shop</title>", content_type="text/html")

    await page.route("http://shop.example/**", there)
    yield asked


async def test_on_to_another_host(stage: Stage, open_page: Open) -> None:
    """The page asks for a code and leads back to the return address; "back" finds no code."""
    room = await stage.room(mode="open", go_to="http://shop.example/")
    page = await open_page("about:blank")
    async with shop(page) as asked:
        back = "http://shop.example/seats?day=2&waitroom_code=planted#map"
        secret = new_secret()
        query = f"return={quote(back, safe='')}&browser={mark_of(secret)}"
        await page.goto(f"{stage.page_of(room)}?{query}")
        await expect(page).to_have_title("the shop")
        match = re.fullmatch(r"http://shop\.example/seats\?day=2&waitroom_code=([\w-]+)", asked[0])
        assert match is not None, asked
        assert "#map" == await page.evaluate("location.hash")
        async with httpx2.AsyncClient(base_url=stage.base) as gate:
            wish = {"code": match[1], "browser": secret}
            redeemed = await gate.post("/v1/redeem", json=wish)
        assert room == redeemed.json()["room"]
        assert 2 == await page.evaluate("history.length"), "the code's page took the place of ours"


async def test_on_from_inside(stage: Stage, open_page: Open) -> None:
    """Anybody sent back to the page goes on, by its button or automatically, with a new code."""
    site = stage.base.replace("127.0.0.1", "localhost")  # to the browser this is another host
    room = await stage.room(mode="open", go_to=f"{site}/first")
    mark = mark_of(new_secret())
    for script in (True, False):
        start = f"{stage.page_of(room)}?browser={mark}"
        page = await open_page(start, java_script_enabled=script)
        if not script:
            await page.get_by_role("button", name="Join the line").click()
            await page.get_by_role("button", name="Enter now").click()
        await page.wait_for_url(f"{site}/first?waitroom_code=*")
        first = page.url.partition("=")[2]
        await page.goto(f"{stage.page_of(room)}?return={site}/again&browser={mark}")
        if not script:
            await page.get_by_role("button", name="Continue").click()
        await page.wait_for_url(f"{site}/again?waitroom_code=*")
        assert first != page.url.partition("=")[2]


async def test_on_to_the_same_host(stage: Stage, open_page: Open) -> None:
    """There the cookie is enough, and the address is the requested one."""
    room = await stage.room(mode="open")
    page = await open_page(f"{stage.page_of(room)}?return=/healthz?a=1")
    await page.wait_for_url(f"{stage.base}/healthz?a=1")


async def test_the_way_back_outlives_the_line(stage: Stage, open_page: Open) -> None:
    """Leaving, joining again and another language keep it."""
    room = await stage.room()
    page = await open_page(f"{stage.page_of(room)}?return=/healthz?a=1")
    await page.get_by_text("Leave the line", exact=True).click()
    await page.get_by_role("button", name="Yes, leave the line").click()
    await page.get_by_role("button", name="Join the line again").click()
    # The page loads anew when the answer is there, with a chooser that is folded.
    await expect(page.locator("[data-face=waiting]")).to_be_visible()
    await page.locator("footer summary").click()
    await page.get_by_role("link", name="한국어").click()
    await expect(page.locator("[data-x=ahead]")).to_have_text("0")
    await stage.admit(room, 1)
    await page.wait_for_url(f"{stage.base}/healthz?a=1")


async def test_no_code_to_be_had(stage: Stage, open_page: Open) -> None:
    """If no code can be made, the page retries, and then lets the site decide."""
    room = await stage.room(mode="open", go_to="http://shop.example/")
    page = await open_page("about:blank")
    tries = asyncio.Queue[str]()

    async def fail(route: Route) -> None:
        tries.put_nowait(route.request.url)
        await route.fulfill(status=503, json={"code": "backend_unavailable", "detail": "away"})

    await page.route("**/handoff", fail)
    async with shop(page) as asked:
        await page.goto(f"{stage.page_of(room)}?browser={mark_of(new_secret())}")
        await expect(page).to_have_title("the shop")
        assert ["http://shop.example/"] == asked
    assert 2 == tries.qsize()
