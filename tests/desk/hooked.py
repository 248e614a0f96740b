"""Desks with webhooks, for tests: in real time, because webhooks are sent in real time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

from sqlalchemy import select

from tests.desk.receivers import Receiver, receiving
from tests.support.clock import SECRET as RING
from tests.support.clock import open_engine
from waitroom.desk.desk import Desk
from waitroom.desk.inputs import Wish
from waitroom.desk.models import Party, Store, WaitingType
from waitroom.desk.notify.loops import Notifier
from waitroom.desk.record.database import Database
from waitroom.desk.record.record import Record
from waitroom.desk.record.tables import notices as table
from waitroom.tickets import KeyRing

LINE = "dine-in"
SECRET = "whs_only-for-tests"
PHONE = "010-1234-5678"


@asynccontextmanager
async def desk_on(database: Database, url: str) -> AsyncIterator[Desk]:
    """Open a desk as another process would."""
    async with (
        open_engine(url) as engine,
        aclosing(Desk(Record(database), engine, KeyRing([RING]))) as desk,
    ):
        yield desk


async def add_store(desk: Desk, name: str, url: str | None) -> Store:
    """Add a store with a webhook."""
    types = (WaitingType(name=LINE, title="Dine in"),)
    return await desk.record.add_store(
        Store(id=name, title="국수", types=types, webhook_url=url, webhook_secret=SECRET)
    )


def notifying(desk: Desk, **options: Any) -> Notifier:
    """Return the loops that notify the guests of a desk."""
    return Notifier(desk.record, desk.engine, desk.token, **options)


@asynccontextmanager
async def hooked(
    desk: Desk, name: str, receiver: Receiver | None = None, **options: Any
) -> AsyncIterator[tuple[Store, Receiver]]:
    """Open a store whose guests are notified by this process."""
    async with receiving(receiver) as made:
        store = await add_store(desk, name, made.url)
        async with notifying(desk, **options):
            yield store, made


async def join(desk: Desk, store: Store) -> Party:
    """Make a party join."""
    wish = Wish(size=3, name="Sora", phone=PHONE)
    # All parties have the same phone, which notices are compared with; only a host may do that.
    return (await desk.join(store.id, LINE, wish, force=True))[0]


async def rows(database: Database) -> list[Any]:
    """Return the whole outbox."""
    async with database.look() as connection:
        return list(await connection.execute(select(table).order_by(table.c.id)))


async def until(true: Callable[[], Awaitable[bool]], within_s: float = 60) -> None:
    """Wait until something is true."""
    async with asyncio.timeout(within_s):
        while not await true():  # noqa: ASYNC110 - a database has no event
            await asyncio.sleep(0.02)


async def settled(database: Database, count: int) -> list[Any]:
    """Wait until this many notices exist and none of them is still to be sent."""

    async def done() -> bool:
        notices = await rows(database)
        return len(notices) == count and all(notice.state != "waiting" for notice in notices)

    await until(done)
    return await rows(database)
