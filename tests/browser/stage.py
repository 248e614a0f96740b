"""What browser tests need beside a browser: rooms, people ahead, an operator's hand."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any

import httpx
from playwright.async_api import Page

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
"""The longest that a test waits for what a page will show: it ends when it is there."""

PHONE = {"width": 390, "height": 844}
IMAGES = Path(__file__).parents[2] / "docs" / "images"
LARGEST_IMAGE = 100_000


class Stage:
    """A running server and an operator who acts on it."""

    def __init__(self, base: str) -> None:
        self.base = base
        self._http = httpx.AsyncClient(base_url=base, headers=ADMIN, timeout=60)

    async def aclose(self) -> None:
        """End the operator's connections."""
        await self._http.aclose()

    async def room(self, **policy: Any) -> str:
        """Make a room of its own, in which the operator admits by hand unless `policy` differs.

        People who have no browser never ask: they keep their places, however long a test takes.
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
        """Let people join who have no browser; return their tickets."""
        tickets = []
        for _ in range(people):
            answer = await self._http.post(f"/v1/rooms/{room}/tickets")
            answer.raise_for_status()
            tickets.append(answer.json()["ticket"])
        return tickets

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

    def page_of(self, room: str) -> str:
        """Return the address of a room's page."""
        return f"{self.base}/rooms/{room}"


async def text(page: Page, part: str) -> str:
    """Return what a part of the waiting page says."""
    return (await page.text_content(f"[data-x={part}]") or "").strip()


async def heading(page: Page) -> str:
    """Return the heading of the face that is shown."""
    return (await page.text_content("[data-face]:not([hidden]) :is(h1, h2)") or "").strip()


async def picture(page: Page, name: str) -> None:
    """Keep a screenshot for the docs, when they are being made."""
    if os.environ.get("WAITROOM_SCREENSHOTS") != "1":
        return
    IMAGES.mkdir(exist_ok=True)
    path = IMAGES / f"{name}.png"
    await page.screenshot(path=path)
    assert LARGEST_IMAGE >= path.stat().st_size, f"{path} is too large for the docs"
