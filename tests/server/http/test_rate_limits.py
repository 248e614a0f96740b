"""Token buckets: who must wait how long."""

from __future__ import annotations

import pytest

from waitroom.server.http import rate_limits
from waitroom.server.http.rate_limits import Buckets


class Time:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


def test_a_bucket_empties_and_refills() -> None:
    """Sixty a minute: sixty at once, then one a second, and the pause is told."""
    clock = Time()
    bucket = Buckets(60, clock=clock)
    assert [0.0] * 60 == [bucket.take("a") for _ in range(60)]
    assert 1.0 == pytest.approx(bucket.take("a"))
    clock.now += 0.4
    assert 0.6 == pytest.approx(bucket.take("a"))
    clock.now += 0.6
    assert (0.0, True) == (bucket.take("a"), bucket.take("a") > 0.9)
    assert 0.0 == bucket.take("b"), "another address has its own"
    clock.now += 3_600
    assert [0.0] * 60 == [bucket.take("a") for _ in range(60)]
    assert bucket.take("a") > 0, "a long pause saves up no more than a minute's"


def test_zero_is_no_limit() -> None:
    """With 0 everybody may pass, and nothing is remembered."""
    bucket = Buckets(0)
    assert {0.0} == {bucket.take("a") for _ in range(10_000)}


def test_addresses_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody with endless addresses makes us forget the old ones; memory does not grow."""
    monkeypatch.setattr(rate_limits, "_MOST_ADDRESSES", 100)
    bucket = Buckets(1, clock=Time())
    for number in range(1_000):
        bucket.take(f"2001:db8::{number:x}")
    assert len(bucket._full_at) <= 101
    assert bucket.take("2001:db8::3e7") > 0, "the newest is still known"
