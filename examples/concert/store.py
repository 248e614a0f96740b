"""The database: SQLite in one file, with reliable transactions.

Python's driver begins transactions late, and a transaction that has read and then wants to write
can fail in SQLite if another one wrote in between. So we begin them ourselves. `writing()` takes
the only write lock first (BEGIN IMMEDIATE): between its first read and its last change nobody else
changes anything. `reading()` sees one moment and waits for nobody (WAL).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.orm import Session

from .tables import Base

_BUSY_S = 10
_SETTINGS = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")


class Store:
    """Opens the file, creates the tables if there are none, and provides sessions."""

    def __init__(self, path: Path) -> None:
        self._engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": _BUSY_S})
        event.listen(self._engine, "connect", _prepare)
        event.listen(self._engine, "begin", _begin)
        self._writer = self._engine.execution_options(writes=True)
        with self._writer.begin() as connection:  # several processes may start at once
            Base.metadata.create_all(connection)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Read a snapshot."""
        with Session(self._engine) as session, session.begin():
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Change things exclusively; an exception rolls everything back."""
        with Session(self._writer) as session, session.begin():
            yield session

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def _prepare(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # the driver begins no transactions by itself
    for setting in _SETTINGS:
        connection.execute(f"PRAGMA {setting}").close()


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
