"""One connection that answers calls in the order they were sent, for a rehearsal.

A rehearsal of a million people makes millions of calls in strict order; otherwise the same seed
would not give the same result. So the next calls are packed and sent while the server still works
on the last. There are no repeats and no recovery: the server is private, and a rehearsal whose
connection breaks has failed.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

import hiredis

from waitroom.engine import keys
from waitroom.engine.memory import RoomMemory
from waitroom.engine.protocol import calls, replies
from waitroom.engine.protocol.calls import ScriptCall
from waitroom.engine.protocol.replies import EnteredTicket, JoinedTicket, Polled
from waitroom.engine.protocol.reply import Reply, parse, word_of
from waitroom.engine.runner import Runner
from waitroom.engine.scripts import Verb, script
from waitroom.errors import BackendUnavailable
from waitroom.tickets import KeyRing

VERBS = (Verb.JOIN, Verb.POLL, Verb.ENTER, Verb.FINISH, Verb.LEAVE, Verb.RENEW)
AT_ONCE = 400
"""Most calls that are packed together; a call for many people counts once per person."""

_OnReplies = Callable[[list[Any]], None]


class Pipeline:
    """Sends visitors' verbs for one room: `async with engine.pipeline(room, socket) as pipeline`.

    A ticket is its id and its place, 0 for none. Each reply goes to the callback of its call, in
    order and in groups; `settle` waits for the last. An exception in a callback ends the rehearsal.
    """

    def __init__(self, runner: Runner, ring: KeyRing, room: str, socket: Path) -> None:
        self._runner, self._ring, self._room, self._socket = runner, ring, room, socket
        self._keys = keys.script_keys(room)
        self._hashes: dict[Verb, str] = {}
        self._parser = hiredis.Reader()
        self._due: deque[tuple[int, _OnReplies]] = deque()

    async def __aenter__(self) -> Self:
        self._in, self._out = await asyncio.open_unix_connection(str(self._socket), limit=2**20)
        for verb in VERBS:
            source = script(verb, self._runner.flags)
            self._hashes[verb] = source.sha
            await self._runner.command("SCRIPT", "LOAD", source.source)
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._out.close()
        with contextlib.suppress(OSError):  # the server has ended; the reader has reported it
            await self._out.wait_closed()

    async def join(
        self,
        tickets: Sequence[tuple[str, int]],
        on_reply: Callable[[Sequence[JoinedTicket]], None],
        *,
        restore: bool = False,
    ) -> None:
        """Join tickets in one call, or put them back into their places."""
        draw = self._memory.draw(self._ring, self._room)
        rows = [(ticket_id, self._claim(place), False, "", "", "") for ticket_id, place in tickets]
        call = calls.join(rows, draw, restore=restore)
        await self._send([call], lambda raw: on_reply(replies.joined(_parsed(raw)).tickets))

    async def poll(
        self, ids: Sequence[str], places: Sequence[int], on_reply: Callable[[Polled], None]
    ) -> None:
        """Poll tickets in one call. All of them have a place."""
        # Millions of polls go through here, so there is no function call per ticket.
        epoch = self._memory.epoch
        call = calls.poll(ids, [f"{place}:{epoch}" for place in places])
        await self._send([call], lambda raw: on_reply(replies.polled(_parsed(raw))))

    async def enter(
        self,
        tickets: Sequence[tuple[str, int]],
        on_reply: Callable[[Sequence[EnteredTicket]], None],
    ) -> None:
        """Let called tickets go inside, in one call."""
        ids = [ticket_id for ticket_id, _ in tickets]
        call = calls.enter(ids, [self._claim(place) for _, place in tickets])
        await self._send([call], lambda raw: on_reply(replies.entered(_parsed(raw))))

    async def finish(self, ids: Sequence[str], on_words: Callable[[list[str]], None]) -> None:
        """End sessions, one call for each."""
        await self._send([calls.finish(ticket_id, None) for ticket_id in ids], _words(on_words))

    async def leave(self, tickets: Sequence[tuple[str, int]]) -> None:
        """Give up places, one call for each; nobody waits for an answer."""
        leaves = [calls.leave(ticket_id, self._claim(place)) for ticket_id, place in tickets]
        await self._send(leaves, lambda _: None)

    async def vouch(
        self,
        sessions: Sequence[tuple[str, int, int | None, int | None]],
        on_words: Callable[[list[str]], None],
    ) -> None:
        """Renew sessions as a gate does: each has a ticket, a sid and its previous end."""
        renewals = [
            calls.renew(ticket_id, self._claim(place), sid, until_ms)
            for ticket_id, place, sid, until_ms in sessions
        ]
        await self._send(renewals, _words(on_words))

    async def flush(self) -> None:
        """Delete all data of the server, as a crash without a disk would."""
        await self._runner.command("FLUSHALL")

    async def settle(self) -> None:
        """Wait for all answers."""
        while self._due:
            await self._read()

    @property
    def _memory(self) -> RoomMemory:
        return self._runner.memory(self._room)

    def _claim(self, place: int) -> str:
        return calls.claim(place, self._memory.epoch) if place else ""

    async def _send(self, some: Sequence[ScriptCall], on_replies: _OnReplies) -> None:
        clock = self._runner.clock
        now_us = clock() if clock else None
        for start in range(0, len(some), AT_ONCE):
            batch = some[start : start + AT_ONCE]
            head = ["EVALSHA", self._hashes[batch[0].verb], len(self._keys), *self._keys]
            head += self._memory.args(now_us)
            packed = [hiredis.pack_command((*head, *call.args)) for call in batch]
            self._out.write(b"".join(packed))
            self._due.append((len(batch), on_replies))
            if len(self._due) > 1:
                await self._read()
        await self._out.drain()

    async def _read(self) -> None:
        number, on_replies = self._due.popleft()
        parser = self._parser
        answers: list[Any] = []
        while len(answers) < number:
            answer = parser.gets()
            if answer is False:
                data = await self._in.read(2**17)
                if not data:
                    raise BackendUnavailable("the private server of the rehearsal has ended")
                parser.feed(data)
                continue
            if isinstance(answer, Exception):
                raise BackendUnavailable(f"the private server answered: {answer}")
            answers.append(answer)
        head = parse(answers[-1]).head
        if head is not None:
            self._memory.saw(head)
        on_replies(answers)


def _parsed(raw: list[Any]) -> Reply:
    (answer,) = raw
    return parse(answer)


def _words(on_words: Callable[[list[str]], None]) -> _OnReplies:
    """Read only the word of each reply: there is one reply per person."""
    return lambda raw: on_words([word_of(answer) for answer in raw])
