"""Addresses behind proxies, one table for server and gates: who is trusted about the visitor."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from waitroom.errors import InvalidInput
from waitroom.gates import decision
from waitroom.gates.facts import Facts
from waitroom.gates.options import Options
from waitroom.gates.scopes import facts_of
from waitroom.server.http.proxies import TrustedProxies

RULES = {"/concert": "concert"}
URL = "http://waitroom.test"


class Seen(NamedTuple):
    """What counts as the visitor's address and scheme."""

    address: str
    scheme: str


Side = Callable[[str, str, dict[str, list[str]]], Seen]


def raw(headers: dict[str, list[str]]) -> list[tuple[bytes, bytes]]:
    """Return headers as ASGI has them."""
    return [(name.encode(), value.encode()) for name, values in headers.items() for value in values]


def server(proxies: str, peer: str, headers: dict[str, list[str]]) -> Seen:
    """Ask the server."""
    trusted = TrustedProxies(proxies)
    https = trusted.is_https(peer, "http", raw(headers))
    return Seen(trusted.visitor(peer, raw(headers)), "https" if https else "http")


def gate(proxies: str, peer: str, headers: dict[str, list[str]]) -> Seen:
    """Ask a gate, on an ASGI scope."""
    options = Options(URL, RULES, proxies=proxies.replace(",", " ").split())
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/concert",
        "query_string": b"",
        "scheme": "http",
        "client": (peer, 50_000),
        "headers": raw(headers),
    }
    facts = facts_of(scope)
    return Seen(decision.address_of(options, facts), decision.seen_as(options, facts)[1])


SIDES = pytest.mark.parametrize("side", [server, gate])
OURS = "10.0.0.0/8"


@pytest.mark.attack
@SIDES
@pytest.mark.parametrize(
    ("proxies", "peer", "forwarded", "address"),
    [
        # Nobody is trusted by default, and nobody who is not listed.
        ("", "192.0.2.9", ["203.0.113.1"], "192.0.2.9"),
        (OURS, "192.0.2.9", ["203.0.113.1"], "192.0.2.9"),
        (OURS, "unix:", ["203.0.113.1"], "unix:"),
        (OURS, "", ["203.0.113.1"], ""),
        # The last address that is not a listed proxy's counts; anybody may have written the rest.
        (OURS, "10.0.0.1", ["203.0.113.1"], "203.0.113.1"),
        (OURS, "10.0.0.1", ["198.51.100.66, 203.0.113.1"], "203.0.113.1"),
        (OURS, "10.0.0.1", ["198.51.100.66", "203.0.113.1"], "203.0.113.1"),
        (OURS, "10.0.0.1", ["203.0.113.1, 10.0.0.7, 10.0.0.8"], "203.0.113.1"),
        (OURS, "10.0.0.1", [" , ,203.0.113.1 , "], "203.0.113.1"),
        (OURS, "10.0.0.1", ["10.0.0.7"], "10.0.0.1"),
        (OURS, "10.0.0.1", [], "10.0.0.1"),
        # Garbage counts as the proxy.
        (OURS, "10.0.0.1", ["203.0.113.1, nonsense"], "10.0.0.1"),
        (OURS, "10.0.0.1", ["nonsense, 203.0.113.1"], "203.0.113.1"),
        (OURS, "10.0.0.1", ["\x00"], "10.0.0.1"),
        (OURS, "10.0.0.1", ["1" * 65_536], "10.0.0.1"),
        # Some proxies append a port.
        (OURS, "10.0.0.1", ["203.0.113.1:5678"], "203.0.113.1"),
        (OURS, "10.0.0.1", ["203.0.113.1:5678, 10.0.0.7:80"], "203.0.113.1"),
        (OURS, "10.0.0.1", ["[2001:db8::1]:443"], "2001:db8::1"),
        (OURS, "10.0.0.1", ["[2001:db8::1]"], "2001:db8::1"),
        (OURS, "10.0.0.1", ["[::ffff:203.0.113.1]:443"], "203.0.113.1"),
        (OURS, "10.0.0.1", ["203.0.113.1:"], "10.0.0.1"),
        (OURS, "10.0.0.1", ["203.0.113.1:http"], "10.0.0.1"),
        (OURS, "10.0.0.1", ["203.0.113.1:123456"], "10.0.0.1"),
        (OURS, "10.0.0.1", ["[203.0.113.1]:80"], "10.0.0.1"),
        (OURS, "10.0.0.1", ["[2001:db8::1]443"], "10.0.0.1"),
        (OURS, "10.0.0.1", ["[[2001:db8::1]]"], "10.0.0.1"),
        # IPv6, in its canonical form; a zone can be made up.
        (OURS, "10.0.0.1", ["2001:db8::1%made-up"], "2001:db8::1"),
        (OURS, "fe80::1%eth0", [], "fe80::1"),
        (OURS, "10.0.0.1", ["2001:0db8:0:0::1"], "2001:db8::1"),
        ("2001:db8::/32", "2001:db8::7", ["203.0.113.1"], "203.0.113.1"),
        # A listener for both families names IPv4 peers like this; a proxy may do so too.
        (OURS, "::ffff:10.0.0.1", ["203.0.113.1"], "203.0.113.1"),
        (OURS, "::ffff:a00:1", ["203.0.113.1, ::ffff:10.0.0.7"], "203.0.113.1"),
        (OURS, "10.0.0.1", ["::ffff:203.0.113.1"], "203.0.113.1"),
        (OURS, "::ffff:192.0.2.9", ["203.0.113.1"], "192.0.2.9"),
        ("", "::ffff:192.0.2.9", ["203.0.113.1"], "192.0.2.9"),
        # A mapped network is an IPv4 one, and other IPv6 networks contain no IPv4.
        ("::ffff:10.0.0.0/104", "::ffff:10.0.0.1", ["203.0.113.1"], "203.0.113.1"),
        ("::ffff:10.0.0.0/104", "10.0.0.1", ["203.0.113.1"], "203.0.113.1"),
        ("::/0", "::ffff:10.0.0.1", ["203.0.113.1"], "10.0.0.1"),
        ("192.0.2.1, 10.0.0.0/8", "10.0.0.1", ["203.0.113.1, 192.0.2.1"], "203.0.113.1"),
    ],
)
def test_the_visitors_address(
    side: Side, proxies: str, peer: str, forwarded: list[str], address: str
) -> None:
    """Server and gates use the same address as the visitor's."""
    assert address == side(proxies, peer, {"x-forwarded-for": forwarded}).address


@pytest.mark.parametrize(
    ("address", "network", "wider"),
    [
        ("203.0.113.9", "203.0.113.9", "203.0.113.0/24"),
        ("::ffff:203.0.113.9", "203.0.113.9", "203.0.113.0/24"),
        ("64:ff9b::203.0.113.9", "203.0.113.9", "203.0.113.0/24"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", "2001:db8:1::/48"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64", "2001:db8:1::/48"),
        ("2001:db8:1:3::", "2001:db8:1:3::/64", "2001:db8:1::/48"),
        ("unix:", "unix:", "unix:"),
    ],
)
def test_what_limits_count_as_one(address: str, network: str, wider: str) -> None:
    """An IPv4 address, or a /64 of IPv6; around it a /24 or a /48."""
    assert (network, wider) == TrustedProxies(None).source(address)
    assert network == TrustedProxies(None).network(address)


def test_how_much_of_ipv6_is_one() -> None:
    """The setting may make it a /56, as some providers assign, or each single address."""
    address = "2001:db8:1:2ff::9"
    assert "2001:db8:1:200::/56" == TrustedProxies(None, ipv6_prefix=56).network(address)
    assert "2001:db8:1:2ff::9/128" == TrustedProxies(None, ipv6_prefix=128).network(address)
    assert ("2001:db8::/32",) * 2 == TrustedProxies(None, ipv6_prefix=32).source(address)


@SIDES
@pytest.mark.parametrize(
    ("peer", "forwarded", "scheme"),
    [
        ("10.0.0.1", ["https"], "https"),
        ("::ffff:10.0.0.1", ["https"], "https"),
        ("10.0.0.1", [" HTTPS "], "https"),
        ("10.0.0.1", ["http"], "http"),
        ("10.0.0.1", [], "http"),
        ("10.0.0.1", ["https, http"], "http"),
        ("10.0.0.1", ["http", "https"], "http"),
        ("10.0.0.1", ["javascript"], "http"),
        ("192.0.2.9", ["https"], "http"),
    ],
)
def test_the_visitors_scheme(side: Side, peer: str, forwarded: list[str], scheme: str) -> None:
    """Only a listed proxy, with one clear value, can say that the browser uses https."""
    assert scheme == side(OURS, peer, {"x-forwarded-proto": forwarded}).scheme


def test_what_the_server_knows_of_https_is_not_talked_away() -> None:
    """Its own https, or a public https address, outweighs a proxy that says `http`."""
    told = raw({"x-forwarded-proto": ["http"]})
    assert TrustedProxies(OURS).is_https("10.0.0.1", "https", told)
    assert TrustedProxies(OURS, "https://wait.test").is_https("10.0.0.1", "http", told)
    assert not TrustedProxies(OURS, "http://wait.test").is_https("10.0.0.1", "http", told)


@pytest.mark.parametrize("text", ["10.0.0/8", "10.0.0.0/33", "nonsense"])
@SIDES
def test_a_wrong_list_is_refused(side: Side, text: str) -> None:
    """For a typo in the setting, the error says which word is wrong."""
    with pytest.raises(InvalidInput, match=rf"proxies: '{text}' is not a network"):
        side(f"127.0.0.1, {text}", "10.0.0.1", {})


def test_a_mapped_address_may_be_let_by() -> None:
    """`bypass_addresses` of a gate reads addresses in the same way."""
    options = Options(URL, RULES, bypass_addresses=["198.51.100.0/24", "2001:db8::/32"])

    def goes_by(peer: str) -> bool:
        facts = Facts("GET", "/concert", "", "http", peer, lambda _: None)
        made = decision.decide(options, facts, lambda *_: None, 0)
        return isinstance(made, decision.PassOn)

    assert goes_by("198.51.100.7")
    assert goes_by("::ffff:198.51.100.7")
    assert goes_by("2001:db8::7")
    assert not goes_by("192.0.2.1")
    assert not goes_by("")
