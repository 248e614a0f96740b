"""What a process holds for challenges: the keys, the limits and the prices; all of it in memory."""

from __future__ import annotations

from dataclasses import dataclass, field

from waitroom.history import sample_of
from waitroom.server.challenges.price import FLOOR, RIPENING, Price, price_of
from waitroom.server.challenges.ripening import Ripening
from waitroom.server.challenges.siteverify import Service, Siteverify
from waitroom.server.challenges.work import Binding, Work, binding
from waitroom.server.http.rate_limits import Buckets
from waitroom.server.rooms.board import Board
from waitroom.settings import Settings
from waitroom.tickets import KeyRing
from waitroom.web.addresses import Source

ISSUES_PER_JOIN = 2
"""An address gets so many challenges for each place it may take: some are lost on the way."""

AROUND = 16
"""The network around it gets so many times as many: an IPv6 site has 65,536 networks."""

_MOST_PRICES = 2_000


@dataclass(slots=True)
class Challenges:
    """Issues and verifies for all rooms of a process."""

    ring: KeyRing
    work: Work
    ripening: Ripening
    issues: Buckets
    issues_around: Buckets
    siteverify: Siteverify | None
    ripens: Buckets = field(default_factory=lambda: Buckets(RIPENING.own))
    ripens_around: Buckets = field(default_factory=lambda: Buckets(RIPENING.around))
    _prices: dict[str, tuple[float, Price]] = field(default_factory=dict)

    @classmethod
    def of_settings(cls, settings: Settings, ring: KeyRing) -> Challenges:
        """Make it as the settings say."""
        service = Service.of_settings(settings)
        issues = ISSUES_PER_JOIN * settings.joins_per_minute
        return cls(
            ring,
            Work(ring),
            Ripening(ring),
            Buckets(issues),
            Buckets(AROUND * issues),
            None if service is None else Siteverify(service, issues),
        )

    def binding(self, room: str, source: Source) -> Binding:
        """Return what a challenge for this address is bound to."""
        return binding(self.ring, room, *source)

    def price(self, board: Board | None) -> Price:
        """Return what a place costs, computed once per renewal of the board."""
        if board is None:
            return Price(FLOOR, FLOOR)
        known = self._prices.get(board.room)
        if known is not None and known[0] == board.fresh_at:
            return known[1]
        price = price_of(board.samples, sample_of(board.stats))
        if len(self._prices) >= _MOST_PRICES:
            self._prices.clear()
        self._prices[board.room] = board.fresh_at, price
        return price

    def may_issue(self, source: Source) -> float:
        """Take one of the challenges that an address gets; return 0, or when there is one."""
        return self.issues.take(source.network) or self.issues_around.take(source.wider)

    def ripen(self, source: Source) -> float:
        """Take one of the pages that an address may let ripen; return 0, or when there is one."""
        return self.ripens.take(source.network) or self.ripens_around.take(source.wider)

    async def aclose(self) -> None:
        """Make no more puzzles, and close the connections to the service."""
        self.work.close()
        if self.siteverify is not None:
            await self.siteverify.aclose()
