"""Runs scripts: sends what this process remembers, retries lost replies, and restores lost rooms.

Every verb is safe to repeat: the caller names the tickets, and calls that count carry an `op_id`.
The client library's own retries are off, because it cannot know that.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat
from typing import Any

from waitroom.engine import keys, policies
from waitroom.engine.connection.clients import Clients
from waitroom.engine.connection.faults import FAULTS, backend_error
from waitroom.engine.memory import RoomMemory
from waitroom.engine.protocol import calls
from waitroom.engine.protocol.calls import ScriptCall
from waitroom.engine.protocol.reply import WRONG_TYPE, Head, Reply, parse
from waitroom.engine.scripts import OF_VISITORS, READS, Verb, outbox_script, run, script
from waitroom.errors import BackendUnavailable, BrokenRoom, UnknownRoom
from waitroom.models import Policy

Clock = Callable[[], int]
"""Returns the time in µs. None means the server's own clock."""

OnChange = Callable[[str], None]
"""Gets the room of every call that changed something."""

OnScript = Callable[[Verb, float, int], None]
"""Gets every script call: its verb, its seconds, and its number of items."""

RETRY_AFTER_S = (0.01, 0.05, 0.2)
"""Pauses before a call is tried again; with `patience_s` the last one repeats until it is over."""

CLAIM_AFTER_S = 15.0
"""How long processes that remember a lost room have to bring it back. Then a process that does not
remember it uses the highest epoch on a ticket. Longer than a lap of the ticker."""

_LOSSES_PER_CALL = 3
_QUIET = READS | {Verb.POLL, Verb.ADVANCE, Verb.SAMPLE}
"""Verbs after which the ticker does not need to look at the room."""


class Runner:
    """Holds the clients, and the memory of each room."""

    def __init__(
        self,
        clients: Clients,
        *,
        flags: bool,
        clock: Clock | None = None,
        patience_s: float | None = None,
    ) -> None:
        self.client: Any = clients.operators
        self.node_of = clients.probe.node_of
        self.away: frozenset[str] = frozenset()
        """Nodes that are known to be away: a call to one of them is tried only once."""

        self.flags = flags
        self.clock = clock
        self.patience_s = patience_s
        self.visitors: Any = clients.visitors
        self.memories: dict[str, RoomMemory] = {}
        self.on_change: list[OnChange] = []
        self.on_script: list[OnScript] = []

    def now_s(self) -> float:
        """Return the wall-clock time, by which tickets age."""
        return self.clock() / 1e6 if self.clock else time.time()

    def timer_s(self) -> float:
        """Return a monotonic time: setting the clock does not move it."""
        return self.clock() / 1e6 if self.clock else time.monotonic()

    def memory(self, room: str) -> RoomMemory:
        """Return the memory of a room."""
        memory = self.memories.get(room)
        if memory is None:
            memory = self.memories[room] = RoomMemory()
        return memory

    async def run(self, room: str, call: ScriptCall, *, op_id: str | None = None) -> Reply:
        """Run a call; restore the room first if its data was lost."""
        memory, verb = self.memory(room), call.verb
        for _ in range(_LOSSES_PER_CALL):
            reply = await self._send(room, call, op_id)
            if reply.word == "unknown_room":
                self.memories.pop(room, None)
                raise UnknownRoom(room)
            if reply.word != "lost":
                head = reply.head
                if head is not None:
                    memory.saw(head)
                    memory.note(reply.endings)
                    if verb is not Verb.DROP:
                        await self._follow_policy(room, memory, head)
                if verb not in _QUIET:
                    for tell in self.on_change:
                        tell(room)
                return reply
            if verb is Verb.CONFIGURE:
                return reply
            await self._restore(room, memory)
        raise BackendUnavailable(
            f"room {room!r} was lost again and again; is the server being flushed?"
        )

    def knows(self, room: str) -> bool:
        """Return whether the policy of a room is known here."""
        memory = self.memories.get(room)
        return memory is not None and memory.policy is not None

    async def know(self, room: str) -> None:
        """Make sure that the policy of a room is known here."""
        memory = self.memory(room)
        if memory.policy is None:
            await self.load_policy(room, memory)
        if memory.policy is None:
            self.memories.pop(room, None)
            raise UnknownRoom(room)

    async def command(self, *args: Any) -> Any:
        """Run a plain command that may be repeated."""
        key = str(args[1]) if len(args) > 1 else ""
        return await self.repeat(lambda: self.client.execute_command(*args), key)

    async def streams(self, room: str, *reads: tuple[str, bool, str, int]) -> list[Any]:
        """Read streams of a room, each given as (key, newest first, from which id on, how many)."""

        async def ask() -> list[Any]:
            pipe = self.client.pipeline(transaction=False)
            pipe.hmget(keys.room_key(room, "meta"), ("epoch", "dropped"))
            for name, newest, start, most in reads:
                key = keys.room_key(room, name)
                if newest:
                    pipe.xrevrange(key, "+", start, most)
                else:
                    pipe.xrange(key, start, "+", most)
            return list(await pipe.execute())

        answers: list[Any] = await self.repeat(ask, keys.room_key(room, "meta"))
        epoch, dropped = answers[0]
        # A lost room still exists, as long as we can restore it.
        if dropped is not None or (epoch is None and not self.knows(room)):
            self.memories.pop(room, None)
            raise UnknownRoom(room)
        return answers[1:]

    async def load_policy(self, room: str, memory: RoomMemory) -> None:
        """Read the policy of a room from the server, if it has one."""
        key = keys.room_key(room, "config")
        raw = await self.repeat(lambda: self.client.hgetall(key), key)
        if raw:
            memory.policy, memory.version = policies.read(raw)
            memory.message_at_ms = policies.message_at_ms(raw)

    async def _send(self, room: str, call: ScriptCall, op_id: str | None) -> Reply:
        # By verb: the same id for an `admit` and a `kick` means two operations, not a repeat.
        names = keys.script_keys(room, op_id and f"{call.verb}.{op_id}")
        source = script(call.verb, self.flags)
        args = [*self.memory(room).args(self.clock() if self.clock else None), *call.args]
        client = self.visitors if call.verb in OF_VISITORS else self.client
        began = time.perf_counter()
        try:
            raw = await self.repeat(lambda: run(client, source, names, args), names[0])
            return parse(raw)
        finally:
            for tell in self.on_script:
                tell(call.verb, time.perf_counter() - began, call.items)

    async def outbox(self, name: str, names: list[str], args: list[Any]) -> Any:
        """Run a script of the outbox; each of them recognises a repeat by itself."""
        source = outbox_script(name, self.flags)
        return await self.repeat(lambda: run(self.client, source, names, args), names[0])

    async def reads(self, commands: Sequence[tuple[str, ...]]) -> list[Any]:
        """Run reads in one pipeline; a key of the wrong type gives an error as its reply."""
        if not commands:
            return []

        async def ask() -> list[Any]:
            pipe = self.client.pipeline(transaction=False)
            for command in commands:
                pipe.execute_command(*command)
            answers = list(await pipe.execute(raise_on_error=False))
            for answer in answers:
                if isinstance(answer, Exception) and "WRONGTYPE" not in str(answer):
                    raise answer
            return answers

        return list(await self.repeat(ask, commands[0][1]))

    async def repeat(self, call: Callable[[], Any], key: str) -> Any:
        """Make a repeatable call about a key; raise our own errors if it fails."""
        give_up = float("inf")
        pauses: Iterator[float] = iter(RETRY_AFTER_S)
        if self.patience_s is not None:
            give_up = time.monotonic() + self.patience_s
            pauses = chain(pauses, repeat(RETRY_AFTER_S[-1]))
        while True:
            try:
                return await call()
            except FAULTS as error:
                known = backend_error(error)
                if known is None and "WRONGTYPE" in str(error):
                    raise BrokenRoom(WRONG_TYPE.format("a key")) from error
                if known is None:
                    raise
                pause_s = next(pauses, float("inf"))
                late = time.monotonic() + pause_s >= give_up
                hopeless = bool(self.away) and self.node_of(key) in self.away
                if late or hopeless or not isinstance(known, BackendUnavailable):
                    raise known from error
            await asyncio.sleep(pause_s)

    async def _follow_policy(self, room: str, memory: RoomMemory, head: Head) -> None:
        behind = head.version < memory.version
        if head.version > memory.version:
            await self.load_policy(room, memory)
        if memory.epoch == head.epoch and (behind or memory.forgot):
            # A failover lost the last change of the policy, or endings that this process remembers.
            await self._restore(room, memory)

    async def _restore(self, room: str, memory: RoomMemory) -> None:
        """Write policy, epoch, watermark, endings and batches of codes again.

        A second process adds its endings.
        """
        if memory.policy is None:
            self.memories.pop(room, None)
            raise UnknownRoom(room)
        memory.limited.clear()  # the counts are lost too
        claim = 0 if memory.epoch else self._claim(room, memory, memory.policy)
        await self.command("SADD", keys.ROOMS, room)
        batches = [*memory.endings.batches()] if memory.endings else [""]
        for endings in batches:
            call = calls.restore(
                memory.version, memory.policy, memory.message_at_ms, claim=claim, endings=endings
            )
            reply = await self._send(room, call, None)
            if reply.word == "unknown_room":
                self.memories.pop(room, None)
                raise UnknownRoom(room)
            head = reply.head
            if head is not None:
                memory.saw(head)
        if memory.batches:
            fields = [part for field in memory.batches.items() for part in field]
            await self.command("HSET", keys.room_key(room, "batches"), *fields)
        memory.forgot = False

    def _claim(self, room: str, memory: RoomMemory, policy: Policy) -> int:
        """Return the highest epoch on a ticket for a room that nobody remembers; 0 = a new epoch.

        Processes that remember come first. If no ticket was shown either, everybody who may still
        poll gets the time to do so.
        """
        now_s = self.timer_s()
        if memory.lost_since_s is None:
            memory.lost_since_s = now_s
        patience_s = CLAIM_AFTER_S + (0 if memory.claim else policy.recover_s)
        if now_s - memory.lost_since_s < patience_s:
            raise BackendUnavailable(
                f"room {room!r} was lost, and this process has just started; it waits for one that "
                "remembers the room"
            )
        return memory.claim

    def declare(self, room: str, policy: Policy) -> None:
        """Remember the policy of a room that a configuration file declares."""
        memory = self.memory(room)
        if memory.policy is None:
            memory.policy = policy  # at version 0, so that a stored policy wins
