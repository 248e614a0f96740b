"""The promises of a real sale, checked from its archive. Pure.

A rehearsal knows everything. But an archive may begin late or have gaps, an operator may call
people by hand, and a visitor may be active longer than a session. If the archive cannot tell, a
promise does not count as broken.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from waitroom.models import Mode, Policy, Reason
from waitroom.report.hands import Hands
from waitroom.report.promises import FOREVER, Called, Promise, Promises, to_ms

_SWEPT_WITHIN_MS = 10_000
"""A session that is over is ended by the next sweep, which may come this much later."""

_MOST_RETURNING = 100_000
"""For this many dropped people it is known that they may come back to their old place."""


class SalePromises(Promises[str]):
    """All promises of a sale, fed with the data of its archive."""

    def __init__(self, policy: Policy, hands: Hands) -> None:
        super().__init__(policy)
        self.twice = Promise(
            "nobody twice", "nobody is called or let in again while they have a turn or a session"
        )
        self.nobody_lost.text = "nobody goes in uncalled, or loses a turn or a session too early"
        self._hands = hands
        self._suspects: deque[tuple[int, int]] = deque()  # moment, people too many
        self._dropped: dict[str, None] = {}
        self._slot_known = False
        self._seen_since_ms = 0

    def all(self) -> tuple[Promise, ...]:
        """Return them in the order of reports."""
        return (
            self.capacity, self.pace, self.rolling, self.order, self.twice, self.nobody_lost,
        )  # fmt: skip

    def has(self, person: str) -> bool:
        """Return whether somebody is called or inside."""
        return person in self.called or person in self.inside

    def begin(self) -> None:
        """Count from here on; earlier events only show who is where."""
        for promise in self.all():
            promise.checked = promise.broken = 0
        self.most_held = len(self.called) + len(self.inside)

    def forget(self, at_ms: int) -> None:
        """What happened up to now is unknown: a gap, or the beginning of the archive."""
        self.called.clear()
        self.inside.clear()
        self._entries.clear()
        self._suspects.clear()
        self._last_place = 0
        self._slot_known = False
        self._seen_since_ms = at_ms

    def empty(self, at_ms: int) -> None:
        """The room was cleared: nobody is in it, but limits still count earlier entries."""
        self.called.clear()
        self.inside.clear()
        self._suspects.clear()
        self._seen_since_ms = at_ms  # people who came since then may be forgotten here too

    def lose_order(self) -> None:
        """People may come back to places before those that were called, as after an outage."""
        self._last_place = 0

    def on_called(self, event: Called[str], places: Sequence[int]) -> None:
        """People were called; `places` are theirs."""
        self._settle_suspects(event.at_ms)
        self._pass_time(event.at_ms)
        self.twice.checked += len(event.people)
        for person in event.people:
            if self.has(person):
                self.twice.breaks(event.at_ms, f"{person} was called, and had a place already")
                self.inside.pop(person, None)
        super().on_called(event, places)
        self.most_held = max(self.most_held, len(self.called) + len(self.inside))

    def on_entered(self, person: str, at_ms: int) -> None:
        """Somebody went inside."""
        self._pass_time(at_ms)
        self.twice.checked += 1
        if person in self.inside:
            self.twice.breaks(at_ms, f"{person} went inside, and was inside already")
        if self._is_unknown(person, at_ms):
            self.called[person] = FOREVER  # called before the archive knew anybody
        super().on_entered(person, at_ms)

    def on_adopted(self, account: str, ticket: str) -> None:
        """A turn or a session is an account's now, whose own turn goes."""
        for places in (self.called, self.inside):
            if ticket in places:
                self.called.pop(account, None)
                places[account] = places.pop(ticket)

    def on_ended(self, people: Sequence[str], at_ms: int, reason: str) -> None:
        """People left the room, from whatever state."""
        if reason == Reason.EXPIRED and self._suspects:
            moment, excess = self._suspects.popleft()
            if moment + _SWEPT_WITHIN_MS >= at_ms and excess > len(people):
                self._suspects.appendleft((moment, excess - len(people)))
        if reason == Reason.ABANDONED and self.policy.return_s is not None:
            for person in people[: _MOST_RETURNING - len(self._dropped)]:
                self._dropped[person] = None
        super().on_ended(people, at_ms, reason)

    def finish(self, at_ms: int) -> None:
        """The archive is over."""
        self._settle_suspects(at_ms + _SWEPT_WITHIN_MS + 1)

    # How it is judged -----------------------------------------------------------------------

    def _is_unknown(self, person: str, at_ms: int) -> bool:
        """Return whether somebody may have been called before the archive knew of anybody."""
        if self.has(person):
            return False
        within = to_ms(self.policy.enter_within_s)
        return self._seen_since_ms < FOREVER and (
            not within or at_ms <= self._seen_since_ms + within
        )

    def _stay_ms(self) -> int:
        return to_ms(self.policy.longest_stay_s)

    def _is_early(self, until_ms: int, at_ms: int) -> bool:
        return at_ms < until_ms < FOREVER  # if activity extends a session, its end is unknown

    def _by_hand(self, since_ms: int, until_ms: int) -> int:
        return self._hands.called(since_ms, until_ms)

    def _forced(self, at_ms: int) -> int:
        return self._hands.forced_until(at_ms)

    def _check_capacity(self, at_ms: int) -> None:
        """If activity extends sessions, only the event shows that one is over: wait for it."""
        if not self.policy.renewable:
            super()._check_capacity(at_ms)
            return
        if self.policy.capacity is None:
            return
        self.capacity.checked += 1
        allowed = self.policy.capacity + self._forced(at_ms)
        excess = len(self.called) + len(self.inside) - allowed
        if excess > 0:
            self._suspects.append((at_ms, excess))

    def _settle_suspects(self, now_ms: int) -> None:
        while self._suspects and self._suspects[0][0] + _SWEPT_WITHIN_MS < now_ms:
            at_ms, excess = self._suspects.popleft()
            self.capacity.breaks(at_ms, f"{excess} more called + inside than allowed")

    def _check_pace(self, event: Called[str]) -> None:
        if self.policy.mode_at(event.at_ms) is not Mode.OPEN or self.policy.batch is None:
            return  # whoever is called then is called by hand
        every_ms = to_ms(self.policy.every_s)
        self._roll_slot(event.at_ms, every_ms)
        allowed = self.policy.batch + self._by_hand(self._slot_ms, event.at_ms)
        if self._slot_calls + len(event.people) > allowed and self._may_begin(
            event.at_ms, every_ms
        ):
            self._slot_ms, self._slot_calls = event.at_ms, 0
        super()._check_pace(event)

    def _may_begin(self, at_ms: int, every_ms: int) -> bool:
        """Return whether a slot may begin here: an archive does not say when its first one did.

        After the first guess only a little earlier than expected, because a ticker is late by a
        different time in each slot.
        """
        first, self._slot_known = not self._slot_known, True
        return first or at_ms >= self._slot_ms + every_ms - every_ms // 10

    def _check_order(self, event: Called[str], places: Sequence[int]) -> None:
        """Leave out people who were called by hand, or came back to an old place."""
        dropped, hands = self._dropped, self._hands.out_of_turn
        turns = [
            (person, place)
            for person, place in zip(event.people, places, strict=False)
            if person not in hands and not (person in dropped and place <= self._last_place)
        ]
        for person in event.people:
            dropped.pop(person, None)
        people, kept = [person for person, _ in turns], [place for _, place in turns]
        super()._check_order(event._replace(people=people), kept)
