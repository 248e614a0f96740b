"""What a process remembers about a room: the highest of every value, within one epoch."""

from __future__ import annotations

from waitroom.engine.memory import RoomMemory
from waitroom.engine.protocol.reply import Head


def head(**fields: int) -> Head:
    """Return the head of a reply."""
    return Head(epoch=10, rev=5, watermark=100, last=200, version=1)._replace(**fields)


def test_args() -> None:
    """Memory is the head of every call; without a clock, the server's own time counts."""
    memory = RoomMemory(epoch=1, rev=2, watermark=3, last=4)
    assert ([99, 1, 2, 3, 4], ["", 1, 2, 3, 4]) == (memory.args(99), memory.args(None))


def test_only_grows() -> None:
    """A reply that was overtaken by another takes nothing back."""
    memory = RoomMemory()
    memory.saw(head(rev=9, watermark=50))
    memory.saw(head(rev=8, watermark=70, last=150))
    assert [10, 9, 70, 200] == memory.args(0)[1:]


def test_newer_epoch() -> None:
    """In a newer epoch `rev` restarts; places continue."""
    memory = RoomMemory()
    memory.saw(head(rev=9))
    memory.saw(head(epoch=11, rev=1, watermark=0, last=0))
    assert [11, 1, 100, 200] == memory.args(0)[1:]


def test_older_epoch() -> None:
    """A reply that was under way while the room was cleared is ignored."""
    memory = RoomMemory()
    memory.saw(head(epoch=11, rev=1))
    memory.saw(head(epoch=10, rev=99, watermark=999))
    assert [11, 1, 100, 200] == memory.args(0)[1:]


def test_claim() -> None:
    """A ticket's claims are not sent to the server: only the server's replies tell the epoch."""
    memory = RoomMemory(epoch=10, rev=9, claim=12)
    assert [10, 9, 0, 0] == memory.args(0)[1:]
    memory.saw(head(epoch=11, rev=1))
    assert 11 == memory.epoch
