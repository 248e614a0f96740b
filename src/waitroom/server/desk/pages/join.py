"""The join page as a pure function: which lines take guests, how long it takes, why others not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from waitroom.desk.desk import LineSummary
from waitroom.desk.inputs import Wish, checked_wish
from waitroom.desk.models import Source, Store, StoreMode
from waitroom.errors import InvalidInput, UnknownType, WaitroomError
from waitroom.server.desk.pages import text as say
from waitroom.server.pages.text import Text

LONGEST = {"name": 40, "note": 200}
_LONGEST_SIZE = 5
_WHY = {
    "store_closed": "closed",
    "store_paused": "paused",
    "line_full": "full",
    "past_closing": "late",
}


@dataclass(frozen=True, slots=True)
class Line:
    """A line as guests choose it."""

    name: str
    title: str
    largest: int
    accepts: bool
    said: str


@dataclass(frozen=True, slots=True)
class Filled:
    """What somebody has filled in, to be shown again if it was refused."""

    type: str = ""
    size: str = "2"
    name: str = field(default="", repr=False)
    phone: str = field(default="", repr=False)
    note: str = field(default="", repr=False)


def line(text: Text, store: Store, view: LineSummary) -> Line:
    """Return a line with how long it takes now, or why it takes nobody."""
    kind = store.type(view.name)
    why = None if view.accepts else _WHY.get(view.why_not or "", "closed")
    said = text(f"why_{why}") if why else _wait(text, view)
    return Line(view.name, view.title, kind.largest_party if kind else 1, view.accepts, said)


def _wait(text: Text, view: LineSummary) -> str:
    if not view.waiting:
        return text("join_nobody")
    said = text("join_line", teams=say.some(text, "teams", view.waiting))
    found = say.wait(text, view.wait_minutes)
    if view.observed is not None:
        found = say.within(text, view.observed)
    return f"{said} · {found}"


def shut(store: Store, views: Sequence[LineSummary], *, here: bool) -> str | None:
    """Return why nobody can join at all, or None if somebody can."""
    if store.mode is not StoreMode.OPEN:
        return str(store.mode)
    if not store.remote and not here:
        return "onsite"
    if any(view.accepts for view in views):
        return None
    return _WHY.get(views[0].why_not or "", "closed") if views else "closed"


def shut_text(text: Text, store: Store, why: str) -> str:
    """Say why nobody can join."""
    if why == "late" and store.closes_at:
        return text("late_text", time=store.closes_at)
    return text("late_plain" if why == "late" else f"{why}_text")


def refusal(text: Text, store: Store, error: WaitroomError, most: int) -> dict[str, str]:
    """Return what to say at which field; at "" what is about the whole form."""
    if isinstance(error, UnknownType):
        return {"type": text("wrong_type")}
    if isinstance(error, InvalidInput) and error.field in ("size", "phone", "name", "note"):
        key = f"wrong_{error.field}"
        return {error.field: text(key, n=LONGEST.get(error.field, most))}
    if (why := _WHY.get(error.code)) is not None:
        remote = why == "closed" and store.mode is StoreMode.OPEN
        why = "onsite" if remote else why
        return {"": shut_text(text, store, why)}
    if error.code == "too_many_requests":
        return {"": text("limited_text")}
    raise error


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
    kind = store.type(filled.type)
    most = kind.largest_party if kind else max(one.largest_party for one in store.types)
    found = refusal(text, store, error, most)
    while isinstance(error, InvalidInput) and kind is not None:
        filled = replace(filled, **{error.field: "1" if error.field == "size" else ""})
        try:
            checked_wish(store, kind.name, wish_of(filled, here=True))
        except InvalidInput as another:
            error, found = another, found | refusal(text, store, another, most)
        else:
            break
    return found


def values(
    text: Text, store: Store, views: Sequence[LineSummary], filled: Filled, *, here: bool
) -> dict[str, Any]:
    """Return what the template of the page needs."""
    lines = [line(text, store, view) for view in views]
    chosen = [one.name for one in lines if one.accepts]
    if filled.type not in chosen:
        filled = replace(filled, type=chosen[0] if chosen else "")
    why = shut(store, views, here=here)
    found: Mapping[str, Any] = {
        "store": store,
        "lines": lines,
        "most": max((one.largest for one in lines), default=1),
        "values": filled,
        "shut": why,
        "shut_text": shut_text(text, store, why) if why else "",
        "here_now": here,
    }
    return dict(found)
