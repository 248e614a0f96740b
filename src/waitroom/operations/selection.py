"""Choose tickets by state and age, page by page: to list them, and to remove them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from waitroom.engine import Engine
from waitroom.models import MEMBERS_PER_SCRIPT, Page, State


@dataclass(frozen=True, slots=True)
class Selection:
    """Which tickets are meant: a state and, for waiting ones, a range of ages."""

    state: State
    older_ms: int | None = None
    newer_ms: int | None = None

    @property
    def by_age(self) -> bool:
        """Whether an age was given."""
        return self.older_ms is not None or self.newer_ms is not None

    def arrived(self, now_ms: int) -> tuple[int | None, int | None]:
        """Return the range of arrival times: unlike an age, it stays the same."""
        since = None if self.newer_ms is None else now_ms - self.newer_ms
        until = None if self.older_ms is None else now_ms - self.older_ms
        return since, until


async def pages(
    engine: Engine,
    room: str,
    selection: Selection,
    now_ms: int,
    *,
    after: str | None = None,
    most: int | None = None,
) -> AsyncIterator[Page]:
    """Yield pages of at most `most` tickets in all; ages count from `now_ms`."""
    since, until = selection.arrived(now_ms)
    left = most
    while left is None or left > 0:
        limit = MEMBERS_PER_SCRIPT if left is None else min(left, MEMBERS_PER_SCRIPT)
        page = await engine.list(
            room, selection.state, after=after, limit=limit, since_ms=since, until_ms=until
        )
        yield page
        after = page.after
        if after is None:
            return
        left = None if left is None else left - len(page.tickets)
