"""The fields of a policy as a form: show them, read them, and say what is wrong with each. Pure.

A field that comes back as it was shown is not changed, so that rounding or another time zone
changes nothing.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from waitroom.errors import InvalidPolicy
from waitroom.models import CHOICES, POLICY_FIELDS, Policy

GROUPS: dict[str, tuple[str, ...]] = {
    "basics": ("title", "mode", "go_to"),
    "limits": ("capacity", "batch", "every_s", "max_entries", "per_s", "queue_limit"),
    "sessions": ("session_s", "enter_within_s", "renewable", "longest_s"),
    "times": ("opens_at", "before_open", "ends_at", "time_zone"),
    "line": ("presence_s", "return_s", "max_defers", "eta", "ticket_ttl_s", "idle_ttl_s"),
    "entry": ("needs", "once", "challenge", "when_unverified"),
    "page": (
        *("message", "ready", "event_date", "event_place", "picture", "logo"),
        *("colour", "background", "font", "footer", "help_link", "texts"),
    ),
    "end": ("ended_text", "ended_picture", "ended_link"),
    "outage": ("when_away", "recover_s"),
}
"""Every field in its group, in the order of the page."""

_YES_OR_NO = ("yes", "no")
_LONG = {"message", "footer", "ended_text", "texts"}
_NEVER_EMPTY = {"recover_s", "max_defers", "renewable", "once", *CHOICES}
_SPECS = {spec.name: spec for spec in dataclasses.fields(Policy)}
_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,3})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Field:
    """One field of the form."""

    name: str
    typed: str
    shown: str
    """The form's value for the policy in force."""

    error: InvalidPolicy | None = None

    @property
    def unit(self) -> str:
        """The unit of its value."""
        return str(_SPECS[self.name].metadata["unit"])

    @property
    def low(self) -> str:
        """The lowest allowed value, as text."""
        return f"{_SPECS[self.name].metadata['low']:g}"

    @property
    def high(self) -> int:
        """The highest allowed value: a number, or characters."""
        return int(_SPECS[self.name].metadata["high"])

    @property
    def choices(self) -> tuple[str, ...]:
        """The allowed words; none if it takes other values."""
        if self.unit == "yes or no":
            return _YES_OR_NO
        return tuple(map(str, CHOICES.get(self.name, ())))

    @property
    def is_long(self) -> bool:
        """Whether it may have several lines."""
        return self.name in _LONG

    @property
    def may_be_empty(self) -> bool:
        """Whether empty means no limit, or no text."""
        return self.name not in _NEVER_EMPTY


@dataclass(frozen=True, slots=True)
class Draft:
    """What was typed: the resulting changes, and what is wrong with them."""

    base: Policy
    typed: Mapping[str, str]
    changes: Mapping[str, Any]
    errors: Mapping[str, InvalidPolicy]

    @property
    def policy(self) -> Policy:
        """The policy with all changes; only for a draft without errors."""
        return self.base.change(**self.changes)

    @property
    def inputs(self) -> dict[str, str]:
        """The changed fields as they were typed, for the confirmation form."""
        return {name: self.typed[name] for name in self.changes}

    def field(self, name: str) -> Field:
        """Return a field with the typed value, or with the one in force."""
        shown = shown_in_form(self.base, name)
        return Field(name, self.typed.get(name, shown), shown, self.errors.get(name))

    def groups(self, without: Collection[str] = ()) -> Iterator[tuple[str, list[Field]]]:
        """Yield the groups that have fields."""
        for group, names in GROUPS.items():
            fields = [self.field(name) for name in names if name not in without]
            if fields:
                yield group, fields


def compared(old: Policy, new: Policy) -> dict[str, tuple[Any, Any]]:
    """Return the fields that differ, each with its old and its new value."""
    before, after = old.as_dict(), new.as_dict()
    return {
        name: (before[name], after[name]) for name in POLICY_FIELDS if before[name] != after[name]
    }


def shown_in_form(policy: Policy, name: str) -> str:
    """Return a value as the form shows it: moments in the room's zone, or in UTC."""
    value = getattr(policy, name)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        local = value.astimezone(ZoneInfo(policy.time_zone) if policy.time_zone else UTC)
        # Browsers leave out seconds if they are zero.
        return local.strftime("%Y-%m-%dT%H:%M:%S").removesuffix(":00")
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, indent=2)
    return str(value)


def read(form: Mapping[str, str], base: Policy, without: Collection[str] = ()) -> Draft:
    """Read what was typed over a policy; missing fields stay as they are."""
    typed = {
        name: form[name].replace("\r\n", "\n")
        for name in POLICY_FIELDS
        if name in form and name not in without
    }
    zone = typed.get("time_zone", base.time_zone or "").strip()
    changes: dict[str, Any] = {}
    errors: dict[str, InvalidPolicy] = {}
    for name, text in typed.items():
        if text == shown_in_form(base, name):
            continue
        try:
            changes[name] = _value(name, text.strip(), zone)
        except InvalidPolicy as error:
            errors[name] = error
    _check(base, changes, errors)
    return Draft(base, typed, changes, errors)


def _check(base: Policy, changes: dict[str, Any], errors: dict[str, InvalidPolicy]) -> None:
    """Let the policy itself check the changes; find every field that it refuses."""
    attempt = dict(changes)
    while True:
        try:
            base.change(**attempt)
        except InvalidPolicy as error:
            name = error.field.partition(".")[0]
            errors.setdefault(name, error)
            if name not in attempt:
                return
            del attempt[name]
        else:
            return


def _value(name: str, text: str, zone: str) -> Any:
    unit = _SPECS[name].metadata["unit"]
    if unit == "yes or no":
        if text not in _YES_OR_NO:
            raise InvalidPolicy(name, "is neither yes nor no")
        return text == "yes"
    if name in CHOICES or (text and unit == "text"):
        return text
    if not text:
        return None
    if unit == "texts":
        return _json(name, text)
    if unit == "moment":
        return _moment(text, zone)
    return _number(name, text.replace(",", ""))


def _number(name: str, text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise InvalidPolicy(name, f"{text!r:.40} is not a number")
    number = float(text)
    return int(number) if number == int(number) else number


def _moment(text: str, zone: str) -> str:
    """Return a moment, in UTC if nothing else says in which zone it is."""
    try:
        named = datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        named = True  # the policy itself says what is wrong
    return text if named or zone else f"{text}+00:00"


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidPolicy(name, 'is not JSON; write it like {"ko": {"title": "…"}}') from None
