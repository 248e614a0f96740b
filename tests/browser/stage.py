"""What browser tests need beside a browser: rooms, people ahead, an operator's actions."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any

import httpx2
from playwright.async_api import Locator, Page

from tests.support.serving import ADMIN

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SOON_MS = 90_000
"""The longest that a test waits for something on a page; it stops as soon as it appears."""

PHONE = {"width": 390, "height": 844}
WALL = {"width": 1920, "height": 1080}
IMAGES = Path(__file__).parents[2] / "docs" / "images"
LARGEST_IMAGE = 100_000
TAKING_PICTURES = os.environ.get("WAITROOM_SCREENSHOTS") == "1"
"""Whether `make pictures` runs this."""


class Stage:
    """A running server and an operator who acts on it."""

    def __init__(self, base: str) -> None:
        self.base = base
        self._http = httpx2.AsyncClient(base_url=base, headers=ADMIN, timeout=60)

    async def aclose(self) -> None:
        """Close the operator's connections."""
        await self._http.aclose()

    async def room(self, **policy: Any) -> str:
        """Make a room in which the operator admits by hand, unless `policy` differs.

        People without a browser never poll: they keep their places, however long a test takes.
        """
        name = f"t-{secrets.token_hex(6)}"
        usual = {
            "mode": "manual",
            "title": "Aurora Live",
            "presence_s": 3_600,
            "enter_within_s": 600,
        }
        body = {"name": name, "policy": usual | policy}
        (await self._http.post("/v1/admin/rooms", json=body)).raise_for_status()
        return name

    async def change(self, room: str, **policy: Any) -> None:
        """Change fields of a room's policy."""
        answer = await self._http.patch(f"/v1/admin/rooms/{room}", json={"policy": policy})
        answer.raise_for_status()

    async def policy(self, room: str) -> dict[str, Any]:
        """Return the policy of a room."""
        answer = await self._http.get(f"/v1/admin/rooms/{room}")
        answer.raise_for_status()
        policy: dict[str, Any] = answer.json()["policy"]
        return policy

    async def join(self, room: str, people: int) -> list[str]:
        """Make people without a browser join; return their tickets."""
        tickets = []
        for _ in range(people):
            answer = await self._http.post(f"/v1/rooms/{room}/tickets")
            answer.raise_for_status()
            tickets.append(answer.json()["ticket"])
        return tickets

    async def leave(self, room: str, *tickets: str) -> None:
        """Make people leave."""
        for ticket in tickets:
            answer = await self._http.delete(f"/v1/rooms/{room}/tickets/{ticket}")
            answer.raise_for_status()

    async def enter(self, room: str, ticket: str) -> bool:
        """Make somebody who was called go inside; return whether they may."""
        answer = await self._http.post(f"/v1/rooms/{room}/tickets/{ticket}/enter")
        return answer.is_success

    async def admit(self, room: str, count: int) -> None:
        """Call the first people."""
        answer = await self._http.post(f"/v1/admin/rooms/{room}/admit", json={"count": count})
        answer.raise_for_status()

    async def kick(self, room: str, ticket_ids: list[str]) -> None:
        """Remove people."""
        wish = {"ticket_ids": ticket_ids}
        (await self._http.post(f"/v1/admin/rooms/{room}/kick", json=wish)).raise_for_status()

    async def clear(self, room: str) -> None:
        """Empty the room."""
        answer = await self._http.post(f"/v1/admin/rooms/{room}/clear", json={"confirm": room})
        answer.raise_for_status()

    async def view(self, room: str) -> dict[str, Any]:
        """Return what everybody may see of a room, as the server knows it at the moment."""
        answer = await self._http.get(f"/v1/rooms/{room}")
        answer.raise_for_status()
        body: dict[str, Any] = answer.json()
        return body

    async def stats(self, room: str) -> dict[str, Any]:
        """Return the room's counts."""
        answer = await self._http.get(f"/v1/admin/rooms/{room}/stats")
        answer.raise_for_status()
        body: dict[str, Any] = answer.json()
        return body

    async def tickets(self, room: str, **query: str) -> list[dict[str, Any]]:
        """Return who is in the room, as operators see them."""
        answer = await self._http.get(f"/v1/admin/rooms/{room}/tickets", params=query)
        answer.raise_for_status()
        lines: list[dict[str, Any]] = answer.json()["tickets"]
        return lines

    async def key(self, name: str, role: str) -> None:
        """Make an API key."""
        answer = await self._http.post("/v1/admin/keys", json={"name": name, "role": role})
        answer.raise_for_status()

    async def codes(self, room: str, count: int, uses: int = 1) -> list[str]:
        """Make entry codes for a room."""
        body = {"count": count, "uses": uses}
        answer = await self._http.post(f"/v1/admin/rooms/{room}/codes", json=body)
        answer.raise_for_status()
        codes: list[str] = answer.json()["codes"]
        return codes

    def page_of(self, room: str) -> str:
        """Return the address of a room's page."""
        return f"{self.base}/rooms/{room}"


async def text(page: Page, part: str) -> str:
    """Return the text of a part of the waiting page."""
    return (await page.text_content(f"[data-x={part}]") or "").strip()


async def heading(page: Page) -> str:
    """Return the heading of the state that is shown."""
    return (await page.text_content("[data-face]:not([hidden]) :is(h1, h2)") or "").strip()


async def tab_to(page: Page, part: Locator) -> None:
    """Press Tab until a part has the focus, as somebody without a mouse would."""
    for _ in range(150):
        await page.keyboard.press("Tab")
        if await part.evaluate("part => part === document.activeElement"):
            return
    raise AssertionError(f"{part} cannot be reached")


async def picture(page: Page, name: str) -> None:
    """Save a screenshot for the docs, if `make pictures` runs this."""
    if not TAKING_PICTURES:
        return
    IMAGES.mkdir(exist_ok=True)
    path = IMAGES / f"{name}.png"
    await page.screenshot(path=path)
    assert LARGEST_IMAGE >= path.stat().st_size, f"{path} is too large for the docs"
