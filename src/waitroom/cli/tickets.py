"""Options about tickets: what `list`, `admit`, `call` and `kick` share."""

from __future__ import annotations

from typing import Annotated

import typer

from waitroom.cli.command import option
from waitroom.cli.text import read_age
from waitroom.errors import InvalidInput
from waitroom.models import State
from waitroom.operations.selection import Selection

ID_LENGTH = 16
LISTED = (State.WAITING, State.CALLED, State.INSIDE)
OlderThan = Annotated[str | None, option("Only who has waited longer than this, like 10m.", "AGE")]
NewerThan = Annotated[str | None, option("Only who has waited less than this, like 10m.", "AGE")]
Force = Annotated[
    bool,
    typer.Option("--force", help="Even if paused, on hold, or above `capacity` and `max_entries`."),
]


def check_id(word: str) -> str:
    """Return a ticket's id; a word that begins with a dash may also be a mistyped option."""
    if word.startswith("-") and len(word) != ID_LENGTH:
        raise InvalidInput("id", f"{word!r:.40} is neither an option nor an id, see --help")
    return word


def choose(state: str, older_than: str | None, newer_than: str | None) -> Selection:
    """Read the options; only waiting people have an age."""
    if state not in LISTED:
        raise InvalidInput("state", f"{state!r:.40} is not one of {', '.join(LISTED)}")
    older, newer = read_age("older-than", older_than), read_age("newer-than", newer_than)
    if state != State.WAITING and (older is not None or newer is not None):
        field = "older-than" if older is not None else "newer-than"
        raise InvalidInput(field, f"ages are known of waiting people only, not of those {state}")
    if older is not None and newer is not None and older >= newer:
        raise InvalidInput("older-than", "must be less than --newer-than, or nobody is meant")
    return Selection(State(state), older, newer)
