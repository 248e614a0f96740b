"""Numbers, words and flags of a policy: what is allowed, and that an error names the field."""

from __future__ import annotations

import math

import pytest

from tests.models.policies import PARTNER, SPECS, refused
from waitroom.models import CHOICES, BeforeOpen, Eta, Mode, Policy
from waitroom.moments import from_ms

WORDS = tuple(CHOICES)
FLAGS = ("renewable", "once")
NUMBERS = [name for name, spec in SPECS.items() if spec.metadata["unit"] in ("people", "seconds")]
MAY_BE_ZERO = ("recover_s", "max_defers")
WHOLE = [name for name in NUMBERS if not name.endswith("_s")]

BAD_NUMBERS = [-1, -0.001, math.nan, math.inf, -math.inf, 10**30, 1e300, 10**400]
BAD_TYPES = [True, False, "5", "", b"5", [], {}, object()]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", BAD_NUMBERS + BAD_TYPES, ids=lambda value: f"{value!r:.12}")
def test_bad_numbers(name: str, value: object) -> None:
    """Negative, NaN, infinite, enormous or untyped values of every number name their field."""
    refused(name, value)


@pytest.mark.parametrize("name", [name for name in NUMBERS if name not in MAY_BE_ZERO])
def test_zero(name: str) -> None:
    """Zero is refused with the range if it would stop the room by accident."""
    assert "it takes" in refused(name, 0)


@pytest.mark.parametrize("name", MAY_BE_ZERO)
def test_zero_where_it_means_something(name: str) -> None:
    """Zero turns recovery and deferring off."""
    assert 0 == getattr(Policy(**{name: 0}), name)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers(name: str) -> None:
    """People are whole: a half is refused, 3.0 becomes 3."""
    assert "whole" in refused(name, 1.5)
    partner = {PARTNER[name]: 1} if name in PARTNER else {}
    value = getattr(Policy(**{name: 3.0, **partner}), name)  # type: ignore[arg-type]
    assert (3, int) == (value, type(value))


@pytest.mark.parametrize("name", NUMBERS)
def test_range_ends(name: str) -> None:
    """Both ends of the stated range are allowed, and nothing beyond."""
    low, high = SPECS[name].metadata["low"], SPECS[name].metadata["high"]
    partner = {PARTNER[name]: 1} if name in PARTNER else {}
    for value in (low, high):
        policy = Policy(**{name: value, **partner})
        assert value == getattr(policy, name)
    refused(name, high + 1)


@pytest.mark.parametrize("name", NUMBERS)
def test_none_is_no_limit(name: str) -> None:
    """None removes a limit, except where only 0 can mean off."""
    if name in ("recover_s", "max_defers"):
        assert "0 turns it off" in refused(name, None)
    else:
        partner = {PARTNER[name]: None} if name in PARTNER else {}
        assert None is getattr(Policy(**{name: None, **partner}), name)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize("value", ["", "OPEN", "nonsense", None, 0, True, [], {}])
def test_bad_words(name: str, value: object) -> None:
    """A word outside the list is refused together with the list."""
    assert "is not one of" in refused(name, value)


@pytest.mark.parametrize("value", [0, 1, "true", None, []])
def test_bad_flag(value: object) -> None:
    """A flag is true or false, and nothing that merely looks like it."""
    refused("renewable", value)


def test_words_become_enums() -> None:
    """Words from JSON or TOML become members, so that code can compare by identity."""
    policy = Policy(mode="paused", eta="rate", opens_at=from_ms(1), before_open="draw")  # type: ignore[arg-type]
    assert (Mode.PAUSED, Eta.RATE, BeforeOpen.DRAW) == (
        policy.mode,
        policy.eta,
        policy.before_open,
    )


def test_seconds_are_kept_to_the_millisecond() -> None:
    """Redis gets milliseconds, so a policy shows the value that will be used."""
    assert 1.235 == Policy(session_s=1.23456).session_s
