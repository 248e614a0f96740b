"""Records what is sent to a database, statement by statement."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine


@contextmanager
def statements(engine: AsyncEngine) -> Iterator[list[str]]:
    """Record every statement that is sent to a database."""
    noted: list[str] = []

    def note(_: object, __: object, statement: str, *___: object) -> None:
        noted.append(statement)

    event.listen(engine.sync_engine, "before_cursor_execute", note)
    try:
        yield noted
    finally:
        event.remove(engine.sync_engine, "before_cursor_execute", note)
