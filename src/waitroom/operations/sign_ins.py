"""Sign-ins to pages: they change nothing, so they are kept apart from what people do."""

from __future__ import annotations

from waitroom.engine.audit import SIGN_IN
from waitroom.operations.trail import Trail


async def note(trail: Trail, store: str | None = None) -> None:
    """Record that somebody signed in: to the operator page, or to the console of a store."""
    await trail.record(SIGN_IN, **({} if store is None else {"store": store}))
