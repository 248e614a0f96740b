"""How many visitors' requests are under way, and which are still accepted if there are too many.

Up to half of `most`, only a number is kept. Above that, requests are noted by ticket and address
(for IPv6, by network). Above `most`, a request is refused as busy if its ticket has another one
under way, or if its address has more than its share. There is no fixed limit per address: a
carrier's NAT, or a proxy that `proxies` does not name, puts everybody on one address.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from waitroom.errors import Busy
from waitroom.server.http.proxies import TrustedProxies
from waitroom.server.http.request import VisitorRequest


class Noted(NamedTuple):
    """Whose request it is: ticket and address."""

    ticket: str
    network: str


class UnderWay:
    """The requests under way in one worker: each `begin` that returns is followed by an `end`."""

    __slots__ = ("_half", "_most", "_networks", "_proxies", "_tickets", "count")

    def __init__(self, most: int, proxies: TrustedProxies) -> None:
        self.count = 0
        self._most = most
        self._half = most // 2
        self._proxies = proxies
        self._tickets: Counter[str] = Counter()
        self._networks: Counter[str] = Counter()

    def begin(self, request: VisitorRequest, *, always: bool = False) -> Noted | None:
        """Count a request, or refuse it as busy unless `always`; give the result to `end`."""
        if self.count < self._half or always:  # nearly always
            self.count += 1
            return None
        noted = Noted(request.ticket, request.source(self._proxies).network)
        if self.count >= self._most and not self._may_come(noted):
            raise Busy
        self.count += 1
        self._tickets[noted.ticket] += 1
        self._networks[noted.network] += 1
        return noted

    def end(self, noted: Noted | None) -> None:
        """Count an answered request."""
        self.count -= 1
        if noted is not None:
            _less(self._tickets, noted.ticket)
            _less(self._networks, noted.network)

    def _may_come(self, noted: Noted) -> bool:
        """Return whether a request is still accepted when there are `most` already."""
        if self.count >= 2 * self._most or (noted.ticket and noted.ticket in self._tickets):
            return False
        share = self._half / (len(self._networks) or 1)
        return self._networks[noted.network] < share


def _less(counts: Counter[str], key: str) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]
