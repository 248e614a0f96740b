"""What browser tests of the desk need: a server with the desk, stores, guests, a host's actions."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import httpx2
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import Page, expect

from tests.support.clock import noon_zone
from tests.support.serving import ADMIN

TABLET = {"width": 1024, "height": 768}
UPRIGHT = {"width": 768, "height": 1024}
SERIOUS = ("serious", "critical")
TYPES = [
    {"name": "dine-in", "title": "Dine in", "largest_party": 8},
    {"name": "takeout", "title": "Takeout", "largest_party": 4},
]


@dataclass(frozen=True, slots=True)
class Diner:
    """A store, and its host, who has no browser."""

    id: str
    key: str
    page: str
    http: httpx2.AsyncClient

    async def join(self, name: str | None = None, size: int = 2, **more: Any) -> str:
        """Make a party without a browser join; return the address of its place."""
        body = {"type": "dine-in", "size": size, "name": name, **more}
        answer = await self.http.post(f"/v1/stores/{self.id}/parties", json=body)
        answer.raise_for_status()
        return f"{self.page}/p/{answer.json()['token']}"

    async def code(self) -> str:
        """Return the poster's code, which proves that a guest is there."""
        answer = await self.http.get(f"/v1/stores/{self.id}/on-site-code")
        return str(answer.raise_for_status().json()["code"])

    async def parties(self, **query: Any) -> list[dict[str, Any]]:
        """Return the line as hosts see it."""
        answer = await self.http.get(f"/v1/stores/{self.id}/line", params=query)
        answer.raise_for_status()
        parties: list[dict[str, Any]] = answer.json()["parties"]
        return parties

    async def statuses(self) -> dict[str, str]:
        """Return who is in line, by name."""
        return {party["name"]: party["status"] for party in await self.parties()}

    async def do(self, act: str, name: str, **body: Any) -> None:
        """Do something to the party with a name, in line or gone."""
        gone = await self.parties(status=["CANCELLED", "NO_SHOW", "SEATED"])
        match = next(party for party in [*await self.parties(), *gone] if party["name"] == name)
        url = f"/v1/stores/{self.id}/line/{match['id']}/{act}"
        (await self.http.post(url, json=body)).raise_for_status()

    async def change(self, **fields: Any) -> None:
        """Change the store."""
        (await self.http.patch(f"/v1/stores/{self.id}", json=fields)).raise_for_status()


async def open_diner(base: str, **fields: Any) -> Diner:
    """Make a store for this test only."""
    http = httpx2.AsyncClient(base_url=base, headers=ADMIN, timeout=60)
    name = f"t-{secrets.token_hex(5)}"
    body = {
        "id": name,
        "title": "Han River Noodles",
        "types": TYPES,
        "joins_per_hour": None,
        "time_zone": noon_zone(),
        **fields,
    }
    (await http.post("/v1/stores", json=body)).raise_for_status()
    made = await http.post(f"/v1/stores/{name}/hosts", json={"name": "front tablet"})
    return Diner(name, made.json()["key"], f"{base}/desk/{name}", http)


async def sign_in(page: Page, diner: Diner) -> None:
    """Sign in to the console."""
    await page.goto(f"{diner.page}/host/sign-in")
    await page.fill("#key", diner.key)
    await page.locator("form.join button").click()
    await expect(page).to_have_url(f"{diner.page}/host")
    await page.wait_for_load_state()  # before that its script takes no keys


async def serious(page: Page) -> list[str]:
    """Return what keeps people from using a page in either theme, according to axe-core."""
    violations = (await Axe().run(page)).response["violations"]
    await page.emulate_media(color_scheme="dark")  # only the colours differ
    dark = await Axe().run(page, options={"runOnly": ["color-contrast"]})
    await page.emulate_media(color_scheme="light")
    return [
        f"{violation['id']}: {violation['nodes'][0]['html']}"
        for violation in [*violations, *dark.response["violations"]]
        if violation["impact"] in SERIOUS
    ]


async def too_wide(page: Page) -> bool:
    """Tell whether a page needs horizontal scrolling."""
    wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    return bool(await page.evaluate(wide))
