"""The words of the operator page: how it writes waits, ages, values and what somebody did."""

from __future__ import annotations

from dataclasses import fields
from typing import Any
from zoneinfo import ZoneInfo

from babel.numbers import format_percent

from waitroom import moments
from waitroom.engine.audit import Entry
from waitroom.estimate.methods import Wait
from waitroom.models import CHOICES, MOMENTS, Policy
from waitroom.server.operator.rooms.policy_form import Field
from waitroom.server.pages.text import Text, cldr

_MOST_HOURS = 48  # a longer wait, like before an opening, is given in days
_COUNTS = ("called", "count", "kicked", "asked", "cleared", "lines", "settled", "removed")
_TEXTS = {spec.name for spec in fields(Policy) if spec.metadata["unit"] in ("text", "texts")}
_TOGETHER = (("batch", "every_s"), ("max_entries", "per_s"))
_WORDS = ("ticket", "name", "role", "id", "store", "text", "host", "batch")


def span(text: Text, seconds: float) -> str:
    """Say a length of time in one unit, or in two if one would be coarse."""
    if seconds < 90:
        return text("span_s", n=round(seconds))
    minutes = round(seconds / 60)
    if minutes < 90:
        return text("span_m", n=minutes)
    hours, minutes = divmod(minutes, 60)
    return text("span_hm", h=hours, m=minutes) if minutes else text("span_h", h=hours)


def change(text: Text, before_s: float, after_s: float) -> str:
    """Say two waits side by side, in one unit where they differ in it."""
    longest = max(before_s, after_s)
    if longest < 90:
        return text("change_s", a=round(before_s), b=round(after_s))
    before, after = round(before_s / 60), round(after_s / 60)
    if longest < 5400 and before != after and min(before, after) >= 2:
        return text("change_m", a=before, b=after)
    return text("change", a=_fine(text, before_s), b=_fine(text, after_s))


def _fine(text: Text, seconds: float) -> str:
    """Say a length of time finely enough to be compared."""
    if seconds < 90 or seconds >= 5400:
        return span(text, seconds)
    minutes, left = divmod(5 * round(seconds / 5), 60)
    return text("span_ms", m=minutes, s=left) if left else text("span_m", n=minutes)


def about(text: Text, seconds: float | None) -> str:
    """Say a wait, without false precision."""
    if seconds is None:
        return text("wait_unknown")
    if seconds < 45:
        return text("wait_short")
    minutes = seconds / 60
    step = 1 if minutes < 30 else 5 if minutes < 120 else 10
    if minutes >= _MOST_HOURS * 60:
        return text("wait_about", span=text("span_d", n=round(minutes / 1440)))
    hours, left = divmod(max(1, round(minutes / step) * step), 60)
    if not hours:
        return text("wait_about", span=text("span_m", n=left))
    shown = text("span_hm", h=hours, m=left) if left else text("span_h", h=hours)
    return text("wait_about", span=shown)


def waits(text: Text, wait: Wait | None) -> str:
    """Say an estimate by its likely value."""
    return about(text, None if wait is None else wait.likely)


def range(text: Text, wait: Wait) -> str:  # noqa: A001 - templates say `say.range`
    """Say the range of an estimate."""
    return text("wait_range", low=span(text, wait.low), high=span(text, wait.high))


def share(text: Text, part: float | None) -> str:
    """Say a part of a whole in percent; a dash if there is no whole yet."""
    if part is None:
        return "–"
    return format_percent(part, locale=cldr(text.lang))


def value(text: Text, name: str, given: Any, policy: Policy | None = None) -> str:
    """Say the value of a policy's field, a moment in the zone of that policy."""
    if given is None:
        return text("no_text" if name in (*_TEXTS, *MOMENTS) else "no_limit")
    if name in MOMENTS and policy is not None:
        return moment(moments.to_ms(moments.read(name, given, None)), policy.time_zone)
    if isinstance(given, bool):
        return text("yes") if given else text("no")
    if isinstance(given, dict):
        return ", ".join(given)
    if name in CHOICES:
        return choice(text, name, given)
    if isinstance(given, str):
        return given if len(given) <= 60 else f"{given[:60]}…"
    if name.endswith("_s"):
        shown = f"{given:.3f}".rstrip("0").rstrip(".")
        return text("seconds", n=shown)
    return f"{given:,}"


def choice(text: Text, name: str, word: str) -> str:
    """Say a word of a field that takes only some words, or yes and no."""
    if name == "mode":
        return text(f"mode_{word}")
    return text.known(f"choice_{name}_{word}", text.known(word, word))


def wrong(text: Text, given: Field) -> str:
    """Say what is wrong with a field of a form."""
    reason = str(given.error).partition(": ")[2]
    if "must be set together" in reason:
        pair = next(names for names in _TOGETHER if given.name in names)
        return text("wrong_together", other=field(text, pair[1 - pair.index(given.name)]))
    if text.lang == "en":  # the policy's own message is in English
        return f"{reason[:1].upper()}{reason[1:]}."
    if given.choices:
        return text("wrong_choice")
    limits = {"low": given.low, "high": given.high}
    return text(f"wrong_{given.unit}", **limits if given.unit in ("people", "seconds") else {})


def moment(ms: int, zone: str | None) -> str:
    """Say a moment in the zone of a room, and name the zone."""
    at = moments.from_ms(ms).astimezone(ZoneInfo(zone or "UTC"))
    return f"{at:%Y-%m-%d %H:%M} ({zone or 'UTC'})"


def admission_pace(text: Text, policy: Policy) -> str:
    """Say how many are called how often."""
    if policy.batch is None or policy.every_s is None:
        return text("no_limit")
    return text("pace_of", n=policy.batch, span=value(text, "every_s", policy.every_s))


def rolling_limit(text: Text, policy: Policy) -> str:
    """Say how many may enter within how long."""
    if policy.max_entries is None or policy.per_s is None:
        return text("no_limit")
    return text("limit_of", n=policy.max_entries, span=value(text, "per_s", policy.per_s))


def field(text: Text, name: str) -> str:
    """Say the name of a field; without a text of its own, the name in the policy."""
    return text.known(f"field_{name}", name)


def origin(text: Text, entry: Entry) -> str:
    """Say in what role and from where somebody acted."""
    role = text.known(f"role_{entry.role}", entry.role)
    way = text.known(f"way_{entry.way}", entry.way)
    # Whoever has a shell or the configuration may do everything; a role would say nothing.
    own = way if entry.way in ("cli", "config") else " · ".join(filter(None, (role, way)))
    return " · ".join(filter(None, (own, entry.address)))


def told(text: Text, entry: Entry) -> list[str]:
    """Say what somebody did, in one line or one per changed field."""
    detail = entry.detail
    if detail.get("outcome") == "unknown":
        return [text("outcome_unknown", action=entry.action)]
    if entry.action == "room.change":
        changed = detail.get("changed", {})
        lines = [
            text(
                "did_change",
                field=field(text, name),
                old=value(text, name, pair["old"]),
                new=value(text, name, pair["new"]),
            )
            for name, pair in changed.items()
        ]
        return [text("did_undo"), *lines] if "undoes" in detail else lines
    key = "did_" + entry.action.replace(".", "_")
    if entry.action == "sign_in" and "store" in detail:
        key = "did_sign_in_store"
    if entry.action == "kick" and detail.get("ban"):
        key = "did_ban"
    elif entry.action == "kick" and "state" in detail:
        by_age = any(detail.get(name) is not None for name in ("older_than_s", "newer_than_s"))
        key = "did_kick_age" if by_age else "did_kick_state"
    if key not in text.words:
        return [entry.action]
    values: dict[str, Any] = {name: detail.get(name) or 0 for name in _COUNTS}
    values |= {name: detail.get(name) or "" for name in _WORDS}
    values["state"] = text.known(detail.get("state", ""), "")
    values["fields"] = ", ".join(detail.get("changed") or detail.get("names") or ())
    part = f" ({detail['part']}/{detail['parts']})" if "parts" in detail else ""
    return [text(key, **values) + part]
