"""Slow connections are cut, limited in number and memory, and get in nobody's way."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import random
import re
import socket
import time
from collections.abc import AsyncIterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.clients import HOST, Reply, Wire, request
from tests.support.counts import count
from tests.support.serving import Serving, serving, sockets

pytestmark = pytest.mark.attack

LONGEST_S = 120.0
_TAKEN = ("01", "08")  # established, and closed by the client alone
ARRIVE_S = 2.0
LIMIT = 32
OWN = 4  # sockets of the worker itself that may come and go, to the backend
VISITORS = 8
HEAD = b"POST /v1/rooms/hall/tickets HTTP/1.1\r\nHost: x\r\n"
ADMIN = b"POST /v1/admin/rooms HTTP/1.1\r\nHost: x\r\n"
BODY = b"Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
CHUNKED = b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"
# The share of each kind (one in n), what each sends at first, and what it then keeps sending, as if
# over a very bad line.
SENDERS = {
    "silent": (1, b"", b""),
    "slow header": (1, HEAD + b"X-A: ", b"a"),
    "slow body": (1, HEAD + BODY, b" "),
    "slow body of an operator": (10, ADMIN + BODY, b" "),
    "slow chunks": (10, HEAD + CHUNKED, b"1\r\n \r\n"),
    "idle after an answer": (10, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", b""),
}
FILE = b"GET /static/waiting/page.js HTTP/1.1\r\nHost: x\r\n\r\n"
SMALL = b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + 98 * b"a:\r\n" + b"\r\n"
# What each keeps asking for, without ever reading an answer. The files exceed the system's buffers;
# after them, small requests take many times their size once parsed.
READERS = {"files": FILE * 20_000, "small requests behind files": FILE * 1_000 + SMALL * 2_000}

SMALL_WINDOW, SMALL_BUFFER = 4_096, 65_536
SENDER_KB, READER_KB, OTHER_KB = 32, 512, 32_768
"""The most memory for a slow sender, for a slow reader (an unparsed read of 256 KB, what is parsed,
and an answer), and for everything else together."""


async def send_slowly(port: int, first: bytes, more: bytes) -> bool:
    """Be slow until the server cuts the connection; tell whether it did."""
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


async def never_read(port: int, asked: bytes) -> bool:
    """Keep asking without reading, until the server cuts the connection; tell whether it did."""
    await asyncio.sleep(random.uniform(0, ARRIVE_S))
    loop = asyncio.get_running_loop()
    with socket.socket() as client:
        # A large send buffer would take a megabyte at once, and block everything else in this loop.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SMALL_BUFFER)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_WINDOW)
        client.setblocking(False)
        await loop.sock_connect(client, (HOST, port))
        try:
            async with asyncio.timeout(LONGEST_S):
                # It is never fully sent: the answers would be many times what the system buffers.
                while True:
                    await loop.sock_sendall(client, asked)
        except ConnectionError:
            return True
        except TimeoutError:
            return False


async def be_slow(port: int, many: int) -> dict[str, bool]:
    """Be slow in every way, many times at once; tell for each way whether all were cut."""
    kinds = {
        kind: asyncio.gather(*(send_slowly(port, *sent) for _ in range(many // part)))
        for kind, (part, *sent) in SENDERS.items()
    }
    kinds |= {
        kind: asyncio.gather(*(never_read(port, asked) for _ in range(many // 2)))
        for kind, asked in READERS.items()
    }
    return {kind: all(await done) for kind, done in kinds.items()}


def slow_ones(port: int, many: int) -> dict[str, bool]:
    """Be slow in a separate process: thousands in one loop would slow down the visitors too."""
    return asyncio.run(be_slow(port, many))


@dataclass(slots=True)
class Others:
    """Everybody else: visitors who join, poll and leave, each on their own connections."""

    port: int
    room: str
    served: int = 0
    wrong: list[Reply | Exception] = field(default_factory=list)

    async def visit(self) -> None:
        """Join, poll, check the server's health, and leave."""
        tickets = f"/v1/rooms/{self.room}/tickets"
        async with Wire(self.port) as wire:
            joined = await wire.ask("POST", tickets, body=b"")
            ticket = str(joined.json().get("ticket"))
            polled = await wire.ask("GET", f"{tickets}/{ticket}")
            healthy = await wire.ask("GET", "/healthz")
            left = await wire.ask("DELETE", f"{tickets}/{ticket}")
        right = polled.status == 200 and (ticket, "waiting") == (
            polled.json()["ticket"],
            polled.json()["state"],
        )
        statuses = joined.status, healthy.status, left.status
        if right and statuses == (201, 200, 204):
            self.served += 1
        else:
            self.wrong += [joined, polled, healthy, left]


@contextlib.asynccontextmanager
async def everybody_else(server: Serving, room: str) -> AsyncIterator[Others]:
    """Let visitors come and go while the block runs."""
    others, over = Others(server.port, room), asyncio.Event()

    async def visit_again() -> None:
        while not (over.is_set() or others.wrong):
            try:
                async with asyncio.timeout(LONGEST_S):
                    await others.visit()
            except (OSError, EOFError) as error:
                others.wrong.append(error)

    async with asyncio.TaskGroup() as group:
        for _ in range(VISITORS):
            group.create_task(visit_again())
        try:
            yield others
        finally:
            over.set()


def most_kb(pid: int) -> int:
    """Return the most resident memory of a process since `forget_most`."""
    match = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert match
    return int(match[1])


def forget_most(pid: int) -> None:
    """Make the kernel record a process's peak memory from now on."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


async def test_slow_ones_are_cut_and_harm_nobody(tmp_path: Path) -> None:
    """Slow senders and readers are cut and cost little; meanwhile everybody else is served."""
    many = count("slow_connections")
    senders = sum(many // part for part, *_ in SENDERS.values())
    with (
        serving(tmp_path) as server,
        ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool,
    ):
        worker = server.workers[0]
        room = server.new_room("hall", mode="paused")
        async with everybody_else(server, room) as others:
            forget_most(worker)
            before_kb = most_kb(worker)
            loop = asyncio.get_running_loop()
            cut = await loop.run_in_executor(pool, slow_ones, server.port, many)
            grown_kb = most_kb(worker) - before_kb
    assert dict.fromkeys(SENDERS | READERS, True) == cut
    assert ([], True) == (others.wrong, others.served > VISITORS)
    assert grown_kb < SENDER_KB * senders + READER_KB * many + OTHER_KB


def accepted(port: int) -> int:
    """Return how many connections a server has taken; those that still queue have no inode."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(
        row[1].endswith(f":{port:04X}") and row[3] in _TAKEN and row[9] != "0" for row in rows
    )


async def test_silent_ones_are_bounded(tmp_path: Path) -> None:
    """With `connections` open, no more are accepted; the next is served as soon as one is cut."""
    with serving(tmp_path, connections=LIMIT, connections_per_address=LIMIT) as server:
        open_ones = [await asyncio.open_connection(HOST, server.port) for _ in range(2 * LIMIT)]
        try:
            writer_of_last = open_ones[-1][1]
            writer_of_last.write(request("GET", "/healthz"))
            began = time.monotonic()
            while accepted(server.port) < LIMIT:
                assert time.monotonic() - began < LONGEST_S
                await asyncio.sleep(0.02)
            # From here on by its files, whose numbers are used again: the kernel's list is read in
            # parts, and shows those that were cut beside those that took their place.
            worker = server.workers[0]
            full = most = sockets(worker)
            async with asyncio.timeout(LONGEST_S):
                reading = asyncio.create_task(open_ones[-1][0].read(12))
                while not reading.done():
                    most = max(most, sockets(worker))
                    await asyncio.sleep(0.02)
            assert b"HTTP/1.1 200" == reading.result()
            assert most <= full + OWN
        finally:
            for _, writer in open_ones:
                writer.transport.abort()
