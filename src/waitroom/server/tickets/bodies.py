"""What visitors send: the bodies of a join and a defer."""

from __future__ import annotations

from typing import Annotated

import msgspec

LONGEST_VISITOR = 1_000


class JoinBody(msgspec.Struct, forbid_unknown_fields=True):
    """Who joins, and how."""

    visitor: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_VISITOR)] | None = None
    enter: bool = False


class DeferBody(msgspec.Struct, forbid_unknown_fields=True):
    """How far back."""

    places: float  # a whole one, but `3.0` is whole in JSON
