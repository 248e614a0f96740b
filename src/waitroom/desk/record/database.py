"""The desk's database: SQLite in the data folder, or PostgreSQL by its URL.

`change()` is a transaction that may write, `look()` one that reads. On SQLite a change takes the
one write lock at its beginning (`BEGIN IMMEDIATE`), so that nothing it reads can change meanwhile;
on PostgreSQL it locks the row of a line (see `lines`).
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, event, exc, make_url
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool

from waitroom.desk.record import migrate
from waitroom.errors import InvalidInput, RecordUnavailable

FILE = "desk.db"
BUSY_S = 15
"""How long a process waits for another process's write."""

_BUSY = f"busy_timeout={BUSY_S * 1000}"
_WRITES = "waitroom_writes"
_AWAY = (OSError, exc.TimeoutError, exc.OperationalError, exc.InterfaceError)
_SYNC = ("postgres", "postgresql", "postgresql+asyncpg")


class Database:
    """An open database; `open_database` makes one."""

    def __init__(self, engine: AsyncEngine) -> None:
        self.engine = engine
        self.sqlite = engine.dialect.name == "sqlite"
        # SQLite has one writer at a time. Writers of this process wait here in order, instead of
        # asking again and again for the lock of the file.
        self._writing = asyncio.Lock()
        self._given_back: set[asyncio.Task[None]] = set()

    async def aclose(self) -> None:
        """Close all connections."""
        await asyncio.gather(*self._given_back)
        await self.engine.dispose()

    @asynccontextmanager
    async def change(self) -> AsyncIterator[AsyncConnection]:
        """Begin a transaction that may write: all of it is kept at the end, or nothing."""
        if not self.sqlite:
            async with self._begin(writes=True) as connection:
                yield connection
            return
        async with self._writing, self._begin(writes=True) as connection:
            yield connection

    @asynccontextmanager
    async def look(self) -> AsyncIterator[AsyncConnection]:
        """Begin a transaction that only reads."""
        async with self._begin(writes=False) as connection:
            yield connection

    async def tidy(self) -> None:
        """Remove erased data from SQLite's log too, as far as nobody is reading it."""
        if not self.sqlite:
            return
        with _as_unavailable():
            async with self._writing, self._connected() as connection:
                await connection.execution_options(**{_WRITES: None})
                # Joins must not wait long for this; it is tried again later.
                for pragma in ("busy_timeout=300", "wal_checkpoint(TRUNCATE)", _BUSY):
                    await connection.exec_driver_sql(f"PRAGMA {pragma}")

    @asynccontextmanager
    async def _begin(self, *, writes: bool) -> AsyncIterator[AsyncConnection]:
        with _as_unavailable():
            async with self._connected() as connection:
                await connection.execution_options(**{_WRITES: writes})
                async with connection.begin():
                    yield connection

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[AsyncConnection]:
        """Take a connection.

        SQLAlchemy loses one that is being opened when its caller is cancelled, so it is opened by
        a task of its own, and given back once it is there.
        """
        opening = asyncio.ensure_future(self.engine.connect().start())
        try:
            connection = await asyncio.shield(opening)
        except asyncio.CancelledError:
            task = asyncio.ensure_future(_give_back(opening))
            self._given_back.add(task)
            task.add_done_callback(self._given_back.discard)
            raise
        try:
            yield connection
        finally:
            await asyncio.shield(connection.close())


@asynccontextmanager
async def open_database(url: str | None, data_dir: Path) -> AsyncIterator[Database]:
    """Open the database that the settings name, and bring its tables up to date."""
    where = _url(url, data_dir)
    if where.get_backend_name() == "sqlite":
        await asyncio.to_thread(_make_file, Path(where.database or ""))
    database = Database(_engine(where))
    try:
        await _upgrade(database)
        yield database
    finally:
        await database.aclose()


async def _give_back(opening: asyncio.Future[AsyncConnection]) -> None:
    with suppress(*_AWAY, exc.DBAPIError):
        await (await opening).close()


async def _upgrade(database: Database) -> None:
    try:
        async with database.change() as connection:
            await connection.run_sync(migrate.upgrade)
    except (RecordUnavailable, exc.DBAPIError) as error:
        # The operator who starts the server must see why, like a wrong password.
        why = getattr(error.__cause__ or error, "orig", None) or error.__cause__
        raise RecordUnavailable(f"the desk's database cannot be opened: {why}") from error


def _url(text: str | None, data_dir: Path) -> URL:
    if text is None:
        return URL.create("sqlite+aiosqlite", database=str((data_dir / FILE).absolute()))
    remedy = "takes an address like postgresql://user:password@host/name, or none for SQLite"
    try:
        url = make_url(text)
    except exc.ArgumentError:
        # Not from the error: it would repeat the password.
        raise InvalidInput("desk_database", remedy) from None
    if url.drivername in ("sqlite", "sqlite+aiosqlite") and url.database not in (None, ":memory:"):
        return url.set(drivername="sqlite+aiosqlite")
    if url.drivername not in _SYNC or not url.database:
        raise InvalidInput("desk_database", remedy)
    # asyncpg calls libpq's `sslmode` `ssl`; the values are the same.
    query = {("ssl" if name == "sslmode" else name): value for name, value in url.query.items()}
    return url.set(drivername="postgresql+asyncpg", query=query)


def _engine(url: URL) -> AsyncEngine:
    # Parameters hold names and phones of guests: they must not show up in errors and logs.
    logging.getLogger("aiosqlite").setLevel(logging.WARNING)
    if url.get_backend_name() == "sqlite":
        engine = create_async_engine(
            url,
            hide_parameters=True,
            poolclass=AsyncAdaptedQueuePool,
            pool_size=5,
            max_overflow=15,
            pool_timeout=BUSY_S,
        )
        event.listen(engine.sync_engine, "connect", _prepare)
        event.listen(engine.sync_engine, "begin", _begin_sqlite)
        event.listen(engine.sync_engine, "invalidate", _roll_back)
        return engine
    try:
        return create_async_engine(
            url,
            hide_parameters=True,
            isolation_level="READ COMMITTED",
            pool_size=5,
            max_overflow=15,
            pool_pre_ping=True,
            pool_timeout=BUSY_S,
            connect_args={"timeout": 10, "command_timeout": BUSY_S * 2},
        )
    except ModuleNotFoundError:
        raise InvalidInput(
            "desk_database", "PostgreSQL needs asyncpg: pip install 'waitroom[postgres]'"
        ) from None


def _make_file(path: Path) -> None:
    """Make the file readable only by its owner, and switch it to a write-ahead log."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        with closing(sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)) as connection:
            _switch_to_wal(connection)
    except (OSError, sqlite3.Error) as error:
        raise InvalidInput("desk_database", f"{path} cannot be used: {error}") from None


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    deadline = time.monotonic() + BUSY_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError:
            # If two processes switch at once, SQLite may fail without waiting.
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _prepare(connection: Any, _: Any) -> None:
    # The driver must not begin transactions: it would begin at the first write, which is too late.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (
        _BUSY,
        "foreign_keys=ON",
        # Commits survive a loss of power.
        "synchronous=FULL",
        # Erased data is gone from the file too.
        "secure_delete=ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, True)
    if writes is not None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _roll_back(connection: Any, *_: Any) -> None:
    """End the transaction of a connection whose caller was cancelled.

    Closing it is not enough: while a cursor still holds a statement, SQLite keeps a closed
    connection as it is, with its lock on all writes.
    """
    with suppress(exc.SQLAlchemyError, sqlite3.Error, ValueError):
        connection.rollback()


@contextmanager
def _as_unavailable() -> Iterator[None]:
    try:
        yield
    except _AWAY as error:
        raise _unavailable() from error
    except exc.DBAPIError as error:
        if not error.connection_invalidated:
            raise
        raise _unavailable() from error


def _unavailable() -> RecordUnavailable:
    return RecordUnavailable(
        "the desk's database cannot be used at the moment; nothing was written"
    )
