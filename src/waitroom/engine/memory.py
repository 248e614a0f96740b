"""What a process remembers about each room, so that the room survives the loss of its data.

It is sent with every script call, and restores a room that was lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from waitroom.engine.endings import Endings
from waitroom.engine.limited import LimitedSources, RefusedCodes
from waitroom.engine.protocol.reply import Head
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
    """When the message of the policy was set, as far as this process knows."""

    claim: int = 0
    """The highest later epoch on a valid ticket. It counts only if nobody remembers the room's
    epoch: a ticket of another deployment with the same secret is valid too."""

    lost_since_s: float | None = None
    """Since when the room is known to be lost, while this process does not remember its epoch."""

    endings: Endings | None = None
    """Whom this process last took out; in most rooms nobody."""

    forgot: bool = False
    """Whether the room has lost state since it was last sent the endings and batches."""

    batches: dict[bytes, bytes] = field(default_factory=dict)
    """The room's batches of entry codes, as it notes them; a batch is never changed or forgotten,
    only revoked."""

    positions: Told = field(default_factory=Told)
    """What waiting people were last told."""

    limited: LimitedSources = field(default_factory=LimitedSources)
    """The sources from which too many come at the moment."""

    refused_codes: RefusedCodes = field(default_factory=RefusedCodes)
    """The entry codes that were shown in vain a moment ago."""

    def args(self, now_us: int | None) -> list[int | str]:
        """Return the first ARGV of every script."""
        now: int | str = "" if now_us is None else now_us
        return [now, self.epoch, self.rev, self.watermark, self.last]

    def saw(self, head: Head) -> None:
        """Learn from the head of a reply; of two epochs the larger wins."""
        if head.epoch > self.epoch:
            # Places and the watermark only grow across epochs. `rev` is compared within one epoch,
            # and the policy is read again: this may be another room with the same name.
            self.epoch, self.rev, self.version = head.epoch, 0, 0
            self.positions.forget_all()
            self.endings, self.forgot, self.batches = None, False, {}
            self.limited.clear()
            self.refused_codes.clear()
        if head.epoch < self.epoch:
            return  # this reply was under way while the room was cleared
        if head.rev - self.rev >= REV_JUMP:
            self.forgot = self.endings is not None or bool(self.batches)
            # After a loss, another change may have got the same number: read it again.
            self.version -= self.version == head.version
        self.rev = max(self.rev, head.rev)
        self.watermark = max(self.watermark, head.watermark)
        self.last = max(self.last, head.last)

    def note(self, endings: list[str]) -> None:
        """Remember endings that this process caused."""
        if endings:
            self.endings = self.endings or Endings()
            self.endings.add(endings)

    def note_kicks(self, kicks: list[str], reinstated: list[str]) -> None:
        """Remember all kicks and reinstatements that the room knows of, whoever caused them."""
        if kicks or reinstated or self.endings is not None:
            self.endings = self.endings or Endings()
            self.endings.hear(kicks, reinstated)

    def draw(self, ring: KeyRing, room: str) -> Callable[[str], int] | None:
        """Return the function that draws a ticket's place, if places of this room are drawn."""
        if self.policy is None or self.policy.before_open is not BeforeOpen.DRAW:
            return None
        return partial(ring.draw, room, self.epoch)
