"""A crowd that books: `python -m concert.crowd http://127.0.0.1:8081 25` keeps 25 people coming.

Each of them is a program that knows only the site. The gate tells them to wait and when to ask
again. Once inside they look around, most buy a seat, and everybody who is done makes room.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import secrets
import sys
from dataclasses import dataclass
from typing import Any

import httpx2

CARD = "4242 4242 4242 4242"
_JSON = {"accept": "application/json"}
_NAMES = ("Kim", "Lee", "Park", "Choi", "Jung", "Garcia", "Smith", "Sato", "Nguyen", "Rossi")


@dataclass(frozen=True, slots=True)
class Habits:
    """How people behave: `buys` is the share of them who buy, if enough seats are free."""

    think_s: tuple[float, float] = (0.8, 3.0)
    buys: float = 0.6
    leaves_free: int = 30
    """They leave some seats of each date free for people who try the demo later."""


class Waiting(Exception):
    """The gate says: not yet, or no longer."""

    def __init__(self, retry_s: float) -> None:
        self.retry_s = retry_s


class Shared(httpx2.AsyncBaseTransport):
    """Connections that many clients share, each with its own cookies."""

    def __init__(self, connections: int = 100) -> None:
        # Shorter than servers keep an idle connection (uvicorn: 5 s), or one may be closed just
        # when the next request is on its way.
        limits = httpx2.Limits(max_connections=connections, keepalive_expiry=2)
        self._real = httpx2.AsyncHTTPTransport(verify=False, limits=limits)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request."""
        return await self._real.handle_async_request(request)

    async def close(self) -> None:
        """Close the connections, which a client's own `aclose` leaves open."""
        await self._real.aclose()


class Person:
    """Somebody with a browser's cookies and a program's patience."""

    def __init__(self, site: str, transport: Shared, habits: Habits) -> None:
        # With an idempotency key, a retry after a lost reply does not take a second place.
        headers = _JSON | {"waitroom-key": secrets.token_urlsafe(16)}
        self.http = httpx2.AsyncClient(
            base_url=site, transport=transport, headers=headers, timeout=30
        )
        self._habits = habits

    async def visit(self) -> str:
        """Wait in line, look around, maybe buy; return the result."""
        concerts = await self._let_in()
        try:
            return await self._inside(concerts)
        except (
            Waiting,
            httpx2.HTTPError,
        ):  # the session ended, or the site is in trouble
            with contextlib.suppress(Waiting, httpx2.HTTPError):
                await self._ask("GET", "/goodbye")
            return "gave up"

    async def _let_in(self) -> Any:
        while True:
            try:
                return await self._ask("GET", "/api/concerts")
            except Waiting as wait:
                await asyncio.sleep(wait.retry_s * random.uniform(0.8, 1.1))

    async def _inside(self, concerts: Any) -> str:
        concert = random.choice(concerts)
        dates = await self._ask("GET", f"/api/concerts/{concert['id']}/dates")
        date = random.choice(dates)
        await self._think()
        seats = await self._ask("GET", f"/api/dates/{date['id']}/seats")
        free = [seat["id"] for seat in seats if seat["state"] == "free"]
        await self._think()
        if len(free) > self._habits.leaves_free and random.random() < self._habits.buys:
            for seat in random.sample(free, min(5, len(free))):
                hold = await self._ask("POST", f"/api/seats/{seat}/hold")
                if hold is not None:
                    return await self._buy(seat)
        await self._ask("GET", "/goodbye")
        return "left"

    async def _buy(self, seat: int) -> str:
        await self._think()
        wish = {"seat": seat, "name": random.choice(_NAMES)}
        made = await self._ask("POST", "/api/reservations", wish)
        if made is None:
            return "left"
        await self._think()
        order = made["reservation"]
        await self._ask("POST", f"/api/reservations/{order}/payment", {"card": CARD})
        await self._ask("GET", f"/orders/{order}")
        return "bought"

    async def _ask(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer; None if somebody was faster."""
        answer = await self.http.request(method, path, json=body)
        if answer.status_code in (429, 503):
            raise Waiting(float(answer.headers.get("retry-after", 1)))
        if answer.status_code == 409:
            return None
        answer.raise_for_status()
        return answer.json() if "json" in answer.headers["content-type"] else answer.text

    async def _think(self) -> None:
        await asyncio.sleep(random.uniform(*self._habits.think_s))


async def keep_coming(site: str, people: int) -> None:
    """Keep this many people on the site or in front of it, for ever."""
    transport, habits = Shared(), Habits()
    async with asyncio.TaskGroup() as crowd:
        for _ in range(people):
            crowd.create_task(_one_after_another(site, transport, habits))
            await asyncio.sleep(0.1)


async def _one_after_another(site: str, transport: Shared, habits: Habits) -> None:
    while True:
        with contextlib.suppress(httpx2.HTTPError):  # the site restarts; somebody else comes later
            await Person(site, transport, habits).visit()
        await asyncio.sleep(random.uniform(0, 1))


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(keep_coming(sys.argv[1], int(sys.argv[2])))
