"""What a policy means at one moment, stated a second time: who may be called, and how many."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from tests.engine.state_machine.facts import FOREVER, Person, ms
from waitroom.models import BeforeOpen, Mode, Policy


@dataclass(slots=True)
class PolicyModel:
    """One room, and what its policy allows at this moment."""

    policy: Policy
    version: int = 1
    people: dict[str, Person] = field(default_factory=dict)
    wall: int = 0  # the clock, ms
    opened: int = 0  # the opening time at which the room was seen open
    now: int = 0  # room time of the last call, ms
    peak: int = 0
    hold_until: int = 0
    restoring_until: int = 0  # the line may lack people who were lost
    resumed: int = 0
    highest: int = 0  # place
    drawn: int = 0  # highest place that was drawn; processes do not remember it through a loss
    entries: list[int] = field(default_factory=list)
    limited_since: int = 0
    vague_until: int = 0  # after a longer window was set, its content is estimated
    slot: int = 0
    slot_calls: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    ended: int = 0  # the end time at which the room was seen ended

    @property
    def mode(self) -> Mode:
        """The current mode: once ended, a clock set back does not restart the room."""
        ends = self.policy.ends_at_ms
        over = ends is not None and ends == self.ended
        return Mode.ENDED if over else self.policy.mode_at(self.wall)

    @property
    def rests(self) -> bool:
        """Whether nobody is dropped for silence, however long it lasts."""
        return self.mode in (Mode.CLOSED, Mode.ENDED)

    @property
    def early(self) -> bool:
        """Whether the room has not opened yet."""
        opens = self.policy.opens_at_ms  # once open, a clock set back does not close it again
        return opens is not None and self.wall < opens and opens != self.opened

    @property
    def draws(self) -> bool:
        """Whether places are drawn, and positions hidden."""
        return self.early and self.policy.before_open is BeforeOpen.DRAW

    @property
    def restoring(self) -> bool:
        """Whether the line may lack people after a loss, so that positions are hidden."""
        return self.restoring_until > self.now

    @property
    def works(self) -> bool:
        """Whether an operator may call people without force."""
        open_ = not self.early or self.policy.before_open is BeforeOpen.PASS
        return open_ and self.mode in (Mode.OPEN, Mode.MANUAL)

    @property
    def bypass(self) -> bool:
        """Whether everybody goes in, regardless of the limits."""
        passes = self.early and self.works
        return self.mode is Mode.BYPASS or passes

    @property
    def calls(self) -> bool:
        """Whether people are called without an operator."""
        return self.bypass or (self.works and self.mode is Mode.OPEN)

    @property
    def refuses(self) -> str:
        """Why newcomers are refused, or an empty text."""
        if self.rests:
            return f"room_{self.mode}"
        shut = self.early and self.policy.before_open is BeforeOpen.REFUSE
        return "room_not_open" if shut and not self.bypass else ""

    def line(self) -> list[Person]:
        """Return who waits and is known to the server, in order."""
        waiting = (p for p in self.people.values() if p.state == "waiting" and not p.lost)
        return sorted(waiting, key=lambda p: p.place)

    def live(self, state: str) -> int:
        """Count the people in a state whose time is not over."""
        return sum(p.state == state and p.until > self.now for p in self.people.values())

    def entered_within(self, span_ms: int) -> int:
        """Count the entries of the last `span_ms`, as far back as there was a limit."""
        since = max(self.now - span_ms, self.limited_since)
        return sum(at > since for at in self.entries)

    def absent(self, person: Person, slack: int = 0) -> bool:
        """Whether a waiting person has been silent too long, or their ticket is too old."""
        silent = self.now - max(person.seen + slack, self.resumed) > ms(self.policy.presence_s)
        # Drawn places count from the opening and deferred ones are younger, so all get `slack`.
        arrived = FOREVER if slack and (person.drew or person.moved) else person.arrived
        return silent or self.now - arrived > ms(self.policy.ticket_ttl_s) + slack

    def overdue(self, person: Person) -> bool:
        """Whether somebody who was dropped for silence is back too late."""
        since = max(person.swept, self.resumed)
        return not self.rests and self.now - since > ms(self.policy.return_s)

    def room_left(self, *, direct: bool = False, by_hand: bool = False) -> int:
        """Return how many must be callable now: what is left even if the engine counts late."""
        if self.bypass:
            return 500
        if self.hold_until > self.now or not (self.works if by_hand else self.calls):
            return 0
        p, called, left = self.policy, self.live("called"), 500
        if p.capacity is not None:
            left = min(left, p.capacity - called - self.live("inside"))
        if p.max_entries is not None:
            vague = self.now <= self.vague_until
            late = ms(p.per_s) + math.ceil(ms(p.per_s) / 60)
            recent = sum(at >= self.now - late for at in self.entries)
            left = min(left, 0 if vague else p.max_entries - recent - called)
        if p.batch is not None and not by_hand and not (direct and p.max_entries):
            fresh = self.now >= self.slot + ms(p.every_s)
            left = min(left, p.batch - (0 if fresh else self.slot_calls))
        return max(left, 0)
