"""The fields of a policy: their kinds, each with a unit and a range, and the check of a value."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from waitroom.errors import InvalidPolicy
from waitroom.models.words import (
    BeforeOpen,
    Challenge,
    Eta,
    Mode,
    Needs,
    WhenAway,
    WhenUnverified,
)
from waitroom.texts import checked_text

LAST_MS = 4_102_444_800_000  # the end of 2099

_MOST_PEOPLE = 1_000_000_000
_MOST_SECONDS = 366 * 86_400
CHOICES: dict[str, type[StrEnum]] = {
    "mode": Mode,
    "before_open": BeforeOpen,
    "eta": Eta,
    "when_away": WhenAway,
    "challenge": Challenge,
    "when_unverified": WhenUnverified,
    "needs": Needs,
}
"""The fields of a policy that take one of a few words."""


def setting(default: Any, unit: str, about: str, low: float = 0, high: float = 0) -> Any:
    """Return a field with its description and its check."""
    return dataclasses.field(
        default=default, metadata={"unit": unit, "about": about, "low": low, "high": high}
    )


def people(default: int | None, about: str, low: int = 1, high: int = _MOST_PEOPLE) -> Any:
    """Return a field that counts people."""
    return setting(default, "people", about, low, high)


def seconds(default: float | None, about: str, low: float = 0.001) -> Any:
    """Return a field that is a span of time."""
    return setting(default, "seconds", about, low, _MOST_SECONDS)


def moment(about: str) -> Any:
    """Return a field that is a moment."""
    return setting(None, "moment", about, 0, LAST_MS)


def text(about: str, most: int) -> Any:
    """Return a field with one text."""
    return setting(None, "text", about, 1, most)


def texts(about: str, most: int) -> Any:
    """Return a field with texts by language."""
    meta = {"unit": "texts", "about": about, "low": 1, "high": most}
    return dataclasses.field(default=None, metadata=meta, hash=False)


def checked(spec: dataclasses.Field[Any], value: Any) -> Any:
    """Return `value` in the field's type, or raise an error that names the field and its range."""
    name, meta = spec.name, spec.metadata
    if name in CHOICES:
        try:
            return CHOICES[name](value)
        except ValueError:
            words = ", ".join(CHOICES[name])
            raise InvalidPolicy(name, f"{value!r:.40} is not one of {words}") from None
    if meta["unit"] == "yes or no":
        if not isinstance(value, bool):
            raise InvalidPolicy(name, f"{value!r:.40} is neither true nor false")
        return value
    if meta["unit"] in ("moment", "texts"):
        return value  # the policy checks it, because other fields decide what is right
    if value is None:
        if spec.default is not None and name in ("recover_s", "max_defers"):
            raise InvalidPolicy(name, "must be a number; 0 turns it off")
        return None
    if meta["unit"] == "text":
        return checked_text(name, value, meta["high"])
    return _number(name, value, meta)


def _number(name: str, value: Any, meta: Mapping[str, Any]) -> int | float:
    whole = meta["unit"] != "seconds"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidPolicy(name, f"{value!r:.40} is not a number")
    # `isfinite` of a whole number with hundreds of digits would overflow.
    if (isinstance(value, float) and not math.isfinite(value)) or (whole and value != int(value)):
        raise InvalidPolicy(name, f"{value} is not a {'whole ' if whole else ''}number")
    if not meta["low"] <= value <= meta["high"]:
        raise InvalidPolicy(
            name, f"{value} is not allowed; it takes {meta['low']:g} to {meta['high']:.0f}"
        )
    return int(value) if whole else round(float(value), 3)
