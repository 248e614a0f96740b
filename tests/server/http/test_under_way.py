"""Requests under way: nothing is recorded until there are many, and then nobody takes all."""

from __future__ import annotations

import pytest

from waitroom.errors import Busy
from waitroom.server.http.proxies import TrustedProxies
from waitroom.server.http.request import VisitorRequest
from waitroom.server.http.under_way import Noted, UnderWay
from waitroom.web.origins import Origins

MOST = 8


def asked(ticket: str, address: str) -> VisitorRequest:
    """Return a request with a ticket."""
    return VisitorRequest(Origins(), "GET", "room", ticket or None, [], address, "http", b"")


@pytest.fixture
def under_way() -> UnderWay:
    """Allow a few requests."""
    return UnderWay(MOST, TrustedProxies(None, None))


def fill(under_way: UnderWay, number: int, address: str = "192.0.2.1") -> list[Noted | None]:
    """Start requests of one address, each with its own ticket."""
    return [under_way.begin(asked(f"{address}-{n}", address)) for n in range(number)]


def test_few_requests_are_only_counted(under_way: UnderWay) -> None:
    """Up to half of the limit nothing is checked; from there on each request is recorded."""
    noted = fill(under_way, MOST)
    assert [None] * (MOST // 2) == noted[: MOST // 2]
    assert MOST // 2 == len([entry for entry in noted if entry is not None])
    for entry in noted:
        under_way.end(entry)
    assert 0 == under_way.count
    assert [None] == fill(under_way, 1), "what has ended leaves nothing behind"


def test_an_address_with_more_than_its_share_is_busy(under_way: UnderWay) -> None:
    """A client that fills the queue is refused; others still get in, and neither is locked out."""
    noted = fill(under_way, MOST)
    with pytest.raises(Busy):
        under_way.begin(asked("one-more", "192.0.2.1"))
    assert under_way.begin(asked("other", "192.0.2.2")) is not None
    for entry in noted:
        under_way.end(entry)
    assert under_way.begin(asked("one-more", "192.0.2.1")) is None


@pytest.mark.attack
def test_a_network_of_ipv6_has_one_share(under_way: UnderWay) -> None:
    """Using another address of the same /64 for each request does not give a larger share."""
    for number in range(MOST):
        under_way.begin(asked(f"t{number}", f"2001:db8::{number:x}"))
    with pytest.raises(Busy):
        under_way.begin(asked("one-more", "2001:db8::ffff"))
    assert under_way.begin(asked("other", "2001:db8:0:1::1")) is not None


def test_a_ticket_has_one_request_when_it_is_full(under_way: UnderWay) -> None:
    """A second request with one ticket is refused, whatever address it comes from."""
    fill(under_way, MOST - 1)
    under_way.begin(asked("mine", "192.0.2.2"))
    with pytest.raises(Busy):
        under_way.begin(asked("mine", "192.0.2.3"))
    assert under_way.begin(asked("another", "192.0.2.3")) is not None


def test_there_is_an_end(under_way: UnderWay) -> None:
    """However many addresses come, no more than twice the limit are under way."""
    for number in range(1_000):
        try:
            under_way.begin(asked(f"t{number}", f"192.0.2.{number}"))
        except Busy:
            break
    assert 2 * MOST == under_way.count
