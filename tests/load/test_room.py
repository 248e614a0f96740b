"""What a load test asks beside its crowd, and what it says without a good answer."""

from __future__ import annotations

import json

import pytest

from tests.load.stub import Stub, replying, served
from waitroom.errors import BackendUnavailable, RoomExists, UnknownRoom, WaitroomError
from waitroom.load.plan import Limits
from waitroom.load.room import Front, Rules
from waitroom.load.target import Target


def reply(status: int, **fields: object) -> bytes:
    """Return a JSON reply as bytes."""
    body = json.dumps(fields).encode()
    return f"HTTP/1.1 {status} x\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


async def clock(target: Target) -> float:
    """Ask for the server's clock."""
    front = Front(target)
    try:
        return await front.clock("x")
    finally:
        await front.aclose()


@pytest.mark.parametrize(
    ("data", "kind", "message"),
    [
        (reply(404, code="unknown_room"), UnknownRoom, "there is no room 'x'"),
        (reply(500, detail="out of order"), WaitroomError, "the server says: out of order"),
        (reply(200, hello="there"), BackendUnavailable, "does not answer as Waitroom does"),
        (b"220 mail.example\r\n\r\n", BackendUnavailable, "does not speak HTTP"),
        (b"", BackendUnavailable, "closes the connection"),
    ],
    ids=["no room", "refused", "another server", "not HTTP", "closed"],
)
async def test_a_wrong_server_is_named(
    data: bytes, kind: type[WaitroomError], message: str
) -> None:
    """Before anybody comes, the room must exist and the server must be a Waitroom."""
    async with replying(data, data) as target:
        with pytest.raises(kind, match=message):
            await clock(target)


async def test_the_clock_of_a_server() -> None:
    """An existing room tells its time, which is far ahead of a monotonic clock."""
    async with served(Stub()) as target:
        assert await clock(target) > 0


async def test_limits_need_a_key() -> None:
    """Without a key nothing is asked and nothing known; with one the policy tells."""
    policy = {"capacity": 5, "mode": "manual"}
    async with replying(reply(200, policy=policy, version=3)) as target:
        stranger, operator = Front(target), Front(target, key="wr_x")
        assert Rules(Limits()) == await stranger.rules("x")
        assert Rules(Limits(5, known=True, in_order=False), 3) == await operator.rules("x")
        await operator.aclose()


async def test_a_room_that_exists_is_not_made_again() -> None:
    """The room's own error says so."""
    async with replying(reply(409, code="room_exists")) as target:
        front = Front(target, key="wr_x")
        with pytest.raises(RoomExists):
            await front.make("x", "slots", {})
        await front.aclose()


@pytest.mark.parametrize(("data", "text"), [(reply(200, a=1), '{"a": 1}'), (reply(404), "")])
async def test_metrics_may_be_missing(data: bytes, text: str) -> None:
    """A server that does not show its metrics can still be loaded."""
    async with replying(data) as target:
        front = Front(target)
        assert text == await front.metrics()
        await front.aclose()
