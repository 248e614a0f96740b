"""What the acceptance tests share: worker processes, a room's log, and reads of its raw keys."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from tests.acceptance.checks import Event
from tests.support import mutants
from tests.support.clock import SECRET
from waitroom.engine.keys import ROOM_KEYS, room_key
from waitroom.engine.scripts import Verb, script
from waitroom.tickets import KeyRing

RING = KeyRing([SECRET])
_SPAWN = multiprocessing.get_context("spawn")


def place_of(room: str, ticket: str) -> int:
    """Return the place that a ticket carries."""
    return RING.read(room, ticket).place


# Processes --------------------------------------------------------------------------------------


def _work(target: Callable[..., Any], args: tuple[Any, ...]) -> None:
    mutants.apply()
    asyncio.run(target(*args))


def start_worker(target: Callable[..., Any], *args: Any) -> BaseProcess:
    """Run an async function in a separate process, which ends with ours."""
    process = _SPAWN.Process(target=_work, args=(target, args), daemon=True)
    process.start()
    return process


@contextmanager
def workers(target: Callable[..., Any], *argses: tuple[Any, ...]) -> Iterator[list[BaseProcess]]:
    """Run one process per tuple of arguments; whatever still runs at the end is killed."""
    running: list[BaseProcess] = []
    try:
        running += (start_worker(target, *args) for args in argses)
        yield running
    finally:
        for process in running:
            process.kill()
            process.join()


async def finished(processes: list[BaseProcess], within_s: float) -> None:
    """Wait for processes to end by themselves, without an error."""
    for process in processes:
        await asyncio.to_thread(process.join, within_s)
    codes = [process.exitcode for process in processes]
    assert [0] * len(processes) == codes, f"exit codes {codes}; None still runs"


class Notes:
    """A worker's own log: a line is with the kernel when `add` returns, so a kill loses none."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def add(self, **fields: Any) -> None:
        """Write one line."""
        os.write(self._file, json.dumps(fields).encode() + b"\n")


def read_notes(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of all workers, each worker's in its own order."""
    return [
        json.loads(line)
        for path in sorted(folder.glob("*.notes"))
        for line in path.read_bytes().splitlines()
    ]


# The room, read without the engine --------------------------------------------------------------


def event_of(fields: dict[bytes, bytes]) -> Event:
    """Read one entry of the stream."""
    ids = tuple(fields[b"ids"].decode().split())
    reason = fields.get(b"reason", b"").decode()
    return Event(fields[b"kind"].decode(), int(fields[b"at"]), ids, reason)


class Log:
    """Follows a room's event stream, often enough that trimming removes nothing unread."""

    def __init__(self, client: Any, room: str) -> None:
        self._client, self._key = client, room_key(room, "events")
        self.events: list[Event] = []
        self.after = b"0"
        self._ended = False

    async def catch_up(self) -> list[Event]:
        """Read to the end; return what is new."""
        new: list[Event] = []
        while True:
            answer: Any = await self._client.xread({self._key: self.after}, count=2_000)
            if not answer:
                self.events += new
                return new
            for entry_id, fields in answer[0][1]:
                self.after = entry_id
                new.append(event_of(fields))

    @asynccontextmanager
    async def follow(self, pause_s: float = 0.05) -> AsyncIterator[None]:
        """Keep reading in the background while the block runs, and then to the end."""
        reading = asyncio.create_task(self._read_on(pause_s))
        try:
            yield
        finally:
            self._ended = True
            await reading

    async def _read_on(self, pause_s: float) -> None:
        while not self._ended:
            await self.catch_up()
            await asyncio.sleep(pause_s)
        await self.catch_up()


async def members(client: Any, room: str, state: str) -> dict[str, int]:
    """Return who is in a state, with place or deadline, in order."""
    pairs: Any = await client.zrange(room_key(room, state), 0, -1, withscores=True)
    return {member.decode(): int(score) for member, score in pairs}


async def everybody(client: Any, room: str) -> dict[str, dict[str, int]]:
    """Return the members of every state."""
    return {name: await members(client, room, name) for name in ("waiting", "called", "inside")}


async def dump(client: Any, room: str) -> dict[str, Any]:
    """Return everything in the room's keys, in a comparable form."""
    contents: dict[str, Any] = {}
    for name in ROOM_KEYS:
        key = room_key(room, name)
        kind = await client.type(key)
        if kind == b"hash":
            contents[name] = await client.hgetall(key)
        elif kind == b"zset":
            contents[name] = await client.zrange(key, 0, -1, withscores=True)
        elif kind == b"stream":
            contents[name] = [fields for _, fields in await client.xrange(key)]
        elif kind != b"none":
            contents[name] = await client.dump(key)
    return contents


async def load_scripts(client: Any, flags: bool) -> None:
    """Load every script into the server, so that the first reply of each is not NOSCRIPT."""
    for verb in Verb:
        await client.script_load(script(verb, flags).source)


# Filling a room fast ----------------------------------------------------------------------------


async def fill(
    client: Any,
    room: str,
    state: str,
    people: int,
    first_score: int,
    step: int,
    seen_s: int | None = None,
) -> list[str]:
    """Put people into a state by the documented key layout; return their ids in order."""
    ids: list[str] = []
    for start in range(0, people, 2_000):
        some = [secrets.token_urlsafe(12) for _ in range(min(2_000, people - start))]
        scores = [first_score + (start + i) * step for i in range(len(some))]
        pipe = client.pipeline(transaction=False)
        pipe.zadd(room_key(room, state), dict(zip(some, scores, strict=True)))
        if state == "inside":
            sids = {ticket_id: first_score + start + i for i, ticket_id in enumerate(some)}
            pipe.hset(room_key(room, "sids"), mapping=sids)
        if seen_s is not None:
            pipe.hset(room_key(room, "seen"), mapping=dict.fromkeys(some, seen_s))
        await pipe.execute()
        ids += some
    return ids
