"""HTTP/1.1 on the wire: every form of a reply, and every way to get none."""

from __future__ import annotations

import pytest

from tests.load.stub import replying
from waitroom.load.http import Failed, Reply, Wire
from waitroom.load.target import Target

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n"
SHORT = OK + b'content-length: 8\r\n\r\n{"a": 1}'


async def asked(target: Target, times: int = 1) -> list[Reply]:
    """Send several requests over one connection."""
    wire = Wire(target)
    try:
        return [await wire.ask("GET", "/") for _ in range(times)]
    finally:
        await wire.aclose()


@pytest.mark.parametrize(
    ("data", "status", "body", "retry_after_s"),
    [
        (SHORT, 200, b'{"a": 1}', 0),
        (OK + b"Content-Length: 0\r\n\r\n", 200, b"", 0),
        (b"HTTP/1.1 204 x\r\n\r\n", 204, b"", 0),
        (b"HTTP/1.1 503 x\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n", 503, b"", 7),
        (b"HTTP/1.1 503 x\r\nretry-after: soon\r\ncontent-length: 0\r\n\r\n", 503, b"", 0),
        (CHUNKED + b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", 200, b"abcde", 0),
        (OK + b"\r\nuntil the end", 200, b"until the end", 0),
    ],
    ids=["length", "empty", "no content", "retry", "odd retry", "chunked", "until close"],
)
async def test_replies(data: bytes, status: int, body: bytes, retry_after_s: float) -> None:
    """Status, body and Retry-After are read, however the end of a body is marked."""
    async with replying(data) as target:
        (reply,) = await asked(target)
    assert (status, body, retry_after_s) == (reply.status, reply.body, reply.retry_after_s)
    assert reply.sent <= reply.came


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "connection_lost"),
        (OK + b"content-length: 9\r\n\r\nhalf", "connection_lost"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "no_http"),
        (OK + b"content-length: 99999999999\r\n\r\n", "no_http"),
    ],
    ids=["closed", "half", "not HTTP", "too long"],
)
async def test_no_reply(data: bytes, reason: str) -> None:
    """A failure has one word, which can be counted."""
    async with replying(data) as target:
        with pytest.raises(Failed, match=reason):
            await asked(target)


async def test_nobody_listens() -> None:
    """A port where nothing listens refuses."""
    async with replying() as target:
        pass
    with pytest.raises(Failed, match="refused"):
        await asked(target)


async def test_a_kept_connection_that_was_closed_is_not_a_failure() -> None:
    """A server may close an idle connection at any time: the request is sent once more."""
    async with replying(SHORT, b"", SHORT) as target:
        assert [200, 200] == [reply.status for reply in await asked(target, times=2)]


@pytest.mark.parametrize(
    ("body", "document"), [(b'{"a": 1}', {"a": 1}), (b"[1]", {}), (b"<html>", {}), (b"", {})]
)
def test_json(body: bytes, document: dict[str, int]) -> None:
    """Anything but a JSON object reads as an empty one."""
    assert document == Reply(200, body, 0.0, 0.0, 0.0).json()
