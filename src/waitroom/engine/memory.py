"""What a process remembers about each room, so that the room survives the loss of its data.

It is sent with every script call, and restores a lost room.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from waitroom.engine.endings import Endings
from waitroom.engine.limited import LimitedSources
from waitroom.engine.protocol.replies import Head
from waitroom.engine.told import Told
from waitroom.models import BeforeOpen, Policy
from waitroom.tickets import KeyRing

REV_JUMP = 1_000_000
"""By how much `rev` jumps when a room notices a loss; `_common.lua` has the same."""

MEMORY_FIELDS = ("epoch", "rev", "watermark", "last")
"""Fields of `meta` that a process remembers."""


@dataclass(slots=True)
class RoomMemory:
    """The highest values seen, per room. `rev`, `watermark` and `last` belong to `epoch`."""

    policy: Policy | None = None
    version: int = 0
    epoch: int = 0
    rev: int = 0
    watermark: int = 0
    last: int = 0
    message_at_ms: int | None = None
    """When the message of the policy was set, as far as anybody knows."""

    claim: int = 0
    """The highest later epoch on a valid ticket. It counts only where nobody remembers the room's:
    a ticket of another deployment with the same secret is valid too."""

    lost_since_s: float | None = None
    """Since when the room is known to be lost, while this process remembers no epoch of it."""

    endings: Endings | None = None
    """Whom this process took out last; most rooms have none."""

    forgot: bool = False
    """Whether the room has lost state since it was told of the endings."""

    positions: Told = field(default_factory=Told)
    """What people who wait were told last."""

    limited: LimitedSources = field(default_factory=LimitedSources)
    """Where too many come from at the moment."""

    def args(self, now_us: int | None) -> list[int | str]:
        """Return the first ARGV of every script."""
        now: int | str = "" if now_us is None else now_us
        return [now, self.epoch, self.rev, self.watermark, self.last]

    def saw(self, head: Head) -> None:
        """Learn from the head of a reply; of two epochs the larger wins."""
        if head.epoch > self.epoch:
            # Places and the watermark only grow across epochs. `rev` is compared within one, and
            # the policy is read again: this may be another room of the same name.
            self.epoch, self.rev, self.version = head.epoch, 0, 0
            self.positions.forget_all()
            self.endings, self.forgot = None, False
            self.limited.clear()
        if head.epoch < self.epoch:
            return  # this reply was under way while the room was cleared
        if head.rev - self.rev >= REV_JUMP:
            self.forgot = self.endings is not None
            # After a loss somebody may have given the same number to another change: read it again.
            self.version -= self.version == head.version
        self.rev = max(self.rev, head.rev)
        self.watermark = max(self.watermark, head.watermark)
        self.last = max(self.last, head.last)

    def note(self, endings: list[str]) -> None:
        """Remember endings that this process brought about."""
        if endings:
            self.endings = self.endings or Endings()
            self.endings.add(endings)

    def note_kicks(self, kicks: list[str], reinstated: list[str]) -> None:
        """Remember all kicks and reinstatements that the room knows of, whoever made them."""
        if kicks or reinstated or self.endings is not None:
            self.endings = self.endings or Endings()
            self.endings.hear(kicks, reinstated)

    def draw(self, ring: KeyRing, room: str) -> Callable[[str], int] | None:
        """Return the function that draws a ticket's place, if places of this room are drawn."""
        if self.policy is None or self.policy.before_open is not BeforeOpen.DRAW:
            return None
        return partial(ring.draw, room, self.epoch)
