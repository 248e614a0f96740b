"""Impossible figures are refused with their name and what is allowed."""

from __future__ import annotations

import math
from typing import Any

import pytest

from waitroom.errors import InvalidInput
from waitroom.planner import Inputs
from waitroom.planner.inputs import _RANGES

FIELDS = sorted(_RANGES)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, -1, 1e300, 10**400, True, "5", [1]], ids=repr
)
def test_nonsense(field: str, value: Any) -> None:
    """Not-a-number, infinite, negative, enormous and non-numeric values are refused everywhere."""
    with pytest.raises(InvalidInput, match=rf"^{field}: .*it takes a") as caught:
        Inputs(**{field: value})
    assert field == caught.value.field
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    [
        ("tps", 0, "it takes a number above 0 and up to 1,000,000,000"),
        ("session_s", 0, "of 0.001 or more and up to 31,622,400 seconds"),
        ("calls", 0, "above 0"),
        ("failure_rate", 1, "of 0 or more and below 1; write 15 % as 0.15"),
        ("failure_rate", -0.1, "of 0 or more"),
        ("target", 0, "above 0 and up to 1; write 80 % as 0.8"),
        ("target", 1.01, "up to 1;"),
        ("target", 80, "write 80 % as 0.8"),
        ("headroom", 1, "below 1; write 8 % as 0.08"),
        ("crowd", 0, "a whole number of 1 or more"),
        ("crowd", 1.5, "a whole number"),
        ("arrive_s", -1, "of 0 or more"),
        ("every_s", 0.001, "of 0.01 or more"),
        ("batch", 0, "a whole number of 1 or more and up to 1,000,000,000"),
    ],
)
def test_ends_of_the_ranges(field: str, value: float, allowed: str) -> None:
    """The message tells what is allowed."""
    with pytest.raises(InvalidInput) as caught:
        Inputs(**{field: value})  # type: ignore[arg-type]
    assert allowed in str(caught.value)


@pytest.mark.parametrize("field", [name for name in FIELDS if name != "batch"])
def test_none_is_no_number(field: str) -> None:
    """Only the batch may be left open."""
    with pytest.raises(InvalidInput, match=f"^{field}: None is not a number"):
        Inputs(**{field: None})  # type: ignore[arg-type]


def test_ends_that_are_allowed() -> None:
    """A target of everybody, no failures, no headroom and all at once are possible."""
    Inputs(target=1, failure_rate=0, headroom=0, arrive_s=0, crowd=1, batch=1)


def test_seconds_are_kept_to_the_millisecond() -> None:
    """Durations are those that a policy would store."""
    assert 10.123 == Inputs(every_s=10.1234).every_s


def test_the_example() -> None:
    """The crowd is not in the document's formulas; all others are."""
    assert Inputs(crowd=5, arrive_s=1, batch=7).is_the_example()
    assert not Inputs(tps=999).is_the_example()
    assert not Inputs(every_s=5).is_the_example()
