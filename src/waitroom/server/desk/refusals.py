"""Why a store accepts nobody, or refuses a form, in the words of a page."""

from __future__ import annotations

from collections.abc import Mapping

from waitroom.desk.models import Store, StoreMode
from waitroom.desk.phones import example
from waitroom.errors import InvalidInput, PhoneInLine, UnknownType, WaitroomError
from waitroom.server.pages.text import Text

LONGEST = {"name": 40, "note": 200}
REASONS: Mapping[str, str] = {
    "store_closed": "closed",
    "store_paused": "paused",
    "line_full": "full",
    "past_closing": "late",
}
"""The code of an error, and how the keys of its texts begin."""


def shut_text(text: Text, store: Store, reason: str) -> str:
    """Say why nobody can join."""
    if reason == "late" and store.closes_at:
        return text("late_text", time=store.closes_at)
    return text("late_plain" if reason == "late" else f"{reason}_text")


def refusal(text: Text, store: Store, error: WaitroomError, largest_party: int) -> dict[str, str]:
    """Return the message for each field; "" is the whole form."""
    if isinstance(error, UnknownType):
        return {"type": text("wrong_type")}
    if isinstance(error, InvalidInput) and error.field in ("size", "phone", "name", "note"):
        if error.field == "phone":
            return {"phone": text("wrong_phone", example=example(store.country))}
        limit = LONGEST.get(error.field, largest_party)
        return {error.field: text(f"wrong_{error.field}", n=limit)}
    if (reason := REASONS.get(error.code)) is not None:
        only_on_site = reason == "closed" and store.mode is StoreMode.OPEN
        return {"": shut_text(text, store, "onsite" if only_on_site else reason)}
    if isinstance(error, PhoneInLine):
        return {"phone": text("phone_in_line")}
    if error.code == "too_many_requests":
        return {"": text("limited_text")}
    raise error
