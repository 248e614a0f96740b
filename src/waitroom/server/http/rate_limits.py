"""Who calls, and how often they may: addresses behind proxies, and buckets per address.

Counts are kept per process: behind several workers an address gets up to that many times the limit.
They protect the server from one careless or hostile caller, and decide nothing about the line.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from waitroom.errors import InvalidInput

Headers = list[tuple[bytes, bytes]]
_MOST_ADDRESSES = 50_000


class Proxies:
    """The networks whose word about the visitor's address is believed."""

    def __init__(self, text: str | None) -> None:
        self._networks: list[IPv4Network | IPv6Network] = []
        for part in (text or "").replace(",", " ").split():
            try:
                self._networks.append(ip_network(part, strict=False))
            except ValueError:
                raise InvalidInput(
                    "proxies", f"{part!r:.60} is no network; write it like 10.0.0.0/8 or 127.0.0.1"
                ) from None

    def __contains__(self, address: str) -> bool:
        if not self._networks:
            return False
        try:
            found = ip_address(address)
        except ValueError:
            return False
        return any(found in network for network in self._networks)

    def visitor(self, peer: str, headers: Headers) -> str:
        """Return the visitor's address: the last one that no listed proxy has vouched for."""
        if peer not in self:
            return peer
        told = ",".join(value.decode("latin-1") for name, value in headers if name == _FORWARDED)
        for part in reversed([part.strip() for part in told.split(",") if part.strip()]):
            try:
                address = str(ip_address(part))
            except ValueError:
                return peer  # garbage: whoever wrote it is not to be told apart from the proxy
            if address not in self:
                return address
        return peer


_FORWARDED = b"x-forwarded-for"


class Buckets:
    """A bucket of tokens per name, refilled evenly; `most` names are remembered."""

    def __init__(
        self,
        per_minute: int,
        burst: int | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rate = per_minute / 60
        self._burst = float(max(1, burst or per_minute))
        self._clock = clock
        self._full_at: dict[str, float] = {}

    def take(self, name: str) -> float:
        """Take a token; return 0, or how many seconds until there is one."""
        if self._rate <= 0:
            return 0.0
        now = self._clock()
        # When the bucket would be full again says how many tokens are missing from it.
        full_at = max(now, self._full_at.pop(name, 0.0))
        late = full_at + 1 / self._rate - now - self._burst / self._rate
        if late > 1e-9:
            self._full_at[name] = full_at
            return late
        self._full_at[name] = full_at + 1 / self._rate
        if len(self._full_at) > _MOST_ADDRESSES:
            self._forget(now)
        return 0.0

    def _forget(self, now: float) -> None:
        """Forget full buckets, and if that is not enough the longest unused ones."""
        kept = {name: at for name, at in self._full_at.items() if at > now}
        for name in list(kept)[: max(0, len(kept) - _MOST_ADDRESSES // 2)]:
            del kept[name]
        self._full_at = kept
