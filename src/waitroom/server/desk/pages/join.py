"""The join page as a pure function: which lines take guests, their waits, why others do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from waitroom.desk.inputs import Wish, checked_wish
from waitroom.desk.live.waits import LineSummary
from waitroom.desk.models import Source, Store, StoreMode
from waitroom.desk.phones import example
from waitroom.errors import InvalidInput, WaitroomError
from waitroom.server.desk import text as say
from waitroom.server.desk.refusals import REASONS, refusal, shut_text
from waitroom.server.pages.text import Text

_LONGEST_SIZE = 5


@dataclass(frozen=True, slots=True)
class LineChoice:
    """A line that guests can choose, or see why they cannot."""

    name: str
    title: str
    largest: int
    accepts: bool
    about: str
    """How long the wait is, or why nobody can join."""


@dataclass(frozen=True, slots=True)
class Filled:
    """What somebody has filled in, to show it again if it was refused."""

    line_name: str = ""
    size: str = "2"
    name: str = field(default="", repr=False)
    phone: str = field(default="", repr=False)
    note: str = field(default="", repr=False)


def shown_line(text: Text, store: Store, summary: LineSummary) -> LineChoice:
    """Return a line with its current wait, or why nobody can join it."""
    waiting_type = store.waiting_type(summary.name)
    largest = waiting_type.largest_party if waiting_type else 1
    reason = None if summary.accepts else REASONS.get(summary.why_not or "", "closed")
    about = text(f"why_{reason}") if reason else _wait(text, summary)
    return LineChoice(summary.name, summary.title, largest, summary.accepts, about)


def _wait(text: Text, summary: LineSummary) -> str:
    if not summary.waiting:
        return text("join_nobody")
    teams = text("join_line", teams=say.some(text, "teams", summary.waiting))
    return f"{teams} · {say.newcomer_wait(text, summary)}"


def shut(store: Store, summaries: Sequence[LineSummary], *, here: bool) -> str | None:
    """Return why nobody can join at all, or None if somebody can."""
    if store.mode is not StoreMode.OPEN:
        return str(store.mode)
    if not store.remote and not here:
        return "onsite"
    if any(summary.accepts for summary in summaries):
        return None
    return REASONS.get(summaries[0].why_not or "", "closed") if summaries else "closed"


def wish_of(filled: Filled, *, here: bool) -> Wish:
    """Return what a form asks for."""
    size = filled.size.strip()
    if not size.isdecimal() or len(size) > _LONGEST_SIZE:
        raise InvalidInput("size", "must be a whole number")
    return Wish(
        size=int(size),
        name=filled.name.strip() or None,
        phone=filled.phone.strip() or None,
        note=filled.note.strip() or None,
        source=Source.ON_SITE if here else Source.REMOTE,
    )


def refusals(text: Text, store: Store, filled: Filled, error: WaitroomError) -> dict[str, str]:
    """Return what is wrong with a form: all of its fields, not only the first one."""
    waiting_type = store.waiting_type(filled.line_name)
    lines = (waiting_type,) if waiting_type else store.types
    most = max(line.largest_party for line in lines)
    messages = refusal(text, store, error, most)
    while isinstance(error, InvalidInput) and waiting_type is not None:
        filled = replace(filled, **{error.field: "1" if error.field == "size" else ""})
        try:
            checked_wish(store, waiting_type.name, wish_of(filled, here=True))
        except InvalidInput as another:
            error, messages = another, messages | refusal(text, store, another, most)
        else:
            break
    return messages


def values(
    text: Text, store: Store, summaries: Sequence[LineSummary], filled: Filled, *, code: str
) -> dict[str, Any]:
    """Return what the template of the page needs; a valid `code` shows that the guest is there."""
    lines = [shown_line(text, store, summary) for summary in summaries]
    open_lines = [line.name for line in lines if line.accepts]
    if filled.line_name not in open_lines:
        filled = replace(filled, line_name=open_lines[0] if open_lines else "")
    reason = shut(store, summaries, here=bool(code))
    return {
        "store": store,
        "lines": lines,
        "most": max((line.largest for line in lines), default=1),
        "values": filled,
        "example": example(store.country),
        "shut": reason,
        "shut_text": shut_text(text, store, reason) if reason else "",
        "code": code,
    }
