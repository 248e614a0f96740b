"""A hall with a clock that stands still until a test moves it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from examples.concert.app import Site, ungated
from examples.concert.booking import Booking
from examples.concert.programme import announce
from examples.concert.store import Store


@dataclass
class Clock:
    """The time, as a test wants it."""

    ms: int = 1_800_000_000_000

    def __call__(self) -> int:
        """Return the time."""
        return self.ms

    def pass_s(self, seconds: float) -> None:
        """Pass time."""
        self.ms += int(seconds * 1000)


@pytest.fixture
def clock() -> Clock:
    """Return a clock."""
    return Clock()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Open a hall with one concert, two dates and twenty seats each."""
    made = Store(tmp_path / "concert.db")
    announce(made, concerts=1, rows="AB")
    yield made
    made.close()


@pytest.fixture
def desk(store: Store, clock: Clock) -> Booking:
    """Return the desk: a seat is held for 180 s, and paid within another 120 s."""
    return Booking(store, clock, hold_s=180, pay_s=120)


@pytest.fixture
async def visitor(tmp_path: Path, clock: Clock) -> AsyncIterator[httpx2.AsyncClient]:
    """Return somebody on the site, which has no gate here."""
    app = ungated(Site(database=tmp_path / "site.db", hold_s=180, pay_s=120), clock)
    transport = httpx2.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://hall.test") as client,
    ):
        yield client
