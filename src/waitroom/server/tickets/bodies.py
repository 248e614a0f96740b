"""What visitors send, declared once: the bodies of a join and a defer."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

LONGEST_VISITOR = 1_000
_Visitor = Annotated[str, Meta(min_length=1, max_length=LONGEST_VISITOR)]
_WHO = Meta(description="Who it is, so that one person has one place. Needs an API key.")
_ENTER = Meta(description="Go inside in the same request if there is room.")
_PLACES = Meta(extra_json_schema={"minimum": 1, "maximum": 1_000_000, "examples": [10]})


_LONGEST_PROOF = 4_096
_Proof = Annotated[str, Meta(min_length=1, max_length=_LONGEST_PROOF)]
_SOLUTION = Meta(description="The solution of the challenge in a problem `challenge_required`.")
_TOKEN = Meta(description="What the widget of a siteverify service gave.")
_CLAIM = Meta(description="A gate's word about who this is, at most a minute old.")
_CODE = Meta(description="An entry code. Needs an `Idempotency-Key`.")


class JoinBody(Struct, forbid_unknown_fields=True):
    """Who joins, and how."""

    visitor: Annotated[_Visitor | None, _WHO] = None
    enter: Annotated[bool, _ENTER] = False
    solution: Annotated[_Proof | None, _SOLUTION] = None
    token: Annotated[_Proof | None, _TOKEN] = None
    claim: Annotated[_Proof | None, _CLAIM] = None
    code: Annotated[_Proof | None, _CODE] = None


class DeferBody(Struct, forbid_unknown_fields=True):
    """How far back."""

    # A whole number, but `3.0` is whole in JSON too. The engine says what is too many.
    places: Annotated[float, _PLACES]
