"""What visitors send, declared once: the bodies of a join and a defer."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

LONGEST_VISITOR = 1_000
_Visitor = Annotated[str, Meta(min_length=1, max_length=LONGEST_VISITOR)]
_WHO = Meta(description="Who it is, so that one person has one place. Needs an API key.")
_ENTER = Meta(description="Go inside in the same request if there is room.")
_PLACES = Meta(extra_json_schema={"minimum": 1, "maximum": 1_000_000, "examples": [10]})


class JoinBody(Struct, forbid_unknown_fields=True):
    """Who joins, and how."""

    visitor: Annotated[_Visitor | None, _WHO] = None
    enter: Annotated[bool, _ENTER] = False


class DeferBody(Struct, forbid_unknown_fields=True):
    """How far back."""

    # A whole number, but `3.0` is whole in JSON too. The engine says what is too many.
    places: Annotated[float, _PLACES]
