"""Checks of the engine's arguments, made before the server is asked. Pure."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from typing import Any, TypeVar

from waitroom.errors import InvalidInput
from waitroom.models import MEMBERS_PER_SCRIPT

OP_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}", re.ASCII)
SETTLED_ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
TICKET_ID = re.compile(r"[A-Za-z0-9_-]{16}", re.ASCII)
SETTLED_STATES = ("waiting", "called", "finished", "left", "no_show")
MOST_PLACE = 9 * 10**15
"""A sorted set's score is exact up to here, with room for later places."""

_TURNOVER_LENGTH = 64
# A place or a rank; before the opening of a draw, a scan cursor with the last id of its step.
_CURSOR = re.compile(r"[0-9]{1,16}|[0-9]{1,20}~[A-Za-z0-9_-]{0,64}", re.ASCII)
STREAM_ID = re.compile(r"([0-9]{1,20})-([0-9]{1,20})", re.ASCII)


def op_id_of(given: str | None) -> str:
    """Return the caller's `op_id`, or a new one; it is checked because it becomes part of a key."""
    if given is None:
        return secrets.token_hex(8)
    if not isinstance(given, str) or not OP_ID.fullmatch(given):
        raise InvalidInput("op_id", "takes 1 to 64 letters, digits, '-', '_', '.' or ':'")
    return given


def check_count(field: str, value: int, most: int) -> None:
    """Refuse anything but a whole number from 1 to `most`."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InvalidInput(field, f"{value!r:.40} is not allowed; it takes 1 to {most}")


def check_cursor(field: str, given: str | None) -> None:
    """Refuse text that cannot be the cursor of a `list` page."""
    if given is not None and not _CURSOR.fullmatch(given):
        raise InvalidInput(field, "must be the cursor of an earlier page")


def stream_id(field: str, given: str) -> tuple[int, int]:
    """Return the two numbers of a stream entry's id."""
    match = STREAM_ID.fullmatch(given) if isinstance(given, str) else None
    numbers = (int(match[1]), int(match[2])) if match else (-1, -1)
    if not match or max(numbers) >= 2**64:
        raise InvalidInput(field, "must be the cursor of an earlier page")
    return numbers


def check_many(field: str, items: Sequence[Any]) -> None:
    """Refuse more items than one script may take."""
    if not 1 <= len(items) <= MEMBERS_PER_SCRIPT:
        raise InvalidInput(field, f"one call takes 1 to {MEMBERS_PER_SCRIPT}, not {len(items)}")


def check_session(session: tuple[str, int]) -> None:
    """Refuse a session that is not the id of a ticket and a session number."""
    ticket_id, sid = session
    if not isinstance(ticket_id, str):
        raise InvalidInput("ticket id", "must be the id of a ticket, as its pass says it")
    if isinstance(sid, bool) or not isinstance(sid, int) or not 0 <= sid < 2**63:
        raise InvalidInput("sid", f"{sid!r:.40} is not a session; give the number in its pass")


def check_settled(tickets: Sequence[tuple[str, str, int, int]], turnover: str) -> None:
    """Refuse invalid tickets, or an invalid turnover of their line."""
    if not isinstance(turnover, str) or len(turnover) > _TURNOVER_LENGTH or not turnover.isascii():
        raise InvalidInput("turnover", f"takes at most {_TURNOVER_LENGTH} ASCII characters")
    for ticket_id, state, place, revision in tickets:
        # The id becomes a word of an event, and events are split at blanks.
        if not isinstance(ticket_id, str) or not SETTLED_ID.fullmatch(ticket_id):
            raise InvalidInput("ticket id", "takes 1 to 64 letters, digits, '-' or '_'")
        if state not in SETTLED_STATES:
            raise InvalidInput("state", f"{state!r:.40} is not one of {', '.join(SETTLED_STATES)}")
        check_count("place", place, MOST_PLACE)
        if isinstance(revision, bool) or not isinstance(revision, int):
            raise InvalidInput("revision", f"{revision!r:.40} is not a whole number")
        if not 0 <= revision < MOST_PLACE:
            raise InvalidInput("revision", f"{revision!r:.40} is out of range")


_Settled = TypeVar("_Settled", bound=tuple[str, str, int, int])


def newest(tickets: Sequence[_Settled]) -> list[_Settled]:
    """Return the newest state of each ticket; of two with the same revision, the last one."""
    by_id: dict[str, _Settled] = {}
    for ticket in tickets:
        known = by_id.get(ticket[0])
        if known is None or ticket[3] >= known[3]:
            by_id[ticket[0]] = ticket
    return [*by_id.values()]


def check_ticket_id(ticket_id: str) -> str:
    """Return the id if it can be a ticket's id, otherwise refuse it."""
    if not isinstance(ticket_id, str) or not 1 <= len(ticket_id) <= 64 or not ticket_id.isascii():
        raise InvalidInput("ticket id", "must be the id of a ticket, as `list` shows it")
    return ticket_id
