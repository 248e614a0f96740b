"""The server to load. By default only one on this machine: a load test can do harm."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

from waitroom.errors import BackendUnavailable, InvalidInput

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Target:
    """A server: headers use its name, but connections use the checked address."""

    url: str
    host: str
    port: int
    address: str
    path: str = ""
    tls: bool = False

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = self.port == _PORTS["https" if self.tls else "http"]
        return host if usual else f"{host}:{self.port}"

    @property
    def local(self) -> bool:
        """Whether the server is on this machine."""
        return _is_loopback(self.address)


def find(url: str, *, anywhere: bool = False) -> Target:
    """Return the target of a URL; `anywhere` allows one that is not on this machine."""
    host, port, path, tls = _parts(url)
    try:
        infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise BackendUnavailable(f"the name {host!r:.100} is unknown; check the URL") from None
    addresses = list(dict.fromkeys(str(info[4][0]) for info in infos))
    strange = [address for address in addresses if not _is_loopback(address)]
    if strange and not anywhere:
        raise InvalidInput(
            "url",
            f"{host!r:.100} is {strange[0]}, which is not this machine; a load test can take a "
            "server down, so give --i-own-this-host if it is yours",
        )
    address = next((each for each in addresses if _listens(each, port)), addresses[0])
    return Target(url.rstrip("/"), host, port, address, path, tls)


def _parts(url: str) -> tuple[str, int, str, bool]:
    example = "write it like http://127.0.0.1:8080"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise InvalidInput("url", f"{url!r:.100} is not a URL; {example}") from None
    if parts.scheme not in _PORTS or not parts.hostname or not url.isascii():
        raise InvalidInput("url", f"{url!r:.100} is not the address of a server; {example}")
    if parts.username or parts.query or parts.fragment or any(char <= " " for char in url):
        raise InvalidInput("url", f"takes no user, query or fragment; {example}")
    path = parts.path.rstrip("/")
    return parts.hostname, port or _PORTS[parts.scheme], path, parts.scheme == "https"


def _is_loopback(text: str) -> bool:
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped.is_loopback
    return address.is_loopback


def _listens(address: str, port: int) -> bool:
    """Return whether a server listens there: `localhost` is two addresses, often one is used."""
    try:
        socket.create_connection((address, port), timeout=2).close()
    except OSError:
        return False
    return True
