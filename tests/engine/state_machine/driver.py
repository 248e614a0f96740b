"""One room, two engines: a call is made, the keys are read, and the model judges both."""

from __future__ import annotations

import asyncio
import base64
import itertools
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from hypothesis.stateful import RuleBasedStateMachine

from tests.engine.state_machine.code_model import CodeModel
from tests.engine.state_machine.facts import FOREVER, Event, Facts, Step
from tests.engine.state_machine.model import Model
from tests.support.clock import SECRET, Clock
from waitroom import entry_codes, errors
from waitroom.crockford import written
from waitroom.engine import Engine, policies
from waitroom.engine.connection.connect import connect
from waitroom.engine.endings import REINSTATED
from waitroom.engine.keys import ROOM_KEYS, ROOMS, room_key
from waitroom.engine.memory import REV_JUMP
from waitroom.engine.protocol import calls
from waitroom.engine.protocol.replies import COUNTERS
from waitroom.entry_codes import EntryCode
from waitroom.models import Policy
from waitroom.tickets import KeyRing

ROOM = "state-machine"
PER_MINUTE = 3
"""New places that one network gets per minute."""

READS = ("stats", "list", "check")
T = TypeVar("T")


class CountingRing(KeyRing):
    """Returns ids in order instead of at random, so that a failure can be replayed."""

    def __init__(self) -> None:
        super().__init__([SECRET])
        self.made = 0

    def new_ids(self, number: int) -> list[str]:
        """Return the next ids."""
        first, self.made = self.made + 1, self.made + number
        numbers = (made.to_bytes(12, "big") for made in range(first, self.made + 1))
        return [base64.urlsafe_b64encode(number).decode() for number in numbers]


class Driver(RuleBasedStateMachine):
    """One room, two engines, and a crowd that keeps its tickets."""

    url: ClassVar[str]
    facts: Facts
    model: Model

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.loop = asyncio.new_event_loop()
        self.backend = self.run(connect(self.url, Path("/nowhere"), 30.0))
        self.raw = self.backend.client
        ring = CountingRing()
        self.engines = [
            Engine(self.backend, ring, clock=self.clock, joins_per_minute=PER_MINUTE)
            for _ in range(2)
        ]
        self.ring = ring
        self.tickets: dict[str, list[str]] = {}
        self.known: list[tuple[int, int, Policy | None]] = [(0, 0, None)] * 2
        self.born = 0
        self.exists = False
        self.saved: tuple[dict[bytes, bytes], Model] | None = None
        self.ops: dict[str, int | str] = {}
        self.ahead = [False, False]  # has seen what a failover lost, and has not spoken since
        self.unheard: list[set[str]] = [set(), set()]  # whose endings it will not tell again
        self.codes = CodeModel()
        self.entry_codes: list[EntryCode] = []
        self.random_batch, batches = entry_codes.new_batch, itertools.count()
        entry_codes.new_batch = lambda: written(next(batches), 4)  # so that it can be replayed
        self.latest = 0
        self.run(self.delete_keys())

    def teardown(self) -> None:
        """Leave nothing behind."""
        entry_codes.new_batch = self.random_batch
        self.run(self.delete_keys())
        self.run(self.backend.aclose())
        self.loop.close()

    def run(self, call: Awaitable[T]) -> T:
        """Run one call to its end, which must come."""
        return self.loop.run_until_complete(asyncio.wait_for(_awaitable(call), 60))

    # Reading and breaking the server -----------------------------------------------------------

    async def names(self) -> list[bytes]:
        """Return the keys that the room has."""
        return [key async for key in self.raw.scan_iter(match=f"wr:{{{ROOM}}}:*", count=5000)]

    async def delete_keys(self) -> None:
        """Delete the room's keys, as FLUSHALL would."""
        if names := await self.names():
            await self.raw.delete(*names)
        await self.raw.srem(ROOMS, ROOM)

    async def read(self) -> Facts:
        """Read all keys in one pipeline."""
        pipe = self.raw.pipeline(transaction=True)
        for name in ROOM_KEYS:
            key = room_key(ROOM, name)
            if name in (
                *("config", "meta", "seen", "sids", "moved", "entries", "record"),
                *("codes", "coded", "batches"),
            ):
                pipe.hgetall(key)
            elif name in (
                "waiting",
                "called",
                "inside",
                "done",
                "gone",
                "swept",
                "sources",
                "kicked",
            ):
                pipe.zrange(key, 0, -1, withscores=True)
            elif name == "events":
                pipe.xrange(key)
            elif name == "been":
                pipe.smembers(key)
        values = await pipe.execute()
        config, meta, waiting, seen, called, inside, sids, *rest = values
        _, gone, moved, entries, events, record, swept, sources, kicked, *more = rest
        codes, coded, batches, been = more
        return Facts(
            policy=policies.read(config)[0] if config else None,
            meta=_numbers((name, value) for name, value in meta.items() if value.isdigit()),
            waiting=_numbers(waiting),
            seen=_numbers(seen.items()),
            called=_numbers(called),
            inside=_numbers(inside),
            sids=_numbers(sids.items()),
            gone=_numbers(gone),
            moved=_texts(moved),
            sources={name.decode(): score for name, score in sources},
            kicked=_numbers(kicked),
            entries={int(start): int(n) for start, n in entries.items()},
            record={name.decode(): int(settled.split(b":")[0]) for name, settled in record.items()},
            swept=_numbers(swept),
            been=frozenset(name.decode() for name in been),
            events=tuple((key.decode(), _event(fields)) for key, fields in events),
            codes=_texts(codes),
            coded=_texts(coded),
            batches=_texts(batches),
        )

    # One call, judged --------------------------------------------------------------------------

    def call(
        self, who: int, step: Step, act: Callable[[Engine], Awaitable[T]]
    ) -> T | errors.WaitroomError:
        """Make one engine act, and the model judge the result."""
        self.end_again(who)
        return self.judge(who, step, act)

    def judge(
        self, who: int, step: Step, act: Callable[[Engine], Awaitable[T]]
    ) -> T | errors.WaitroomError:
        """Make one call on one engine, and let the model judge it."""
        engine, before, model = self.engines[who], self.facts, self.model
        memory = engine._runner.memory(ROOM)
        lost = not before.meta
        behind = (
            not lost and memory.epoch == before.meta["epoch"] and memory.rev > before.meta["rev"]
        )
        self.miss_a_loss(who, behind=behind)
        self.look_at_the_clock()
        answer: T | errors.WaitroomError
        try:
            answer = self.run(act(engine))
        except (errors.Refused, errors.InvalidTicket, errors.VersionConflict) as error:
            answer = error
        after = self.facts = self.run(self.read())
        if lost and not after.meta:
            return answer  # all were refused before the server was asked
        if lost:
            _, version, policy = self.known[who]
            assert policy is not None
            model.change(policy, version)
            model.flushed(self.clock.now_ms)
            before = after
        offsets = (before.meta.get("offset", 0), after.meta.get("offset", 0))
        now = (self.clock.now_us + max(offsets)) // 1000
        if step.verb in READS:
            # After a loss, any call of an engine that remembers batches of codes brings them back.
            assert before.batches.items() <= after.batches.items()
            same = after == replace(before, batches=after.batches)
            assert same or lost or self.catches_up(who), f"{step.verb} changed something"
        if (
            after.meta["rev"] != before.meta["rev"]
            or after.meta["alive_at"] != before.meta["alive_at"]
        ):
            apart = offsets[0] != 0 or now < before.meta["alive_at"] - 1000
            if apart and _empty(before) and _empty(after) and offsets[1] == 0:
                model.begin_again()
                now = self.clock.now_ms
            model.tick(now, before, behind)
        elif step.verb not in READS and now - after.meta["alive_at"] < 1000:
            model.now = max(now, model.now)  # nothing was written, but people were judged
        fresh = _fresh(before.events if not lost else (), after.events)
        model.follow(step, after, fresh)
        self.codes.follow(step, after, fresh, lost=lost or behind)
        self.restore_codes(step, before, after)
        self.take_policy(who)
        self.check_totals(step, before, after, lost)
        self.check_endings(who)
        return answer

    def restore_codes(self, step: Step, before: Facts, after: Facts) -> None:
        """Let people who are back in their place hold the code that their ticket names."""
        if step.verb == "join":
            return  # judged with the answers
        for ticket_id in step.targets & (after.waiting.keys() - before.waiting.keys()):
            name = after.coded.get(ticket_id, "")
            texts = self.tickets.get(ticket_id, [])
            if name and ticket_id not in self.codes.held:
                assert name in {self.ring.read(ROOM, text).code for text in texts}, "whose code?"
                self.codes.take(ticket_id, name, holds=True)

    def check_endings(self, who: int) -> None:
        """Nobody is in line whom this engine remembers as removed, loss or not."""
        endings = self.engines[who]._runner.memory(ROOM).endings
        words = [] if endings is None else " ".join(endings.batches()).split()
        for ticket_id, reason, place in zip(words[::6], words[1::6], words[2::6], strict=True):
            if reason == REINSTATED:
                continue
            at = self.facts.waiting.get(ticket_id, FOREVER)
            person = self.model.person(ticket_id)
            # An account may have left from a later place than the one that it adopted then.
            known = ticket_id in self.facts.record or person.adopted
            known |= ticket_id in self.unheard[who]
            assert at > int(place) or known, "back after its ending"
            if person.lost and person.place <= int(place):  # another engine let them come back
                person.state, person.why, person.lost = "out", reason, False

    def miss_a_loss(self, who: int, *, behind: bool) -> None:
        """Note an engine that cannot notice a loss: others made as many changes as were lost."""
        memory, meta = self.engines[who]._runner.memory(ROOM), self.facts.meta
        tells = behind or not meta or meta["rev"] - memory.rev >= REV_JUMP
        if tells or memory.endings is None:
            self.unheard[who] = set()
        elif self.ahead[who]:
            self.unheard[who] |= set(" ".join(memory.endings.batches()).split()[::6])
        self.ahead[who] = False

    def end_again(self, who: int) -> None:
        """Make an engine that is about to notice a loss remove the people it remembers as ended.

        It does this in whichever call comes first. Here that is a poll of nobody, so that no rule
        has to separate its own effects from those of the loss.
        """
        memory, meta = self.engines[who]._runner.memory(ROOM), self.facts.meta
        nothing = memory.endings is None and not memory.batches
        if nothing or not meta or memory.epoch != meta["epoch"]:
            return
        if 0 <= meta["rev"] - memory.rev < REV_JUMP:
            return
        words = [] if memory.endings is None else " ".join(memory.endings.batches()).split()
        step = Step("end_again", frozenset(words[::6]))
        self.judge(who, step, lambda e: e._runner.run(ROOM, calls.poll([], [])))

    def look_at_the_clock(self) -> None:
        """Tell the model the time, and whether the room has been open."""
        self.model.wall = self.clock.now_ms
        self.latest = max(self.latest, self.clock.now_ms)
        self.model.opened = self.facts.meta.get("opened", 0)
        self.model.ended = self.facts.meta.get("ended", 0)
        assert self.model.opened <= self.latest, "open before its time"
        assert self.model.ended <= self.latest, "ended before its time"

    def catches_up(self, who: int) -> bool:
        """Whether this engine knows a later policy of this room than the server does."""
        born, version, _ = self.known[who]
        return born == self.born and version > self.model.version

    def take_policy(self, who: int) -> None:
        """After a failover, the policy that a process remembers comes back."""
        _, version, policy = self.known[who]
        if self.catches_up(who) and policy is not None:
            self.model.change(policy, version)
        self.known[who] = (self.born, self.model.version, self.model.policy)

    def check_totals(self, step: Step, before: Facts, after: Facts, lost: bool) -> None:
        """Check what must be true after every call, whatever it was."""
        model = self.model
        if not lost:
            for name in ("watermark", "last", "rev"):
                assert after.meta.get(name, 0) >= before.meta.get(name, 0), f"{name} went back"
            for name, total in _counters(after).items():
                grown = total - before.meta.get(name, 0)
                assert model.counts[name] == grown, f"{name}: {model.counts[name]} != {grown}"
        assert after.meta.get("hold_until", 0) == model.hold_until, "holds for no reason, or not"
        until = after.meta.get("restoring_until", 0)
        assert until == model.restoring_until, "hides positions for no reason, or not"
        for person in model.people.values():
            if person.state == "inside":
                assert person.id in after.inside, "a session was forgotten"
                assert after.inside[person.id] == person.until or step.verb == "renew"
                person.until = after.inside[person.id]
            elif person.state == "called":
                assert person.id in after.called, "a turn was forgotten"
                later = after.called[person.id]
                assert later <= person.until or step.verb == "enter", "a turn was prolonged"
                person.until = max(person.until, later)


async def _awaitable(call: Awaitable[T]) -> T:
    return await call


def _numbers(pairs: Iterable[tuple[bytes, Any]]) -> dict[str, int]:
    return {name.decode(): int(float(value)) for name, value in pairs if name != b"history"}


def _texts(pairs: dict[bytes, bytes]) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in pairs.items()}


def _event(fields: dict[bytes, bytes]) -> Event:
    ids = tuple(fields[b"ids"].decode().split())
    reason, source = (fields.get(name, b"").decode() for name in (b"reason", b"from"))
    return Event(fields[b"kind"].decode(), ids, reason, source)


def _fresh(
    before: tuple[tuple[str, Event], ...], after: tuple[tuple[str, Event], ...]
) -> list[Event]:
    """Return the new events; the stream may have been started again."""
    seen = after[: len(before)] == before
    return [event for _, event in (after[len(before) :] if seen else after)]


def _empty(facts: Facts) -> bool:
    """Whether nothing in the room counts in room time."""
    parts = (facts.waiting, facts.called, facts.inside, facts.gone, facts.entries, facts.record)
    return not any(parts) and not facts.events


def _counters(facts: Facts) -> dict[str, int]:
    return {name: facts.meta.get(name, 0) for name in COUNTERS}
