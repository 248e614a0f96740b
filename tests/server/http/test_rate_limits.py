"""Addresses behind proxies, and buckets: who is believed, and who must wait how long."""

from __future__ import annotations

import pytest

from waitroom.errors import InvalidInput
from waitroom.server.http import rate_limits
from waitroom.server.http.rate_limits import Buckets, Proxies

FORWARDED = b"x-forwarded-for"


def visitor(listed: str | None, peer: str, *told: str) -> str:
    """Return who is taken for the visitor."""
    return Proxies(listed).visitor(peer, [(FORWARDED, one.encode()) for one in told])


def test_nobody_is_believed_by_default() -> None:
    """Without listed proxies the peer is the visitor, whatever it says."""
    assert "192.0.2.9" == visitor(None, "192.0.2.9", "203.0.113.1")
    assert "192.0.2.9" == visitor("", "192.0.2.9", "203.0.113.1")


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (["203.0.113.1"], "203.0.113.1"),
        (["198.51.100.66, 203.0.113.1"], "203.0.113.1"),  # the left one is the visitor's own word
        (["198.51.100.66", "203.0.113.1"], "203.0.113.1"),
        (["203.0.113.1, 10.0.0.7, 10.0.0.8"], "203.0.113.1"),  # a chain of our own proxies
        (["10.0.0.7"], "10.0.0.1"),
        ([], "10.0.0.1"),
        (["203.0.113.1, nonsense"], "10.0.0.1"),
        (["2001:db8::1"], "2001:db8::1"),
        (["2001:0db8:0:0::1"], "2001:db8::1"),
        ([" , ,203.0.113.1 , "], "203.0.113.1"),
        (["\x00"], "10.0.0.1"),
        (["203.0.113.1:80"], "10.0.0.1"),
        (["1" * 65_536], "10.0.0.1"),
    ],
)
def test_a_listed_proxy_is_believed(told: list[str], expected: str) -> None:
    """The last address that no listed proxy vouches for counts; garbage counts as the proxy."""
    assert expected == visitor("10.0.0.0/8", "10.0.0.1", *told)


def test_others_are_not() -> None:
    """A peer that is not listed cannot choose its address."""
    assert "192.0.2.9" == visitor("10.0.0.0/8", "192.0.2.9", "203.0.113.1")
    assert "unix:" == visitor("10.0.0.0/8", "unix:", "203.0.113.1")


def test_a_wrong_list_is_refused() -> None:
    """A typo in the setting says which word is wrong."""
    with pytest.raises(InvalidInput, match=r"proxies: '10\.0\.0/8'"):
        Proxies("127.0.0.1, 10.0.0/8")


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
    """With 0 everybody may, and nothing is remembered."""
    bucket = Buckets(0)
    assert {0.0} == {bucket.take("a") for _ in range(10_000)}


def test_addresses_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody with endless addresses makes us forget the old ones, not grow."""
    monkeypatch.setattr(rate_limits, "_MOST_ADDRESSES", 100)
    bucket = Buckets(1, clock=Time())
    for number in range(1_000):
        bucket.take(f"2001:db8::{number:x}")
    assert len(bucket._full_at) <= 101
    assert bucket.take("2001:db8::3e7") > 0, "the newest is still known"
