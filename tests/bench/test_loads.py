"""The loads of the benchmark of the server count what failed, and keep what they opened."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from bench.web.idle import idle_connections
from bench.web.paced import paced

ANSWERS = {
    b"/healthz": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    b"/last": b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
    b"/refused": b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n",
    b"/fault": b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",
    b"/half": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
}
ENDS = (b"/last", b"/half")
MOST = 3


@pytest.fixture
async def port() -> AsyncIterator[int]:
    """Run a site that answers as the path says; of its connections only `MOST` are kept."""
    open_now = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal open_now
        open_now += 1
        keeps = open_now <= MOST
        try:
            while keeps and (head := await reader.readuntil(b"\r\n\r\n")):
                path = head.split()[1]
                writer.write(ANSWERS[path])
                if path in ENDS:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            open_now -= 1
            writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


@pytest.mark.parametrize(
    ("path", "errors", "failed"),
    [("healthz", 0, 0), ("last", 0, 0), ("refused", 10, 0), ("fault", 10, 10), ("half", 10, 10)],
)
async def test_failures_are_counted_once(port: int, path: str, errors: int, failed: int) -> None:
    """A refusal is an error; a 5xx and half an answer are failures too, and the load goes on."""
    request = f"GET /{path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    async with paced(port, [request], 2) as load:
        await load.run(1_000, 0.01)
    assert (10, errors, failed) == (load.total, load.errors, load.failed)


async def test_idle_connections_are_those_still_open(port: int) -> None:
    """Connections that the server did not keep are not counted as idle."""
    async with idle_connections(port, 2 * MOST) as connections:
        assert MOST == sum(connection.kept for connection in connections)
