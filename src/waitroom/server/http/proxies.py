"""The address and scheme of the visitor's browser, behind listed proxies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waitroom.web.addresses import (
    FORWARDED_FOR,
    FORWARDED_PROTO,
    IPV6_PREFIX,
    Proxies,
    Source,
    source,
)

if TYPE_CHECKING:
    from waitroom.server.http.answers import Headers  # needs the framework, as the parent does not


class TrustedProxies:
    """The proxies of the setting `proxies`; takes headers as ASGI has them."""

    def __init__(
        self,
        networks: str | None,
        public_url: str | None = None,
        ipv6_prefix: int = IPV6_PREFIX,
    ) -> None:
        self._ipv6_prefix = ipv6_prefix
        self._proxies = Proxies((networks or "").replace(",", " ").split(), "proxies")
        self._always_https = public_url is not None and public_url.startswith("https:")

    def is_listed(self, peer: str) -> bool:
        """Return whether a peer is one of them."""
        return peer in self._proxies

    def visitor(self, peer: str, headers: Headers) -> str:
        """Return the visitor's address."""
        if peer not in self._proxies:  # then no header counts
            return self._proxies.visitor(peer, None)
        return self._proxies.visitor(peer, _header(headers, FORWARDED_FOR))

    def source(self, address: str) -> Source:
        """Return the source that limits count an address as, with the network around it."""
        return source(address, self._ipv6_prefix)

    def network(self, address: str) -> str:
        """Return the source that limits count an address as."""
        return source(address, self._ipv6_prefix).network

    def is_https(self, peer: str, scheme: str, headers: Headers) -> bool:
        """Return whether the visitor's browser uses https; no header can deny our own https."""
        if scheme == "https" or self._always_https:
            return True
        return self._proxies.scheme(peer, scheme, _header(headers, FORWARDED_PROTO)) == "https"


def _header(headers: Headers, name: str) -> str | None:
    raw = name.encode()
    values = [value.decode("latin-1") for key, value in headers if key == raw]
    return ",".join(values) if values else None
