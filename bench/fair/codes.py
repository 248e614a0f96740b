"""What an entry code costs a join: joins per second of the server's core with ÷ without, same run.

One `waitroom serve` with one worker on a core of its own, and two rooms in which everybody waits.
In turns, thousands of people join each of them over HTTP on 64 connections that are always full,
known by their `Idempotency-Key`; in one room each shows a code, as they typed it. Its MAC is
checked, and the script checks and notes its use. Seconds are those that the server's process was on
a processor: it is what joins wait for, and neighbours on this machine do not change it much.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from itertools import repeat

from bench.report import Figures, Line
from bench.web import cores
from bench.web.ground import Ground, ground
from bench.web.line_up import ours
from bench.web.peers import Peer
from waitroom.entry_codes import MOST_CODES
from waitroom.models import Mode, Needs, Policy

LINES = (
    Line("code_join_ratio", "joins/s with an entry code ÷ without", least=0.9),
    Line("joins_per_s_with_code", "joins with an entry code, per second of a core"),
    Line("joins_per_s_with_key", "the same, without a code"),
)
CONNECTIONS = 64


async def measure(rounds: int, people: int) -> Figures:
    """Measure both sides in turns; the first round only warms up."""
    server_core, load_core = cores.pick()
    with cores.on_core(load_core):
        async with ground() as on:
            return await _measured(on, server_core, rounds, people)


async def _measured(on: Ground, core: int, rounds: int, people: int) -> Figures:
    engine = on.rig.engine
    await engine.create("plain", Policy(mode=Mode.PAUSED))
    await engine.create("coded", Policy(mode=Mode.PAUSED, needs=Needs.CODE))
    batch = await engine.issue("coded", min(MOST_CODES, (rounds + 1) * people))
    codes = list(engine.codes("coded", batch))
    plain: list[float] = []
    coded: list[float] = []
    async with ours(on, core) as server:
        for number in range(rounds + 1):
            some = codes[number * people : (number + 1) * people]
            sides = [
                (plain, _requests("plain", repeat("{}", people))),
                (coded, _requests("coded", (f'{{"code":"{code}"}}' for code in some))),
            ]
            for times, requests in sides if number % 2 else reversed(sides):
                times.append(await _sent(server, list(requests)))
    taken = (await engine.batches("coded"))[0].used
    if taken != (rounds + 1) * people:
        raise RuntimeError(f"{taken} uses are taken, not one for each join")
    # Of all rounds together: the kernel counts a process's time in steps of 10 ms.
    with_code, without = (rounds * people / sum(times[1:]) for times in (coded, plain))
    return {
        "code_join_ratio": with_code / without,
        "joins_per_s_with_code": with_code,
        "joins_per_s_with_key": without,
    }


def _requests(room: str, bodies: Iterator[str]) -> Iterator[bytes]:
    for body in bodies:
        head = f"POST /v1/rooms/{room}/tickets HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        key = f"Idempotency-Key: {secrets.token_hex(16)}\r\nContent-Length: {len(body)}\r\n\r\n"
        yield f"{head}{key}{body}".encode()


async def _sent(server: Peer, requests: list[bytes]) -> float:
    """Send all requests; return the server's seconds until all have their place."""
    rest = iter(requests)

    async def one_connection() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        for request in rest:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 201"):
                raise RuntimeError(f"a join was refused: {head[:200]!r}")
            length = head.lower().split(b"content-length: ", 1)[1].split(b"\r\n", 1)[0]
            await reader.readexactly(int(length))
        writer.close()

    before = server.cpu_s()
    await asyncio.gather(*(one_connection() for _ in range(CONNECTIONS)))
    return server.cpu_s() - before
