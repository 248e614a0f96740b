"""Policies and room names: what is allowed, and that an error names the field."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest

from waitroom.errors import InvalidPolicy, InvalidRoomName
from waitroom.models import (
    POLICY_FIELDS,
    PRESETS,
    BeforeOpen,
    Eta,
    Mode,
    Policy,
    check_room_name,
    preset,
)

SPECS = {spec.name: spec for spec in dataclasses.fields(Policy)}
WORDS = ("mode", "before_open", "eta")
FLAGS = ("renewable",)
NUMBERS = [name for name in POLICY_FIELDS if name not in (*WORDS, *FLAGS)]
MAY_BE_ZERO = ("recover_s", "max_defers", "opens_at_ms")
WHOLE = [name for name in NUMBERS if not name.endswith("_s")]
PARTNER = {"batch": "every_s", "every_s": "batch", "max_entries": "per_s", "per_s": "max_entries"}

BAD_NUMBERS = [-1, -0.001, math.nan, math.inf, -math.inf, 10**30, 1e300, 10**400]
BAD_TYPES = [True, False, "5", "", b"5", [], {}, object()]


def refused(name: str, value: object) -> str:
    """Return the sentence with which a policy refuses `value`, having checked that it names it."""
    partner = {PARTNER[name]: 1} if name in PARTNER else {}
    with pytest.raises(InvalidPolicy) as caught:
        Policy(**{name: value, **partner})  # type: ignore[arg-type]
    assert name == caught.value.field
    assert str(caught.value).startswith(f"{name}: ")
    return str(caught.value)


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", BAD_NUMBERS + BAD_TYPES, ids=lambda value: f"{value!r:.12}")
def test_bad_numbers(name: str, value: object) -> None:
    """Negative, NaN, infinite, enormous or untyped values of every number name their field."""
    refused(name, value)


@pytest.mark.parametrize("name", [name for name in NUMBERS if name not in MAY_BE_ZERO])
def test_zero(name: str) -> None:
    """Zero is refused with the range where it would stop the room by accident."""
    assert "it takes" in refused(name, 0)


@pytest.mark.parametrize("name", MAY_BE_ZERO)
def test_zero_where_it_means_something(name: str) -> None:
    """Zero turns recovery and deferring off, and is a time like any other."""
    assert 0 == getattr(Policy(**{name: 0}), name)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers(name: str) -> None:
    """People and times in ms are whole: a half is refused, 3.0 becomes 3."""
    assert "whole" in refused(name, 1.5)
    partner = {PARTNER[name]: 1} if name in PARTNER else {}
    value = getattr(Policy(**{name: 3.0, **partner}), name)  # type: ignore[arg-type]
    assert (3, int) == (value, type(value))


@pytest.mark.parametrize("name", NUMBERS)
def test_range_ends(name: str) -> None:
    """Both ends of the stated range are allowed, and what lies beyond is not."""
    low, high = SPECS[name].metadata["low"], SPECS[name].metadata["high"]
    partner = {PARTNER[name]: 1} if name in PARTNER else {}
    for value in (low, high):
        policy = Policy(**{name: value, **partner})
        assert value == getattr(policy, name)
    refused(name, high + 1)


@pytest.mark.parametrize("name", NUMBERS)
def test_none_is_no_limit(name: str) -> None:
    """None takes a limit away, except where only 0 can mean off."""
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
    """A flag is true or false and nothing that merely looks like it."""
    refused("renewable", value)


def test_words_become_enums() -> None:
    """Words from JSON or TOML become members, so that code can compare by identity."""
    policy = Policy(mode="paused", eta="rate", opens_at_ms=1, before_open="draw")  # type: ignore[arg-type]
    assert (Mode.PAUSED, Eta.RATE, BeforeOpen.DRAW) == (
        policy.mode,
        policy.eta,
        policy.before_open,
    )


@pytest.mark.parametrize(("given", "missing"), list(PARTNER.items()))
def test_half_of_a_pair(given: str, missing: str) -> None:
    """A pace without its slot, or a limit without its window, names the missing half."""
    with pytest.raises(InvalidPolicy, match=f"`{given}`") as caught:
        Policy(**{given: 5})  # type: ignore[arg-type]
    assert missing == caught.value.field


@pytest.mark.parametrize("word", ["pass", "refuse", "draw"])
def test_before_open_needs_an_opening(word: str) -> None:
    """What happens before the opening contradicts a room that has none."""
    with pytest.raises(InvalidPolicy, match="opens_at_ms") as caught:
        Policy(before_open=word)  # type: ignore[arg-type]
    assert "before_open" == caught.value.field


def test_seconds_are_kept_to_the_millisecond() -> None:
    """Redis gets milliseconds, so a policy shows the value that will be used."""
    assert 1.235 == Policy(session_s=1.23456).session_s


def test_policy_is_frozen() -> None:
    """A policy in use cannot be changed behind the engine's back."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        Policy().capacity = 5  # type: ignore[misc]


def test_change() -> None:
    """A change leaves the rest alone, is checked like a new policy, and names an unknown field."""
    policy = Policy(capacity=5).change(session_s=30)
    assert (5, 30) == (policy.capacity, policy.session_s)
    with pytest.raises(InvalidPolicy) as caught:
        policy.change(capacity=0)
    assert "capacity" == caught.value.field
    with pytest.raises(InvalidPolicy, match="max_entries") as caught:
        policy.change(speed=5)
    assert "speed" == caught.value.field


def test_as_dict_round_trip() -> None:
    """A policy as plain values makes the same policy again."""
    for policy in PRESETS.values():
        plain = policy.as_dict()
        assert list(POLICY_FIELDS) == list(plain)
        assert {str, int, float, bool, type(None)} >= {type(value) for value in plain.values()}
        assert policy == Policy(**plain)


def test_presets() -> None:
    """Each system of the seed documents is one word."""
    assert {"batch", "manual", "slots", "desk", "per-minute"} == set(PRESETS)
    assert (1_400, 10) == (preset("batch").batch, preset("batch").every_s)
    assert Mode.MANUAL is preset("manual").mode
    assert (50, 600) == (preset("slots").capacity, preset("slots").session_s)
    assert None is preset("desk").presence_s
    assert (100, 60) == (preset("per-minute").max_entries, preset("per-minute").per_s)


def test_preset_with_changes() -> None:
    """A preset takes changes, and stays as it was for the next."""
    assert 7 == preset("slots", capacity=7).capacity
    assert 50 == preset("slots").capacity


@pytest.mark.parametrize("name", ["", "SLOTS", "nope", "slots\n"])
def test_unknown_preset(name: str) -> None:
    """An unknown preset is refused together with those that exist."""
    with pytest.raises(InvalidPolicy, match="per-minute") as caught:
        preset(name)
    assert "preset" == caught.value.field


@pytest.mark.parametrize("name", ["a", "7", "Concert-2025_seoul.v2", "r" * 64, "a..b", "a-"])
def test_good_room_names(name: str) -> None:
    """Letters, digits, '-', '_' and '.' up to 64, beginning with a letter or digit."""
    assert name == check_room_name(name)


BAD_NAMES: list[Any] = [
    *("", "r" * 65, "{a}", "a{b", "a}b", "-a", "_a", ".a", "a b", " a", "a ", "a:b", "a/b", "a*"),
    *("a\n", "a\r\n", "\na", "a\0", "a\x1b[31m", "a\x7f", "콘서트", "é", "１", "a\u200b", "\ud800"),
    *(None, 7, b"a", ["a"]),
]


@pytest.mark.parametrize("name", BAD_NAMES, ids=ascii)
def test_bad_room_names(name: Any) -> None:
    """Braces, control characters, line ends, unicode, bad lengths and non-text are refused."""
    with pytest.raises(InvalidRoomName, match="1 to 64 letters") as caught:
        check_room_name(name)
    assert "room" == caught.value.field
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 250
