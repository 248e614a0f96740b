"""One account, one place, in a real browser: from a site's own session to its protected page.

The site is FastAPI with the gate and a session, as docs/gates.md says. On 127.0.0.1 it shares its
host with Waitroom, so cookies reach both. On localhost it is another site to the browser: our page
sends the form once more, and people come back with a code.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

import jwt
import pytest
import pytest_asyncio
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse
from playwright.async_api import Page, expect
from playwright.async_api import Request as Sent
from starlette.middleware.sessions import SessionMiddleware

from tests.browser.conftest import Open
from tests.browser.stage import Stage
from tests.examples.serving import running
from tests.support.servers import free_port
from tests.support.serving import SECRET
from waitroom.accounts import ClaimKey
from waitroom.gates.asgi import WaitroomGate
from waitroom.tickets import KeyRing

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.sample(2)]
# Long enough that chance does not write them into the letters of a ticket or a pass.
ANN, BEN = "ann.of.row-seven@example.com", "ben.of.row-seven@example.com"
DEADLINE_S = 5  # of the gate: a busy machine may be late
SCRIPT = pytest.mark.parametrize("script", [True, False], ids=["script", "plain"])


@dataclass(frozen=True, slots=True)
class Shop:
    """A site with sessions, behind the gate of a room that its operator runs by hand."""

    url: str
    room: str
    key: ClaimKey

    @property
    def is_elsewhere(self) -> bool:
        """Whether its host is not Waitroom's."""
        return "localhost" in self.url

    def account(self, user: str) -> str:
        """Return the account of one of its users in the room."""
        return self.key.account(self.room, user)


def shop_app() -> FastAPI:
    """Return the site without its gate: anybody may sign in as anybody."""
    app = FastAPI(openapi_url=None)

    @app.get("/sign-in", response_class=HTMLResponse)
    def sign_in(request: Request, user: str) -> str:
        request.session["user_id"] = user
        return '<!doctype html><title>signed in</title><a href="/concert?row=7">To the concert</a>'

    @app.get("/concert", response_class=HTMLResponse)
    def concert(request: Request, row: int = 0) -> str:
        user = request.session.get("user_id", "nobody")
        return f"<!doctype html><title>the shop</title><p>Row {row} for {user}</p>"

    return app


@contextlib.contextmanager
def shop_at(host: str, waitroom: str, room: str) -> Iterator[Shop]:
    """Run the site on a host of this machine."""
    port, key = free_port(), KeyRing.from_text(SECRET).claim_key(room)
    app = shop_app()
    app.add_middleware(
        WaitroomGate,
        url=waitroom,
        rules={"/concert": room},
        hosts=[f"http://{host}:{port}"],
        identity=lambda scope: scope["session"].get("user_id"),
        claim_key=key.text(),
        deadline_s=DEADLINE_S,
    )
    app.add_middleware(SessionMiddleware, secret_key="only for tests")
    with running(app, port):
        yield Shop(f"http://{host}:{port}", room, key)


@pytest_asyncio.fixture(loop_scope="session", params=["127.0.0.1", "localhost"])
async def shop(stage: Stage, request: pytest.FixtureRequest) -> AsyncIterator[Shop]:
    """Run the site beside Waitroom, or as another site."""
    room = await stage.room(session_s=600)
    with shop_at(request.param, stage.base, room) as shop:
        await stage.change(room, go_to=f"{shop.url}/concert")
        yield shop


async def arrive(open_page: Open, script: bool) -> tuple[Page, list[Sent]]:
    """Open a browser, and record every request that it will make."""
    page = await open_page("about:blank", java_script_enabled=script)
    sent: list[Sent] = []
    page.context.on("request", lambda request: sent.append(request))
    return page, sent


async def hand_over(page: Page, shop: Shop, user: str, script: bool) -> None:
    """Sign in at the site and follow its link, to the waiting page: by itself, or by buttons."""
    await page.goto(f"{shop.url}/sign-in?user={user}")
    await page.get_by_role("link", name="To the concert").click()
    if not script:
        await page.get_by_role("button", name="Go to the waiting room").click()
        if shop.is_elsewhere:  # once more, from our own page
            await page.get_by_role("button", name="Join the line").click()


async def to_the_line(page: Page, shop: Shop, user: str, script: bool) -> None:
    """Take the place of an account."""
    await hand_over(page, shop, user, script)
    await expect(page.locator("[data-face=waiting]")).to_be_visible()


async def go_in(page: Page, shop: Shop, user: str, script: bool) -> None:
    """Go inside, once called: by the page itself, or by its button."""
    if not script:
        await page.reload()
        await page.get_by_role("button", name="Enter now").click()
    await expect(page.get_by_text(f"Row 7 for {user}")).to_be_visible()
    assert f"{shop.url}/concert?row=7" == page.url


async def session_of(page: Page, shop: Shop) -> dict[str, Any]:
    """Return what the pass says that the browser shows to the site."""
    cookies = {one["name"]: one["value"] for one in await page.context.cookies(shop.url)}
    text = cookies[f"waitroom-pass-{shop.room}"]
    claims: dict[str, Any] = jwt.decode(text, options={"verify_signature": False})
    return claims


async def places(stage: Stage, shop: Shop) -> list[str]:
    """Return the ids of everybody who waits, in order."""
    return [line["id"] for line in await stage.tickets(shop.room, state="waiting")]


async def assert_in_bodies_only(sent: list[Sent], users: list[str]) -> None:
    """Claims were sent in bodies, and are in no address and no header; no user was named to us."""
    forms = [one for one in sent if one.url.partition("?")[0].endswith("/claim")]
    claims = {parse_qs(form.post_data or "")["claim"][0] for form in forms}
    assert claims
    assert {"POST"} == {form.method for form in forms}
    for one in sent:
        told = [one.url, *(await one.all_headers()).values()]
        assert not [claim for claim in claims if claim in " ".join(told)]
        if "/rooms/" in one.url:
            told.append(one.post_data or "")
            assert not [user for user in users if user.partition("@")[0] in " ".join(told)]


@SCRIPT
async def test_from_sign_in_to_the_page(
    stage: Stage, shop: Shop, open_page: Open, script: bool
) -> None:
    """The form gives the account its place, on each device the same; the pass has its hash."""
    ahead = await stage.join(shop.room, 2)
    page, sent = await arrive(open_page, script)
    await to_the_line(page, shop, ANN, script)
    await expect(page.locator("[data-x=ahead]")).to_have_text("2")
    phone, sent_by_phone = await arrive(open_page, script)
    await to_the_line(phone, shop, ANN, script)
    await expect(phone.locator("[data-x=ahead]")).to_have_text("2")
    line = await places(stage, shop)
    assert (len(ahead) + 1, shop.account(ANN)) == (len(line), line[-1])
    await phone.goto("about:blank")  # only one of the two is to enter by itself
    await stage.admit(shop.room, 3)
    await go_in(page, shop, ANN, script)
    mine = await session_of(page, shop)
    assert (shop.account(ANN), shop.room) == (mine["sub"], mine["aud"])
    await hand_over(phone, shop, ANN, script)
    if not script or not shop.is_elsewhere:  # inside already; only a code is fetched by a script
        await phone.get_by_role("button" if shop.is_elsewhere else "link", name="Continue").click()
    await expect(phone.get_by_text(f"Row 7 for {ANN}")).to_be_visible()
    assert mine["jti"] == (await session_of(phone, shop))["jti"]
    await assert_in_bodies_only([*sent, *sent_by_phone], [ANN])


@pytest.mark.attack
@SCRIPT
async def test_signed_in_as_somebody_else(
    stage: Stage, shop: Shop, open_page: Open, script: bool
) -> None:
    """The first account's pass does not count; the second waits for its own, and takes no place."""
    page, sent = await arrive(open_page, script)
    await to_the_line(page, shop, ANN, script)
    await stage.admit(shop.room, 1)
    await go_in(page, shop, ANN, script)
    anns = await session_of(page, shop)
    await to_the_line(page, shop, BEN, script)
    assert shop.account(ANN) == anns["sub"] == (await session_of(page, shop))["sub"]
    inside = [line["id"] for line in await stage.tickets(shop.room, state="inside")]
    assert ([shop.account(ANN)], [shop.account(BEN)]) == (inside, await places(stage, shop))
    await page.goto("about:blank")
    await stage.admit(shop.room, 1)
    await hand_over(page, shop, BEN, script)
    if not script:
        await page.get_by_role("button", name="Enter now").click()
    await expect(page.get_by_text(f"Row 7 for {BEN}")).to_be_visible()
    assert shop.account(BEN) == (await session_of(page, shop))["sub"]
    await assert_in_bodies_only(sent, [ANN, BEN])


@SCRIPT
async def test_a_room_for_accounts_only(
    stage: Stage, shop: Shop, open_page: Open, script: bool
) -> None:
    """It says to sign in, and leads to the site; whoever has done so gets a place."""
    await stage.change(shop.room, needs="identity")
    page, _ = await arrive(open_page, script)
    await page.goto(f"{shop.url}/concert?row=7")
    await expect(page.get_by_role("heading", name="Sign in first")).to_be_visible()
    await expect(page.get_by_text("Everybody has one place here")).to_be_visible()
    link = page.get_by_role("link", name="Go to the site and sign in")
    await expect(link).to_have_attribute("href", f"{shop.url}/concert?row=7")
    assert [] == await places(stage, shop)
    await to_the_line(page, shop, ANN, script)
    assert [shop.account(ANN)] == await places(stage, shop)
