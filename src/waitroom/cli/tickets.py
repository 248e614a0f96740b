"""Choosing tickets by state and age, page by page: what `list` and `kick` share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated

import typer

from waitroom.cli.text import read_age
from waitroom.engine import Engine
from waitroom.errors import InvalidInput
from waitroom.models import MEMBERS_PER_SCRIPT, Page, State

ID_LENGTH = 16
LISTED = (State.WAITING, State.CALLED, State.INSIDE)
OlderThan = Annotated[
    str | None,
    typer.Option(metavar="AGE", help="Only who has waited longer than this, like 10m."),
]
NewerThan = Annotated[
    str | None,
    typer.Option(metavar="AGE", help="Only who has waited less than this, like 10m."),
]


@dataclass(frozen=True, slots=True)
class Choice:
    """Who is meant: a state and, for those waiting, between which ages."""

    state: State
    older_ms: int | None = None
    newer_ms: int | None = None

    @property
    def by_age(self) -> bool:
        """Whether an age was given."""
        return self.older_ms is not None or self.newer_ms is not None

    def arrived(self, now_ms: int) -> tuple[int | None, int | None]:
        """Return from when to when they arrived: unlike their age, it stays the same."""
        since = None if self.newer_ms is None else now_ms - self.newer_ms
        until = None if self.older_ms is None else now_ms - self.older_ms
        return since, until


def check_id(word: str) -> str:
    """Return a ticket's id; what begins with a dash may also be a mistyped option."""
    if word.startswith("-") and len(word) != ID_LENGTH:
        raise InvalidInput("id", f"{word!r:.40} is neither an option nor an id, see --help")
    return word


def choose(state: str, older_than: str | None, newer_than: str | None) -> Choice:
    """Read the options; only those waiting have an age."""
    if state not in LISTED:
        raise InvalidInput("state", f"{state!r:.40} is not one of {', '.join(LISTED)}")
    older, newer = read_age("older-than", older_than), read_age("newer-than", newer_than)
    if state != State.WAITING and (older is not None or newer is not None):
        field = "older-than" if older is not None else "newer-than"
        raise InvalidInput(field, f"ages are known of waiting people only, not of those {state}")
    if older is not None and newer is not None and older >= newer:
        raise InvalidInput("older-than", "must be less than --newer-than, or nobody is meant")
    return Choice(State(state), older, newer)


async def pages(
    engine: Engine,
    room: str,
    choice: Choice,
    now_ms: int,
    *,
    after: str | None = None,
    most: int | None = None,
) -> AsyncIterator[Page]:
    """Yield pages of at most `most` tickets in all; ages count from `now_ms`."""
    since, until = choice.arrived(now_ms)
    left = most
    while left is None or left > 0:
        limit = MEMBERS_PER_SCRIPT if left is None else min(left, MEMBERS_PER_SCRIPT)
        page = await engine.list(
            room, choice.state, after=after, limit=limit, since_ms=since, until_ms=until
        )
        yield page
        after = page.after
        if after is None:
            return
        left = None if left is None else left - len(page.tickets)
