"""Connections that take their time: cut, bounded in number, and in nobody's way."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.support.clients import HOST, request
from tests.support.counts import count
from tests.support.serving import Serving, serving, sockets

LONGEST_S = 120.0
MOMENT_S = 0.05
ARRIVE_S = 2.0
LIMIT = 32
HEAD = b"POST /v1/rooms/hall/tickets HTTP/1.1\r\nHost: x\r\n"
ADMIN = b"POST /v1/admin/rooms HTTP/1.1\r\nHost: x\r\n"
BODY = b"Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
CHUNKED = b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"
# How many of them there are (one in so many), what each sends at once, and what then again and
# again, as if over a very bad line.
KINDS = {
    "silent": (1, b"", b""),
    "slow header": (1, HEAD + b"X-A: ", b"a"),
    "slow body": (1, HEAD + BODY, b" "),
    "slow body of an operator": (10, ADMIN + BODY, b" "),
    "slow chunks": (10, HEAD + CHUNKED, b"1\r\n \r\n"),
    "idle after an answer": (10, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", b""),
}
PROBE = """
import json, select, socket, sys, time
took = []
while not select.select([sys.stdin], [], [], 0.02)[0]:
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 30) as one:
        one.sendall(b"GET /healthz HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n")
        assert one.recv(100).startswith(b"HTTP/1.1 200"), "not healthy"
    took.append(time.monotonic() - began)
print(json.dumps(took))
"""


async def linger(port: int, first: bytes, more: bytes) -> bool:
    """Be slow until the server has enough; tell whether it had."""
    await asyncio.sleep(random.uniform(0, ARRIVE_S))
    reader, writer = await asyncio.open_connection(HOST, port)
    ends = time.monotonic() + LONGEST_S
    try:
        writer.write(first)
        while time.monotonic() < ends:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1):
                    if not await reader.read(4096):
                        return True
            if more:
                writer.write(more)
    except ConnectionError:
        return True
    finally:
        writer.transport.abort()
    return False


@contextlib.contextmanager
def health(port: int) -> Iterator[list[float]]:
    """Ask for health meanwhile, each time on a new connection; the list holds the times after.

    In a process of its own: here a thousand slow clients would slow the asking down as well.
    """
    command = [sys.executable, "-c", PROBE, str(port)]
    took: list[float] = []
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as probe:
        yield took
        took += json.loads(probe.communicate(timeout=60)[0])


async def test_slow_ones_are_cut_and_harm_nobody(served: Serving) -> None:
    """Every kind of slowness is cut off; meanwhile `/healthz` answers about as fast as before."""
    many = count("slow_connections")
    with health(served.port) as alone:
        await asyncio.sleep(2)
    with health(served.port) as took:
        kinds = {
            kind: asyncio.gather(*(linger(served.port, *sent) for _ in range(many // part)))
            for kind, (part, *sent) in KINDS.items()
        }
        for kind, done in kinds.items():
            assert all(await done), kind
    # The first is our yardstick: the same machine, a moment ago. A server that served one slow
    # client after the other would take seconds.
    assert statistics.median(took) < 10 * max(statistics.median(alone), MOMENT_S)


async def test_silent_ones_are_bounded(tmp_path: Path) -> None:
    """With `connections` open, no more are taken; the next is served as soon as one is cut."""
    with serving(tmp_path, connections=LIMIT, connections_per_address=LIMIT) as server:
        worker = server.workers[0]
        before = sockets(worker)
        open_ones = [await asyncio.open_connection(HOST, server.port) for _ in range(2 * LIMIT)]
        try:
            writer_of_last = open_ones[-1][1]
            writer_of_last.write(request("GET", "/healthz"))
            began = time.monotonic()
            while sockets(worker) < before + LIMIT:
                assert time.monotonic() - began < LONGEST_S
                await asyncio.sleep(0.02)
            async with asyncio.timeout(LONGEST_S):
                most, reading = 0, asyncio.create_task(open_ones[-1][0].read(12))
                while not reading.done():
                    most = max(most, sockets(worker) - before)
                    await asyncio.sleep(0.02)
            assert b"HTTP/1.1 200" == reading.result()
            assert most <= LIMIT
        finally:
            for _, writer in open_ones:
                writer.transport.abort()
