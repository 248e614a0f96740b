"""What callers of the engine give, checked before the server is asked. Pure."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from typing import Any

from waitroom.errors import InvalidInput
from waitroom.models import MEMBERS_PER_SCRIPT

OP_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}", re.ASCII)


def op_id_of(given: str | None) -> str:
    """Return the caller's `op_id`, checked because it becomes part of a key, or a new one."""
    if given is None:
        return secrets.token_hex(8)
    if not isinstance(given, str) or not OP_ID.fullmatch(given):
        raise InvalidInput("op_id", "takes 1 to 64 letters, digits, '-', '_', '.' or ':'")
    return given


def or_empty(value: int | None) -> int | str:
    """Return a number, or what scripts take for none."""
    return "" if value is None else value


def check_count(field: str, value: int, most: int) -> None:
    """Refuse what is not a whole number from 1 to `most`."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InvalidInput(field, f"{value!r:.40} is not allowed; it takes 1 to {most}")


def check_many(field: str, items: Sequence[Any]) -> None:
    """Refuse more items than one script may take."""
    if not 1 <= len(items) <= MEMBERS_PER_SCRIPT:
        raise InvalidInput(field, f"one call takes 1 to {MEMBERS_PER_SCRIPT}, not {len(items)}")


def check_ticket_id(ticket_id: str) -> str:
    """Return an id that can be one of a ticket."""
    if not isinstance(ticket_id, str) or not 1 <= len(ticket_id) <= 64 or not ticket_id.isascii():
        raise InvalidInput("ticket id", "must be the id of a ticket, as `list` shows it")
    return ticket_id
