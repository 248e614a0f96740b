"""What engine tests share: a clock that the test moves, engines on it, crowds of visitors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from waitroom.engine import Engine, keys
from waitroom.models import TicketView
from waitroom.tickets import KeyRing

SECRET = b"a secret of the tests, 32 bytes+"
START_US = 1_800_000_000_000_000


BAD_TICKETS: list[Any] = ["", "x", "x" * 257, "x" * 1_000_000, "\x00\xff", "대기열", b"x", None, 7]


class Nobody:
    """A client that must not be used, for what is refused before the server is asked."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the server was asked: {name}")


class Clock:
    """The time that is passed to every script, in µs."""

    def __init__(self, now_us: int = START_US) -> None:
        self.now_us = now_us

    def __call__(self) -> int:
        """Return the time in µs."""
        return self.now_us

    @property
    def now_ms(self) -> int:
        """The time in ms, as in replies."""
        return self.now_us // 1000

    def step(self, seconds: float) -> None:
        """Move the clock forward, or back."""
        self.now_us += round(seconds * 1e6)


@asynccontextmanager
async def open_engine(
    url: str, clock: Callable[[], int] | None = None, **options: Any
) -> AsyncIterator[Engine]:
    """Connect an engine; to the server it looks like one more process."""
    engine = await Engine.connect(url, Path("/nowhere"), KeyRing([SECRET]), clock=clock, **options)
    async with engine:
        yield engine


async def crowd(engine: Engine, room: str, people: int) -> list[TicketView]:
    """Make people join one after another, in the order of the list."""
    return list(await asyncio.gather(*(engine.join(room) for _ in range(people))))


async def polled_rank(engine: Engine, room: str, ticket: str) -> int | None:
    """Poll a ticket, and return its position by a plain read: after a loss nobody is told it."""
    view = await engine.poll(room, ticket)
    rank = await engine.backend.client.zrank(keys.room_key(room, "waiting"), view.id)
    return None if rank is None else int(rank) + 1


async def advance_all(engine: Engine, room: str) -> int:
    """Advance until nothing more is due; return how many were called."""
    called = 0
    while True:
        done = await engine.advance(room)
        called += done.called
        if not done.more:
            return called


def noon_zone() -> str:
    """Return a time zone in which it is about noon: numbers start again at a store's midnight."""
    return f"Etc/GMT{datetime.now(UTC).hour - 12:+d}"  # their signs are the other way round
