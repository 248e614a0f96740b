"""What a process remembers of each room, so that the room survives the loss of its data.

It is sent with every script call, and from it a lost room is published again.
"""

from __future__ import annotations

from dataclasses import dataclass

from waitroom.engine.protocol import Reply
from waitroom.models import Policy

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

    def args(self, now_us: int | None) -> list[int | str]:
        """Return the first ARGV of every script."""
        now: int | str = "" if now_us is None else now_us
        return [now, self.epoch, self.rev, self.watermark, self.last]

    def saw_epoch(self, epoch: int) -> None:
        """Take over a newer epoch, which a signed ticket or a reply proves; the larger wins."""
        if epoch > self.epoch:
            # Places and the watermark only grow across epochs. `rev` is compared within one, and
            # the policy is read again: this may be another room of the same name.
            self.epoch, self.rev, self.version = epoch, 0, 0

    def saw(self, reply: Reply) -> None:
        """Learn from the head of a reply."""
        fields = reply.fields
        if "epoch" not in fields:
            return
        self.saw_epoch(fields["epoch"])
        if fields["epoch"] < self.epoch:
            return  # a reply that was under way while the room was cleared
        self.rev = max(self.rev, fields["rev"])
        self.watermark = max(self.watermark, fields["watermark"])
        self.last = max(self.last, fields["last"])
