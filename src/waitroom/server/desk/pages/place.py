"""A guest's page as a pure function of the record and the live line. What it shows is its face."""

from __future__ import annotations

import dataclasses
import re
from functools import cache
from pathlib import Path
from typing import Any

from waitroom.desk.models import Party, Place, Status, Store, StoreMode
from waitroom.server.desk import text as say
from waitroom.server.pages.text import Text

REFRESH_S = 15
"""How often the page reloads itself where no script runs."""

_AWAY_S = 5
_FACES = {
    Status.WAITING: "waiting",
    Status.CALLED: "called",
    Status.SEATED: "seated",
    Status.CANCELLED: "cancelled",
    Status.NO_SHOW: "no_show",
}
_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
    "%3Ccircle cx='8' cy='8' r='6' fill='{fill}' stroke='%231f9d55' stroke-width='3'/%3E%3C/svg%3E"
)
_FIVE_MINUTES_MS = 300_000
_SAYS = re.compile(r'"([a-z]+(?:_[a-z]+)*)"')
OUTCOMES = ("defer_done", "defer_last", "defer_used", "problem_moved", "erased")
"""What the page may report about the last action."""


def values(
    text: Text, store: Store, party: Party, place: Place | None, *, path: str, now_ms: int
) -> dict[str, Any]:
    """Return what the template of the page needs; `place` is None while the line is away."""
    face = "away" if place is None else _FACES[place.status]
    waiting_type = store.waiting_type(party.line_name)
    live = face in ("waiting", "called")
    return {
        "store": store,
        "party": party,
        "type_title": waiting_type.title if waiting_type else party.line_name,
        "face": face,
        "live": live,
        "headline": _headline(text, face, place),
        "turn_icon": _ICON.format(fill="%231f9d55"),
        "refresh_s": REFRESH_S if live else _AWAY_S if face == "away" else 0,
        "path": path,
        "defers_left": max(0, store.max_defers - party.defers),
        "note": text("place_paused") if store.mode is not StoreMode.OPEN else "",
        "client": _client(text, store, place, face, path, now_ms),
    } | _waiting(text, store, place, now_ms)


def _waiting(text: Text, store: Store, place: Place | None, now_ms: int) -> dict[str, str]:
    """Return the words of the wait; empty if the party is not waiting."""
    if place is None or not place.position:
        return {"ahead": "…", "of": "", "wait_words": "", "clock": "", "observed": ""}
    observed = place.observed and text("place_observed", range=say.within(text, place.observed))
    teams = say.some(text, "teams", max(place.waiting, place.position))
    return {
        "ahead": ahead(text, place),
        "of": text("place_of", teams=teams),
        "wait_words": say.wait(text, place.wait_minutes),
        "clock": _clock(text, store, place, now_ms),
        "observed": observed or "",
    }


def ahead(text: Text, place: Place) -> str:
    """Say how many parties go first."""
    if place.position > 1:
        return say.some(text, "place_ahead", place.position - 1)
    return text("place_next")


def _clock(text: Text, store: Store, place: Place, now_ms: int) -> str:
    """Say when it will be their turn, to five minutes: more would be false precision."""
    if not place.wait_minutes:
        return ""
    at_ms = now_ms + place.wait_minutes * 60_000
    rounded = (at_ms + _FIVE_MINUTES_MS // 2) // _FIVE_MINUTES_MS * _FIVE_MINUTES_MS
    return text("place_clock", time=say.clock(store, rounded))


def _headline(text: Text, face: str, place: Place | None) -> str:
    if face == "waiting" and place is not None:
        return ahead(text, place)
    sign = "● " if face == "called" else ""
    return sign + text(f"{face}_title")


def _client(
    text: Text, store: Store, place: Place | None, face: str, path: str, now_ms: int
) -> dict[str, Any]:
    """Return what the script starts from."""
    token = path.rpartition("/")[2]
    return {
        "api": f"/v1/stores/{store.id}/parties/{token}",
        "path": path,
        "lang": text.lang,
        "face": face,
        "live": face in ("waiting", "called"),
        "title": store.title,
        "time_zone": store.time_zone,
        "now_ms": now_ms,
        "paused": store.mode is not StoreMode.OPEN,
        "icon": _ICON.format(fill="none"),
        "turn_icon": _ICON.format(fill="%231f9d55"),
        "place": None if place is None else _json(place),
        "text": {key: text.words[key] for key in client_keys() if key in text.words},
    }


def _json(place: Place) -> dict[str, Any]:
    observed = place.observed
    return {
        "status": str(place.status),
        "position": place.position,
        "waiting": place.waiting,
        "wait_minutes": place.wait_minutes,
        "observed": observed and dataclasses.asdict(observed),
    }


@cache
def client_keys() -> tuple[str, ...]:
    """Return the texts that the script uses, read from the script so that none is missed."""
    script = Path(__file__).parents[2] / "static" / "desk/place.js"
    keys = sorted(set(_SAYS.findall(script.read_text("utf-8"))))
    return tuple(name for key in keys for name in (key, f"{key}_one"))
