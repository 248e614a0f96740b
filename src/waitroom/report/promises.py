"""Checks a room against Waitroom's promises, using its events. Pure.

Nothing here trusts the room's own counts. Who has a place is computed from the events and the
deadlines of the policy, so that a wrong count is noticed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Generic, NamedTuple, TypeVar

from waitroom.models import BeforeOpen, Mode, Policy

FOREVER = 1 << 60
Person = TypeVar("Person", int, str)


@dataclass(slots=True)
class Promise:
    """One promise: how often it was checked, how often broken, and how the first time."""

    name: str
    text: str
    checked: int = 0
    broken: int = 0
    first_ms: int = 0
    first: str = ""

    @property
    def verdict(self) -> str:
        """PASS, FAIL, or the word for a promise that could not be tested."""
        if self.broken:
            return "FAIL"
        return "PASS" if self.checked else "not tested"

    def breaks(self, at_ms: int, how: str) -> None:
        """Note that it was broken."""
        if not self.broken:
            self.first_ms, self.first = at_ms, how
        self.broken += 1


class Called(NamedTuple, Generic[Person]):
    """An event of kind `called`: people in the order of the room."""

    at_ms: int
    people: Sequence[Person]
    direct: bool  # on arrival, with nobody waiting
    by_hand: bool = False


class Promises(Generic[Person]):
    """All promises of one room, fed event by event."""

    def __init__(self, policy: Policy) -> None:
        self.capacity = Promise("capacity", "never more people called + inside than `capacity`")
        self.pace = Promise("pace", "never more than `batch` called per `every_s`")
        self.rolling = Promise("rolling limit", "never more than `max_entries` enter per `per_s`")
        self.order = Promise("order", "whoever came first is called first")
        self.nobody_lost = Promise("nobody lost", "everybody present is called, in their time")
        self.reused = Promise("places reused", "what is free is given away while people wait")
        self.policy = policy
        self.called: dict[Person, int] = {}  # person → enter by
        self.inside: dict[Person, int] = {}  # person → session ends
        self.most_held = 0
        self._deadlines: list[tuple[int, Person]] = []
        self._entries: list[int] = []  # moments, in order
        self._slot_ms = self._slot_calls = 0
        self._last_place = 0

    def all(self) -> tuple[Promise, ...]:
        """Return them in the order of reports."""
        return (
            self.capacity, self.pace, self.rolling, self.order, self.nobody_lost, self.reused,
        )  # fmt: skip

    # What happens ---------------------------------------------------------------------------

    def on_called(self, event: Called[Person], places: Sequence[int]) -> None:
        """People were called; `places` are theirs."""
        self._pass_time(event.at_ms)
        within = to_ms(self.policy.enter_within_s)
        until = event.at_ms + within if within else FOREVER
        for person in event.people:
            self._hold(self.called, person, until)
        if self.policy.mode is not Mode.BYPASS:
            self._check_capacity(event.at_ms)
            self._check_pace(event)
        self._check_order(event, places)
        self.nobody_lost.checked += len(event.people)

    def on_entered(self, person: Person, at_ms: int) -> None:
        """Somebody went inside."""
        if self.called.pop(person, None) is None:
            self.nobody_lost.breaks(at_ms, f"person {person} went inside without being called")
        length = self._stay_ms()
        self._hold(self.inside, person, at_ms + length if length else FOREVER)
        self._entries.append(at_ms)
        self._check_rolling(at_ms)

    def on_ended(self, people: Sequence[Person], at_ms: int, reason: str) -> None:
        """People left the room, from whatever state."""
        for person in people:
            for deadlines in (self.called, self.inside):
                until = deadlines.pop(person, None)
                early = until is not None and self._is_early(until, at_ms)
                if early and reason in ("no_show", "expired"):
                    broken = f"person {person} was ended as {reason} too early"
                    self.nobody_lost.breaks(at_ms, broken)

    def on_loss(self, vouched: bool) -> None:
        """All data was lost: turns must be taken again, sessions live on if gates vouch."""
        self.called.clear()
        if not vouched:
            self.inside.clear()
        if (self.policy.per_s or 0) > self.policy.recover_s:
            self._entries.clear()  # a longer window starts again, as the docs say
        self._slot_ms = self._slot_calls = 0

    def on_return(self, alive_ms: int, now_ms: int) -> None:
        """We were away since `alive_ms`: turns that ran out meanwhile count from now."""
        policy = self.policy
        within = to_ms(policy.enter_within_s)
        halves = [to_ms(policy.recover_s)]
        halves += [to_ms(each) // 2 for each in (policy.presence_s, policy.enter_within_s) if each]
        if not within or now_ms - alive_ms <= max(5_000, min(halves)):
            return
        for person, until in self.called.items():
            if until >= alive_ms + 1_000:
                self._hold(self.called, person, max(until, now_ms + within))

    def after_step(self, now_ms: int, waiting: int, calls: bool) -> None:
        """Nothing more is due: if anybody waits, a limit must be used up."""
        self._pass_time(now_ms)
        self.most_held = max(self.most_held, len(self.called) + len(self.inside))
        if not waiting or not calls:
            return
        self.reused.checked += 1
        left = self._left(now_ms)
        if left > 0:
            self.reused.breaks(now_ms, f"{waiting} waited although {left} more had room")

    # How it is judged -----------------------------------------------------------------------

    def _stay_ms(self) -> int:
        """How long somebody stays inside at most; 0 if unknown."""
        return to_ms(self.policy.session_s)

    def _is_early(self, until_ms: int, at_ms: int) -> bool:
        """Return whether somebody's time was not over yet."""
        return until_ms > at_ms

    def _by_hand(self, since_ms: int, until_ms: int) -> int:  # noqa: ARG002 - for those who know
        """How many were called by hand meanwhile, in addition to the pace."""
        return 0

    def _forced(self, at_ms: int) -> int:  # noqa: ARG002 - for those who know
        """How many were called with force until then, beyond capacity."""
        return 0

    def _hold(self, deadlines: dict[Person, int], person: Person, until: int) -> None:
        deadlines[person] = until
        if until < FOREVER:
            heappush(self._deadlines, (until, person))

    def _pass_time(self, now_ms: int) -> None:
        """Forget people past their deadline, whether or not the room has swept them."""
        deadlines = self._deadlines
        while deadlines and deadlines[0][0] <= now_ms:
            until, person = heappop(deadlines)
            for places in (self.called, self.inside):
                if places.get(person) == until:
                    del places[person]

    def _check_capacity(self, at_ms: int) -> None:
        capacity = self.policy.capacity
        if capacity is None:
            return
        self.capacity.checked += 1
        taken = len(self.called) + len(self.inside)
        if taken > capacity + self._forced(at_ms):
            self.capacity.breaks(at_ms, f"{taken} called + inside, {capacity} allowed")

    def _check_pace(self, event: Called[Person]) -> None:
        batch, every_ms = self.policy.batch, to_ms(self.policy.every_s)
        if batch is None or event.by_hand:
            return
        self._roll_slot(event.at_ms, every_ms)
        self._slot_calls += len(event.people)
        if event.direct and self.policy.max_entries is not None:
            return  # people who go straight in count, but are not limited
        self.pace.checked += 1
        if self._slot_calls > batch + self._by_hand(self._slot_ms, event.at_ms):
            self.pace.breaks(event.at_ms, f"{self._slot_calls} called in a slot of {batch}")

    def _roll_slot(self, now_ms: int, every_ms: int) -> None:
        if now_ms >= self._slot_ms + every_ms:
            self._slot_ms = now_ms - (now_ms - self._slot_ms) % every_ms
            self._slot_calls = 0

    def _check_rolling(self, at_ms: int) -> None:
        most, per_ms = self.policy.max_entries, to_ms(self.policy.per_s)
        self._forget_entries(at_ms)
        if most is None or self.policy.mode is Mode.BYPASS:
            return
        self.rolling.checked += 1
        entered = self.entered_since(at_ms - per_ms)
        if entered > most:
            self.rolling.breaks(at_ms, f"{entered} entered within {per_ms / 1000:g} s, not {most}")

    def _forget_entries(self, now_ms: int) -> None:
        """Keep two windows of entries; drop them by the thousand, because a cut copies the list."""
        old = bisect_right(self._entries, now_ms - 2 * max(to_ms(self.policy.per_s), 60_000))
        if old > 1_000:
            del self._entries[:old]

    def entered_since(self, since_ms: int) -> int:
        """Return how many went inside after a moment."""
        return len(self._entries) - bisect_right(self._entries, since_ms)

    def _check_order(self, event: Called[Person], places: Sequence[int]) -> None:
        self.order.checked += len(places)
        for person, place in zip(event.people, places, strict=True):
            if place <= self._last_place:
                broken = f"person {person} was called after somebody who came later"
                self.order.breaks(event.at_ms, broken)
            self._last_place = max(self._last_place, place)

    def _left(self, now_ms: int) -> int:
        """How many more the limits allow; the rolling limit may lag by its bucket size."""
        policy, left = self.policy, FOREVER
        if policy.capacity is not None:
            left = policy.capacity - len(self.called) - len(self.inside)
        if policy.batch is not None and policy.mode is not Mode.MANUAL:
            self._roll_slot(now_ms, to_ms(policy.every_s))
            left = min(left, policy.batch - self._slot_calls)
        if policy.max_entries is not None:
            per_ms = to_ms(policy.per_s)
            entered = self.entered_since(now_ms - per_ms - per_ms // 30 - 2)
            left = min(left, policy.max_entries - entered - len(self.called))
        return left


def calls_now(policy: Policy, now_ms: int, hold_until_ms: int | None) -> bool:
    """Return whether a room calls people by itself at a moment."""
    if policy.mode_at(now_ms) is not Mode.OPEN or (hold_until_ms or 0) > now_ms:
        return False
    before = policy.opens_at_ms is not None and now_ms < policy.opens_at_ms
    return not before or policy.before_open is BeforeOpen.PASS


def to_ms(seconds: float | None) -> int:
    """Return a time of a policy in ms; 0 if there is none."""
    return round((seconds or 0) * 1000)
