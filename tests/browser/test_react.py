"""`@waitroom/client` as an app gets it: packed, installed, built with React, used by a person."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.browser.stage import SOON_MS, Stage
from tests.support import packages
from tests.support.programs import needed
from tests.support.servers import Server as Backend
from tests.support.serving import serving
from tests.support.static_site import static_site

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.sample(0)]
NODE = """
import { Problem, Waitroom } from "@waitroom/client";
const [base, room, ticket] = process.argv.slice(1);
const place = new Waitroom(room, { base, ticket });
const [view, missing] = await Promise.all([
  place.room(),
  new Waitroom("nobody", { base }).room().catch((problem) => problem),
]);
const heard = await new Promise((done) => {
  const following = place.follow({ ticket: (news) => { following.stop(); done(news); } });
});
let refused = "";
try { new Waitroom(room); } catch (error) { refused = error.message; }
const problem = missing instanceof Problem && missing.code;
console.log(JSON.stringify({ room: view.room, problem, position: heard.position, refused }));
"""


@dataclass(frozen=True, slots=True)
class Shop:
    """The built app: its folder, its address, its room, and the room's operator."""

    folder: Path
    url: str
    room: str
    stage: Stage


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install examples/react with the packed client, as somebody who copied it would."""
    packages.need_modules()
    folder = tmp_path_factory.mktemp("react") / "app"
    unwanted = shutil.ignore_patterns("node_modules", "dist", "build")
    shutil.copytree(packages.ROOT / "examples/react", folder, ignore=unwanted)
    packages.install(folder, packages.pack("client", folder.parent))
    return folder


@pytest.fixture(scope="module")
def server(
    app: Path, valkey: Backend, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, str]]:
    """Serve the app on one host, and Waitroom on another that lists it; yield both addresses."""
    (app / "dist").mkdir()
    with static_site(app / "dist") as port:
        origin = f"http://localhost:{port}"
        folder = tmp_path_factory.mktemp("waitroom")
        with serving(folder, redis_url=valkey.url, cors_origins=origin) as served:
            yield origin, served.base


@pytest_asyncio.fixture(loop_scope="session")
async def shop(app: Path, server: tuple[str, str]) -> AsyncIterator[Shop]:
    """Build the app for its own room."""
    origin, base = server
    stage = Stage(base)
    room = await stage.room()
    packages.npm(app, "run", "build", env={"WAITROOM_URL": base, "ROOM": room})
    yield Shop(app, origin, room, stage)
    await stage.aclose()


@pytest_asyncio.fixture(loop_scope="session")
async def page(shop: Shop, browser: Browser) -> AsyncIterator[Page]:
    """Open the app; any complaint from React or the app fails the test."""
    context = await browser.new_context()
    context.set_default_timeout(SOON_MS)
    faults: list[str] = []
    opened = await context.new_page()
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    await opened.goto(shop.url)
    yield opened
    await context.close()
    assert [] == [fault for fault in faults if not fault.startswith("Failed to load resource")]


async def test_a_person_goes_through_the_line(shop: Shop, page: Page) -> None:
    """Wait, see the number fall, reload and keep the place, be called, go in with a good pass."""
    stage, room = shop.stage, shop.room
    await stage.join(room, 2)
    await page.get_by_role("button", name="Join the line").click()
    status = page.get_by_role("status")
    await expect(status).to_have_text("2 people ahead of you")
    await stage.admit(room, 1)
    await expect(status).to_have_text("1 people ahead of you")
    await page.reload()
    await expect(status).to_have_text("1 people ahead of you")
    assert 2 == (await stage.stats(room))["waiting"], "one ahead, and this person once"
    await stage.admit(room, 2)
    await page.get_by_role("button", name="It is your turn").click()
    pass_ = await page.locator("code").inner_text()
    async with httpx2.AsyncClient(base_url=stage.base) as gate:
        shown = {"authorization": f"Bearer {pass_}"}
        assert 204 == (await gate.get(f"/v1/check?room={room}", headers=shown)).status_code
        await page.reload()
        await expect(page.locator("code")).to_have_text(re.compile(r"^eyJ"))
        await page.get_by_role("button", name="I am done").click()
        await expect(page.get_by_role("button", name="Join the line")).to_be_visible()
        assert 401 == (await gate.get(f"/v1/check?room={room}", headers=shown)).status_code
    assert [] == await page.context.cookies()


async def test_leaving_and_a_place_that_ends(shop: Shop, page: Page) -> None:
    """Anybody who leaves may join again; a removed person reads why, and is asked."""
    stage, room = shop.stage, shop.room
    join = page.get_by_role("button", name="Join the line")
    await join.click()
    await page.get_by_role("button", name="Leave the line").click()
    await expect(join).to_be_visible()
    assert 0 == (await stage.stats(room))["waiting"]
    await join.click()
    await expect(page.get_by_role("status")).to_have_text("0 people ahead of you")
    await stage.clear(room)
    await expect(page.get_by_role("status")).to_have_text("Your place is gone: cleared")
    await page.get_by_role("button", name="Join again").click()
    await expect(page.get_by_role("status")).to_have_text("0 people ahead of you")


async def test_a_room_that_takes_nobody(shop: Shop, page: Page) -> None:
    """A refusal is told in words, and the button stays."""
    await shop.stage.change(shop.room, mode="closed")
    await page.get_by_role("button", name="Join the line").click()
    await expect(page.get_by_role("alert")).to_contain_text("closed")
    await expect(page.get_by_role("button", name="Join the line")).to_be_visible()


async def test_rendered_on_a_server(shop: Shop) -> None:
    """The page is there before the browser requests anything; the walks above hydrate it."""
    assert "<p>One moment…</p>" in (shop.folder / "dist/index.html").read_text("utf-8")


async def test_from_node(shop: Shop) -> None:
    """Without a page it asks and follows just as well; without `base` it says what is missing."""
    (ticket,) = await shop.stage.join(shop.room, 1)
    command = [
        needed("node"),
        "--input-type=module",
        "-e",
        NODE,
        shop.stage.base,
        shop.room,
        ticket,
    ]
    done = subprocess.run(  # noqa: ASYNC221 - nothing else runs here
        command, cwd=shop.folder, capture_output=True, text=True, timeout=120, check=True
    )
    answer = json.loads(done.stdout)
    assert "base" in answer.pop("refused")
    assert {"room": shop.room, "problem": "unknown_room", "position": 1} == answer


def _text(name: str) -> str:
    return (packages.ROOT / name).read_text("utf-8")


async def test_the_types_of_the_package(app: Path) -> None:
    """The app and the component in the docs pass `tsc --strict`, as bundlers and as Node resolve
    the package.
    """
    pages = ("docs/spa.md", "packages/client/README.md")
    shown = {re.findall(r"^```tsx\n(.*?)^```", _text(page), re.M | re.S)[0] for page in pages}
    (component,) = shown
    (app / "src" / "Docs.tsx").write_text(component, "utf-8")
    packages.npm(app, "run", "check")
    (app / "node.ts").write_text(
        'import { Waitroom } from "@waitroom/client";\n'
        'import { useWaitroom } from "@waitroom/client/react";\n'
        'import type { components, operations } from "@waitroom/client/api";\n'
        'export const place = new Waitroom("concert", { base: "https://wait.example" });\n'
        'export const phase = () => useWaitroom("concert", { base: "/" }).phase === "inside";\n'
        'export const mode: components["schemas"]["RoomView"]["mode"] = "open";\n'
        "// @ts-expect-error without base\n"
        'export const lost = new Waitroom("concert");\n'
        'export type Join = operations["joinRoom"];\n',
        "utf-8",
    )
    flags = ("--strict", "--noEmit", "--module", "nodenext", "--target", "es2022", "--ignoreConfig")
    packages.npm(app, "exec", "--offline", "--", "tsc", *flags, "--lib", "es2022,dom", "node.ts")
