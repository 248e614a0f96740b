"""Event streams as connections: how many may be open, what a slow one keeps, how they drain.

Their content is tested with `rooms/live_streams.py` and with the desk.
"""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest

from waitroom.errors import TooMany
from waitroom.server.counters.worker import Counters
from waitroom.server.http.event_stream import EventStream, OpenStreams, event


def stream(address: str = "192.0.2.1") -> EventStream:
    """Return a stream of an address."""
    return EventStream(address=address)


def test_a_stream_keeps_the_newest_only() -> None:
    """However much it is sent, a stream holds one event of a kind, and none after its last."""
    mine = stream()
    mine.tell("away", b"{}")
    for number in range(1_000):
        mine.tell("ticket", b"%d" % number)
    mine.tell("away", b"{}")
    assert event("ticket", b"999") + event("away", b"{}") == mine.take()
    mine.tell("gone", b"{}", last=True)
    mine.tell("away", b"{}")
    mine.reconnect()
    assert (event("gone", b"{}"), True) == (mine.take(), mine.ended)


def test_too_many_streams_are_refused() -> None:
    """An address and the process each have a limit; a stream that ends makes room again."""
    counters = Counters()
    streams = OpenStreams(3, 2, counters)
    mine = [stream(), stream()]
    for each in mine:
        streams.add(each)
    with pytest.raises(TooMany):
        streams.add(stream())
    streams.add(stream("192.0.2.2"))
    with pytest.raises(TooMany):
        streams.add(stream("192.0.2.3"))
    streams.remove(mine[0])
    streams.add(stream("192.0.2.3"))
    assert (3, 4) == (counters.streams_open, counters.streams_opened)
    assert [2] == counters.snapshot()["limited"]["streams"]


async def test_a_drain_ends_all_of_them() -> None:
    """Whatever feeds it, every stream is told to reconnect; so is one that opens later."""
    streams = OpenStreams(10, 10, Counters())
    early = [stream(), stream("192.0.2.2")]
    for each in early:
        streams.add(each)
    await streams.drain(0)
    assert [True, True] == [each.ended for each in early]
    assert all(b"event: reconnect" in each.take() for each in early)

    late, sent = stream("192.0.2.3"), []
    late.tell("ticket", b"{}")

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async with asyncio.timeout(5):
        await streams.feed(late, asyncio.Queue[MutableMapping[str, Any]]().get, send)
    text = b"".join(message.get("body", b"") for message in sent)
    assert text.index(b"event: ticket") < text.index(b"event: reconnect")
