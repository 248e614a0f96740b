"""One POST to an address that somebody else chose, except addresses that cannot be theirs.

A desk's webhook may be on the private network. But link-local addresses and the metadata services
of clouds are refused. The address of the actual connection is checked, so that a name cannot lead
to a refused one later. Redirects are not followed, and proxies of the environment are not used.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import NamedTuple

import httpx2

PATIENCE_S = 10.0
"""How long a receiver may take to answer, everything included."""

# Metadata services without a link-local address.
_METADATA = frozenset(
    map(
        ip_address,
        ("100.100.100.200", "fd00:ec2::254", "fd20:ce::254", "168.63.129.16", "192.0.0.192"),
    )
)
# A network translator turns the last 32 bits into an IPv4 address.
_NAT64 = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"))
_COMPATIBLE = ip_network("::/96")


class Undelivered(Exception):
    """The receiver did not accept it; the text says why, without address or secret."""


class Reply(NamedTuple):
    """How a receiver answered; its body is not read."""

    status: int
    headers: Mapping[str, str]


def allowed(address: str) -> bool:
    """Return whether an IP address, and every address that it stands for, may be connected to."""
    return not any(map(_refused, _meant(ip_address(address.partition("%")[0]))))


def _refused(ip: IPv4Address | IPv6Address) -> bool:
    return ip.is_link_local or ip.is_multicast or ip.is_unspecified or ip in _METADATA


def _meant(ip: IPv4Address | IPv6Address) -> Iterator[IPv4Address | IPv6Address]:
    """Yield an address, and the IPv4 addresses that a tunnel or translator may lead to."""
    yield ip
    if isinstance(ip, IPv4Address) or ip.is_loopback:
        return
    for inner in (ip.ipv4_mapped, ip.sixtofour, *(ip.teredo or ())):
        if inner is not None:
            yield inner
    if any(ip in network for network in (*_NAT64, _COMPATIBLE)):
        yield IPv4Address(int(ip) & 0xFFFFFFFF)


class Poster:
    """Posts bodies; close it at the end."""

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self.patience_s = patience_s
        # It would log the address of every call, which may contain a receiver's secret.
        for name in ("httpx2", "httpcore2"):
            logging.getLogger(name).setLevel(logging.WARNING)
        # A connection is never reused for another name; proxies would hide addresses.
        self._client = httpx2.AsyncClient(
            verify=_context(),
            timeout=patience_s,
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=0),
            follow_redirects=False,
            trust_env=False,
            headers={"User-Agent": "Waitroom"},
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Post a body and return the answer, whatever its status; Undelivered if there is none."""
        try:
            async with asyncio.timeout(self.patience_s):
                return await self._send(httpx2.URL(url), headers, body)
        except TimeoutError:
            raise Undelivered(f"no answer within {self.patience_s:g} s") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise Undelivered(f"no answer ({type(error).__name__})") from None

    async def _send(self, url: httpx2.URL, headers: Mapping[str, str], body: bytes) -> Reply:
        refused: httpx2.ConnectError | None = None
        for address in await _addresses(url):
            request = self._client.build_request(
                "POST",
                url.copy_with(host=address),
                headers={**headers, "Host": url.netloc.decode("ascii")},
                content=body,
                # The certificate must be for the name, not for the address.
                extensions={"sni_hostname": url.raw_host.decode("ascii")},
            )
            try:
                answer = await self._client.send(request, stream=True)
            except httpx2.ConnectError as error:
                refused = error
                continue
            await answer.aclose()  # the body is not read
            return Reply(answer.status_code, answer.headers)
        raise refused or Undelivered("the address is not allowed")


async def _addresses(url: httpx2.URL) -> list[str]:
    """Return the addresses of a URL's host."""
    port = url.port or (443 if url.scheme == "https" else 80)
    loop = asyncio.get_running_loop()
    try:
        answers = await loop.getaddrinfo(url.host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise Undelivered("the name of the receiver is not known") from None
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in answers))
    if not all(allowed(address) for address in addresses):
        raise Undelivered("the address is link-local or a metadata service, which is not allowed")
    return addresses


def _context() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=True)  # SSL_CERT_FILE, or certifi
