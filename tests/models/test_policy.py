"""A policy as a whole: what must fit together, its times, and how it is changed."""

from __future__ import annotations

import dataclasses
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.models.policies import PARTNER, refused
from waitroom.errors import InvalidPolicy
from waitroom.models import MOMENTS, POLICY_FIELDS, PRESETS, Mode, Policy
from waitroom.moments import to_ms


@pytest.mark.parametrize(("given", "missing"), list(PARTNER.items()))
def test_half_of_a_pair(given: str, missing: str) -> None:
    """A pace without its slot, or a limit without its window, names the missing half."""
    with pytest.raises(InvalidPolicy, match=f"`{given}`") as caught:
        Policy(**{given: 5})  # type: ignore[arg-type]
    assert missing == caught.value.field


MOMENT = datetime(2030, 3, 1, 11, tzinfo=UTC)
SAME_MOMENT: list[Any] = [
    *("2030-03-01T20:00+09:00", "2030-03-01 11:00:00Z", "2030-03-01T11:00:00.000Z"),
    *(MOMENT, MOMENT.astimezone(ZoneInfo("Asia/Seoul"))),
]


@pytest.mark.parametrize("name", MOMENTS)
@pytest.mark.parametrize("value", SAME_MOMENT, ids=str)
def test_moments(name: str, value: Any) -> None:
    """A time is a datetime or text with a zone; it is kept to the millisecond, and in UTC."""
    policy = Policy(**{name: value})
    assert (MOMENT, UTC) == (getattr(policy, name), getattr(policy, name).tzinfo)
    assert "2030-03-01T11:00:00.000Z" == policy.as_dict()[name]
    assert policy == Policy(**policy.as_dict())
    late = MOMENT.replace(microsecond=123_999)
    assert MOMENT.replace(microsecond=123_000) == getattr(Policy(**{name: late}), name)  # type: ignore[arg-type]
    assert None is getattr(policy.change(**{name: None}), name)


@pytest.mark.parametrize("name", MOMENTS)
def test_moments_of_the_time_zone(name: str) -> None:
    """Without a zone a time is in the room's zone, and an error names both fixes."""
    for value in ("2030-03-01T20:00", datetime(2030, 3, 1, 20)):
        words = refused(name, value)
        assert "2030-03-01T20:00:00+09:00, or set `time_zone`" in words
        policy = Policy(time_zone="Asia/Seoul").change(**{name: value})
        assert MOMENT == getattr(policy, name)
        assert MOMENT == getattr(policy.change(time_zone="Europe/Berlin"), name)


BAD_MOMENTS = [
    *("tomorrow", "", "20:00", "2030-03-01", "2030-02-30T20:00Z", "1898593200000"),
    *(1_898_593_200_000, 0, True, b"2030", [], {}, date(2030, 3, 1)),
]


@pytest.mark.parametrize("name", MOMENTS)
@pytest.mark.parametrize("value", BAD_MOMENTS, ids=ascii)
def test_what_is_no_moment(name: str, value: object) -> None:
    """Numbers, dates and other words are refused with an example."""
    assert "is not a time; write it as 2030-03-01T20:00:00+09:00" in refused(name, value)


@pytest.mark.parametrize("name", MOMENTS)
def test_moments_far_away(name: str) -> None:
    """A time that clocks and scripts cannot represent is refused, however it is written."""
    for value in ("1969-12-31T23:59:59Z", "2100-01-02T00:00Z", "0001-01-01T00:00+09:00"):
        assert "2030" not in refused(name, value)


def test_it_ends_after_it_opens() -> None:
    """An end before the opening is a contradiction; from its end on the mode is `ended`."""
    for ends_at in (MOMENT, MOMENT - timedelta(hours=1)):
        with pytest.raises(InvalidPolicy, match="must be after `opens_at`") as caught:
            Policy(opens_at=MOMENT, ends_at=ends_at)
        assert "ends_at" == caught.value.field
    policy = Policy(mode=Mode.BYPASS, opens_at=MOMENT, ends_at=MOMENT + timedelta(milliseconds=5))
    ends_at_ms = policy.ends_at_ms
    assert (to_ms(MOMENT), to_ms(MOMENT) + 5) == (policy.opens_at_ms, ends_at_ms)
    modes = [policy.mode_at(to_ms(MOMENT) + ms) for ms in (-1, 4, 5, 6)]
    assert [Mode.BYPASS, Mode.BYPASS, Mode.ENDED, Mode.ENDED] == modes
    assert Mode.PAUSED is Policy(mode=Mode.PAUSED).mode_at(to_ms(MOMENT))


@pytest.mark.parametrize("word", ["pass", "refuse", "draw"])
def test_before_open_needs_an_opening(word: str) -> None:
    """A setting for before the opening contradicts a room that has none."""
    with pytest.raises(InvalidPolicy, match="`opens_at`") as caught:
        Policy(before_open=word)  # type: ignore[arg-type]
    assert "before_open" == caught.value.field


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
