"""What happens in rooms, followed by both clients."""

from __future__ import annotations

import asyncio
from itertools import islice

import pytest

from tests.support.serving import ADMIN_KEY, Serving
from waitroom import errors
from waitroom.client import Client, SyncClient


async def test_events_are_followed_and_gone_on_with(served: Serving) -> None:
    """Events arrive as they happen; from a cursor they come again, also with the other client."""
    room = served.new_room(mode="manual")
    async with Client(served.base, key=ADMIN_KEY) as client:
        events = aiter(client.operator.events(room, types=["room.changed"]))
        first = asyncio.ensure_future(anext(events))
        capacity = 1
        while not first.done():  # the stream starts at some moment between two changes
            capacity += 1
            await client.operator.change_room(room, capacity=capacity)
            await asyncio.wait([first], timeout=0.5)
        seen = await first
        assert ("room.changed", room) == (seen.type, seen.room)
        assert seen.at is not None
        await client.operator.change_room(room, title="Later")
        await events.aclose()  # type: ignore[attr-defined]
        with SyncClient(served.base, key=ADMIN_KEY) as other:
            later = other.operator.events(room, cursor=seen.cursor)
            again = await asyncio.to_thread(lambda: [*islice(later, 1)])
            later.close()  # type: ignore[attr-defined]
    assert (room, True) == (again[0].room, again[0].id > seen.id)


async def test_a_stream_that_is_refused(served: Serving) -> None:
    """A refusal is the error of its code, at once."""
    async with Client(served.base, key="wr_wrong") as client:
        with pytest.raises(errors.Unauthorized):
            await anext(aiter(client.operator.events()))
    with (
        SyncClient(served.base, key=ADMIN_KEY) as other,
        pytest.raises(errors.InvalidInput, match="types"),
    ):
        next(other.operator.events(types=["unheard.of"]))


async def test_a_server_that_is_not_there() -> None:
    """It is an error after `patience_s`."""
    async with Client("http://127.0.0.1:9", key=ADMIN_KEY, patience_s=0) as client:
        with pytest.raises(errors.BackendUnavailable):
            await anext(aiter(client.operator.events()))
    with (
        SyncClient("http://127.0.0.1:9", key=ADMIN_KEY, patience_s=0) as other,
        pytest.raises(errors.BackendUnavailable),
    ):
        next(other.operator.events())
