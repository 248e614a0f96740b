"""One connection to the private server on which calls are answered in the order they were sent.

A rehearsal of a million people makes millions of calls one after the other, and none of them may
overtake another, or the same seed would not give the same result. So the next calls are packed and
sent while the server still works on the last ones.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import hiredis

from waitroom.engine import Engine, keys
from waitroom.engine.protocol import parse
from waitroom.engine.scripts import Verb, script
from waitroom.errors import BackendUnavailable

AT_ONCE = 400
"""Most calls that are packed together; calls for many people count as so many."""

Took = Callable[[list[Any]], None]


class Wire:
    """Sends verbs of one room, raw, with what the engine remembers of it."""

    def __init__(self, engine: Engine, room: str) -> None:
        self._engine = engine
        self._room = room
        self._keys = keys.script_keys(room)
        self._hashes: dict[Verb, str] = {}
        self._parser = hiredis.Reader()
        self._due: deque[tuple[int, Took]] = deque()

    async def open(self, socket: Path, verbs: Sequence[Verb]) -> None:
        """Connect, and let the server know the scripts."""
        self._in, self._out = await asyncio.open_unix_connection(str(socket), limit=2**20)
        for verb in verbs:
            one = script(verb, self._engine.runner.flags)
            self._hashes[verb] = one.sha
            await self._engine.runner.client.execute_command("SCRIPT", "LOAD", one.source)

    async def close(self) -> None:
        """Close the connection."""
        self._out.close()
        await self._out.wait_closed()

    async def send(self, verb: Verb, calls: Sequence[Sequence[Any]], took: Took) -> None:
        """Send calls, each its own arguments.

        `took` gets the raw replies in order, some at a time; `settle` waits for the last.
        """
        runner = self._engine.runner
        now_us = runner.clock() if runner.clock else None
        for start in range(0, len(calls), AT_ONCE):
            some = calls[start : start + AT_ONCE]
            head = ["EVALSHA", self._hashes[verb], len(self._keys), *self._keys]
            head += runner.memory(self._room).args(now_us)
            self._out.write(b"".join([hiredis.pack_command((*head, *own)) for own in some]))
            self._due.append((len(some), took))
            if len(self._due) > 1:
                await self._read()
        await self._out.drain()

    async def settle(self) -> None:
        """Wait for all answers."""
        while self._due:
            await self._read()

    async def _read(self) -> None:
        number, took = self._due.popleft()
        parser = self._parser
        found: list[Any] = []
        while len(found) < number:
            answer = parser.gets()
            if answer is False:
                data = await self._in.read(2**17)
                if not data:
                    raise BackendUnavailable("the private server of the rehearsal has ended")
                parser.feed(data)
                continue
            if isinstance(answer, Exception):
                raise BackendUnavailable(f"the private server answered: {answer}")
            found.append(answer)
        self._engine.runner.memory(self._room).saw(parse(found[-1]))
        took(found)
