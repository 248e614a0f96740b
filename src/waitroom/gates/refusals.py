"""What a program is told when the room gives the gate no place for it. Pure.

There are three kinds of refusal. Some are final: it is of no use to come again. Some only the
program can answer: what a challenge or an invitation asks for is not the gate's to give, so it
names the address where the program joins by itself. All others pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from waitroom.errors import (
    Banned,
    ChallengeRequired,
    CodeRequired,
    EnteredBefore,
    IdentityRequired,
    RoomEnded,
)
from waitroom.gates import answers
from waitroom.gates.answers import Answer
from waitroom.web.names import TICKET_HEADER

_FINAL = (RoomEnded.code, EnteredBefore.code, IdentityRequired.code, Banned.code)
_BY_THEMSELVES = {
    ChallengeRequired.code: "this room asks newcomers for a solved challenge",
    CodeRequired.code: "this room is for invited people, who join with an entry code",
}
_NEXT = f"join at the address `join`, then send this again with the ticket as `{TICKET_HEADER}`"
_NOT_YET = ("busy", "slow")
"""Codes of a Waitroom that is there and has no answer yet."""


def asks_for_more(view: Mapping[str, Any]) -> bool:
    """Tell whether a refused program can still join by itself."""
    return view.get("code") in _BY_THEMSELVES


def refused(
    status: int, view: Mapping[str, Any], extra: dict[str, str], retry_after: str | None
) -> Answer:
    """Answer a program by what Waitroom said to the gate: the status, and the problem in `view`."""
    code = str(view.get("code") or "refused")
    if "request_id" in view:  # by which Waitroom's log knows it
        extra = extra | {"request_id": str(view["request_id"])}
    after_s = int(retry_after or answers.RETRY_AFTER_S)
    if code in _BY_THEMSELVES:
        detail = f"{_BY_THEMSELVES[code]}: {_NEXT}"
        return answers.problem(429, code, detail, extra, retry_after_s=after_s)
    detail = str(view.get("detail") or "the waiting room refuses; try again")
    if code in _FINAL:
        return answers.problem(403, code, detail, extra)
    is_soon = status == 429 or code in _NOT_YET
    return answers.problem(429 if is_soon else 503, code, detail, extra, retry_after_s=after_s)
