"""The policy's fields as options and as lines of text, all from the metadata of `Policy`."""

from __future__ import annotations

import dataclasses
import inspect
import json
from typing import Any

from rich.table import Table
from rich.text import Text

from waitroom.cli.command import parameter
from waitroom.cli.output import table
from waitroom.cli.text import moment, number, plain, read_span, span
from waitroom.errors import InvalidPolicy
from waitroom.models import MOMENTS, Policy
from waitroom.moments import read, to_ms

_FIELDS = {spec.name: spec for spec in dataclasses.fields(Policy)}
_METAVARS = {
    "people": "NUMBER",
    "seconds": "SECONDS",
    "moment": "TIME",
    "text": "TEXT",
    "texts": "JSON",
}
_SHOWN = 60  # most characters of a text that are shown: a logo may have 65,536


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _option(spec: dataclasses.Field[Any], shown: str = "") -> inspect.Parameter:
    """Return the option of a field; `shown` is how its help shows the default."""
    unit, about = spec.metadata["unit"], spec.metadata["about"]
    if unit == "yes or no":
        flags = f"{_flag(spec.name)}/--no-{_flag(spec.name)[2:]}"
        return parameter(spec.name, bool, flags, about + shown, None, "Policy")
    if unit == "moment":
        about += ": 2030-03-01T20:00+09:00, or without a zone in `time_zone`"
    if unit in ("mode", "eta"):
        about = f"one of {about}"
    metavar = _METAVARS.get(unit, "WORD")
    return parameter(spec.name, str, _flag(spec.name), about + shown, metavar, "Policy")


def _default(name: str) -> str:
    value = getattr(Policy(), name)
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if isinstance(value, int | float):
        value = plain(value)
    return f" (default {value})" if isinstance(value, str) else ""


OPTIONS = [_option(spec) for spec in _FIELDS.values()]
"""One option per field; `none` removes a limit or a text."""

NEW_OPTIONS = [_option(spec, _default(name)) for name, spec in _FIELDS.items()]
"""The same for a new room, with the defaults of fields that a preset leaves alone."""


def changes(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given, as values of the policy's fields."""
    return {name: _read(name, value) for name, value in given.items() if value is not None}


def _read(name: str, value: str | bool) -> Any:
    meta = _FIELDS[name].metadata
    if isinstance(value, bool):
        return value
    if value.lower() == "none":
        return None
    if meta["unit"] in ("text", "moment"):
        return value
    if meta["unit"] == "texts":
        return _json(name, value)
    if meta["unit"] not in ("people", "seconds"):
        return value.lower()
    whole = meta["unit"] == "people"
    number = _whole(value) if whole else read_span(value)
    if number is None:
        example = "" if whole else ", as seconds or like 90s, 10m, 2h"
        raise InvalidPolicy(
            name,
            f"{value!r:.40} is not a {'whole number' if whole else 'length of time'}; "
            f"it takes {meta['low']:g} to {meta['high']:.0f}{example}",
        )
    return number


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        example = '{"ko": {"title": "…"}}'
        raise InvalidPolicy(name, f"{text!r:.40} is not JSON; write {example}") from None


def _whole(text: str) -> float | None:
    for kind in (int, float):  # the policy itself refuses a fraction
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def shown(name: str, value: Any, zone: str | None = None) -> str:
    """Return a field's value with its unit; times in the room's zone, else in the local one."""
    unit = _FIELDS[name].metadata["unit"]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        no_limit = unit not in ("text", "texts") and name not in ("every_s", "per_s", *MOMENTS)
        return "no limit" if no_limit else "not set"
    if unit == "texts":
        return ", ".join(value)
    if unit == "text":
        line = value.replace("\n", " ")
        return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
    if unit == "seconds":
        long = f" ({span(value)})" if value >= 60 else ""
        return f"{plain(value)} s{long}"
    if unit == "moment":
        return moment(to_ms(read(name, value, None)), zone)
    return number(value) if unit == "people" else str(value)


def described(policy: Policy) -> Table:
    """Return every field with its value and what it means."""
    lines = table("field", "value", "meaning", wrap=["meaning"], header=False)
    for name, spec in _FIELDS.items():
        value = shown(name, getattr(policy, name), policy.time_zone)
        lines.add_row(name, value, Text(spec.metadata["about"], "dim"))
    return lines


def compared(old: Policy, new: Policy) -> dict[str, tuple[Any, Any]]:
    """Return the fields that differ, each with its old and its new value."""
    before, after = old.as_dict(), new.as_dict()
    return {name: (before[name], after[name]) for name in before if before[name] != after[name]}


def admission_pace(policy: Policy) -> str:
    """Return how many are called how often, in short."""
    return _rate(policy.batch, policy.every_s)


def rolling_limit(policy: Policy) -> str:
    """Return how many may go inside in any window, in short."""
    return _rate(policy.max_entries, policy.per_s)


def _rate(count: int | None, seconds: float | None) -> str:
    return "–" if count is None or seconds is None else f"{number(count)} per {span(seconds)}"
