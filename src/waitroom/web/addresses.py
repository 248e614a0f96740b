"""Addresses: whose X-Forwarded-For and X-Forwarded-Proto count, and what is one source. Pure.

A listener for both IPv6 and IPv4 names an IPv4 peer `::ffff:10.0.0.1`. Such an address is unwrapped
before it is compared or returned, so a list like `10.0.0.0/8` applies to it too. A network of IPv6
(`::/0`) therefore contains no IPv4 address; `::ffff:10.0.0.0/104` is `10.0.0.0/8`.

Some proxies write a port after the address: `203.0.113.1:5678`, `[2001:db8::1]:443`. It is cut off.
Without brackets `2001:db8::1:443` is an address of its own, as RFC 7239 reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import NamedTuple

from waitroom.errors import InvalidInput

FORWARDED_FOR, FORWARDED_PROTO = "x-forwarded-for", "x-forwarded-proto"
_REMEMBERED = 8_192
_MAPPED = IPv6Network("::ffff:0:0/96")
_TRANSLATED = IPv6Network("64:ff9b::/96")
"""Where a translator (RFC 6052) shows all of IPv4 to a server that has only IPv6."""

_WITH_PORT = re.compile(r"(?:\[([^\]]*:[^\]]*)\]|([0-9.]+))(?::[0-9]{1,5})?", re.ASCII)
IPV6_PREFIX = 64
"""What one household or one machine gets: whoever has a /64 has 2^64 addresses."""

WIDER_IPV6 = 48


class Source(NamedTuple):
    """What limits count as one: an IPv4 address or a network of IPv6, and the network around it."""

    network: str
    wider: str


class Networks:
    """A list of networks; `field` names the setting in errors."""

    __slots__ = ("_networks",)

    def __init__(self, texts: Iterable[str], field: str) -> None:
        self._networks = tuple(_network(text, field) for text in texts)

    def __contains__(self, address: str) -> bool:
        if not self._networks:
            return False
        plain = _address(address)
        return plain is not None and self._hold(plain)

    def _hold(self, address: IPv4Address | IPv6Address) -> bool:
        for network in self._networks:  # noqa: SIM110 - `any` takes longer, for every join
            if address in network:
                return True
        return False


class Proxies(Networks):
    """The networks of proxies that we trust about the visitor's address and scheme."""

    __slots__ = ()

    def visitor(self, peer: str, forwarded_for: str | None) -> str:
        """Return the visitor's address: the last one that no listed proxy has vouched for.

        If one entry is not an address, the whole header is ignored: whoever wrote it cannot be
        distinguished from the proxy. Several headers are joined by commas, in order.
        """
        if peer not in self:
            return _plain(peer)
        parts = [part.strip() for part in (forwarded_for or "").split(",")]
        for part in reversed([part for part in parts if part]):
            address = _address(_without_port(part))
            if address is None:
                break
            if not self._hold(address):
                return str(address)
        return _plain(peer)

    def scheme(self, peer: str, scheme: str, forwarded_proto: str | None) -> str:
        """Return the scheme that the visitor's browser uses: `http` or `https`."""
        if forwarded_proto is None or peer not in self:
            return scheme
        claimed = forwarded_proto.strip().lower()
        return claimed if claimed in ("http", "https") else scheme


@lru_cache(_REMEMBERED)
def source(address: str, ipv6_prefix: int = IPV6_PREFIX) -> Source:
    """Return the source of an address; other text, such as a socket's path, is a source too."""
    if ":" not in address:
        return _ipv4_source(address)
    read = _address(address)
    if read is None:
        return Source(address, address)
    if isinstance(read, IPv4Address):
        return _ipv4_source(str(read))
    if read in _TRANSLATED:
        return _ipv4_source(str(IPv4Address(int(read) & 0xFFFF_FFFF)))
    return Source(_cut(read, ipv6_prefix), _cut(read, min(ipv6_prefix, WIDER_IPV6)))


def _ipv4_source(address: str) -> Source:
    return Source(address, address.rpartition(".")[0] + ".0/24")


def _cut(address: IPv6Address, bits: int) -> str:
    return str(IPv6Network((int(address), bits), strict=False))


def _without_port(text: str) -> str:
    match = _WITH_PORT.fullmatch(text)
    return text if match is None else match[1] or match[2]


@lru_cache(_REMEMBERED)
def _plain(address: str) -> str:
    """Return an address in its canonical form; other text, such as a socket's path, unchanged."""
    return address if (read := _address(address)) is None else str(read)


@lru_cache(_REMEMBERED)
def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv4Address):
        return address
    # Without the zone of `fe80::1%eth0`: anybody may invent one.
    return address.ipv4_mapped or IPv6Address(int(address))


def _network(text: str, field: str) -> IPv4Network | IPv6Network:
    try:
        network = ip_network(text, strict=False)
    except ValueError:
        raise InvalidInput(
            field, f"{text!r:.60} is not a network; write it like 10.0.0.0/8 or 127.0.0.1"
        ) from None
    if isinstance(network, IPv6Network) and network.subnet_of(_MAPPED):
        first = network.network_address.ipv4_mapped
        return IPv4Network((int(first or 0), network.prefixlen - _MAPPED.prefixlen))
    return network
