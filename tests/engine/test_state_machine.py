"""Random histories of one room on a real server, every call judged by the model.

Two engines stand for two processes with memories of their own. Time is passed in and also steps
back; keys vanish, and come back as they were a while ago. After every call the keys are read with
plain commands, never through a script.
"""

from __future__ import annotations

import asyncio
import base64
import copy
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.support.clock import SECRET, Clock
from tests.support.counts import count
from tests.support.model import FOREVER, Event, Facts, Model, Person, Step
from tests.support.servers import Server
from waitroom import errors
from waitroom.engine import Engine, policies
from waitroom.engine.connection.connect import connect
from waitroom.engine.crowd import Join
from waitroom.engine.keys import ROOM_KEYS, ROOMS, room_key
from waitroom.engine.lines import Settled
from waitroom.engine.protocol import COUNTERS
from waitroom.models import Policy, State, TicketView
from waitroom.tickets import KeyRing

ROOM = "state-machine"
VISITORS = ("ann", "ben", "cho")
MOST_BUCKETS = 61
T = TypeVar("T")


class CountingRing(KeyRing):
    """Gives ids in order instead of at random, so that a failure can be replayed."""

    def __init__(self) -> None:
        super().__init__([SECRET])
        self.made = 0

    def new_id(self) -> str:
        """Return the next id."""
        self.made += 1
        return base64.urlsafe_b64encode(self.made.to_bytes(12, "big")).decode()


def either(*values: Any) -> st.SearchStrategy[Any]:
    """Pick one of a few values that matter."""
    return st.sampled_from(values)


CHANGES: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.fixed_dictionaries({"capacity": either(None, 1, 2, 4)}),
    st.fixed_dictionaries({"batch": either(1, 2, 3), "every_s": either(0.5, 2, 10)}),
    st.just({"batch": None, "every_s": None}),
    st.fixed_dictionaries({"max_entries": either(1, 2, 4), "per_s": either(2, 10, 60)}),
    st.just({"max_entries": None, "per_s": None}),
    st.fixed_dictionaries({"mode": either("open", "open", "paused", "closed", "bypass", "manual")}),
    st.just({"mode": "open"}),
    st.fixed_dictionaries({"session_s": either(None, 0.4, 3, 40, 600)}),
    st.fixed_dictionaries({"renewable": st.booleans()}),
    st.fixed_dictionaries({"presence_s": either(None, 6, 20, 150)}),
    st.fixed_dictionaries({"recover_s": either(0, 4, 75)}),
    st.fixed_dictionaries({"queue_limit": either(None, 3)}),
    st.fixed_dictionaries({"max_defers": either(0, 2, 7)}),
    st.fixed_dictionaries({"ticket_ttl_s": either(120, 86_400)}),
    st.fixed_dictionaries({"idle_ttl_s": either(5, 21_600)}),
)
OPENINGS = st.fixed_dictionaries(
    {
        "in_s": either(-5, 0.5, 5, 30, 100),
        "before_open": either("pass", "wait", "refuse", "draw", "draw"),
    }
)
SAID = st.fixed_dictionaries(
    {
        "who": st.integers(0, 8),
        "state": either("waiting", "waiting", "called", "finished", "left", "no_show"),
        "newer": either(-1, 0, 1, 1, 1),
        "near": st.integers(0, 8),
        "by": either(-8, -1, 0, 1, 8, 1_000_000),
    }
)
SECONDS = either(0.001, 0.1, 0.3, 0.7, 1, 1.5, 2, 4, 7, 15, 40, 130)
PEOPLE = st.integers(0, 40)


class Machine(RuleBasedStateMachine):
    """One room, two engines, a crowd that keeps its tickets."""

    url: ClassVar[str]
    facts: Facts
    model: Model

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.loop = asyncio.new_event_loop()
        self.backend = self.run(connect(self.url, Path("/nowhere"), 5.0))
        self.raw = self.backend.client
        ring = CountingRing()
        self.engines = [Engine(self.backend, ring, clock=self.clock) for _ in range(2)]
        self.ring = ring
        self.tickets: dict[str, list[str]] = {}
        self.known: list[tuple[int, int, Policy | None]] = [(0, 0, None)] * 2
        self.born = 0
        self.exists = False
        self.saved: tuple[dict[bytes, bytes], Model] | None = None
        self.ops: dict[str, int | str] = {}
        self.latest = 0
        self.run(self.delete_keys())

    def teardown(self) -> None:
        """Leave nothing behind."""
        self.run(self.delete_keys())
        self.run(self.backend.aclose())
        self.loop.close()

    def run(self, call: Awaitable[T]) -> T:
        """Run one call to its end, which must come."""
        return self.loop.run_until_complete(asyncio.wait_for(_awaitable(call), 2))

    # Reading and breaking the server -----------------------------------------------------------

    async def names(self) -> list[bytes]:
        """Return the keys that the room has."""
        return [key async for key in self.raw.scan_iter(match=f"wr:{{{ROOM}}}:*", count=5000)]

    async def delete_keys(self) -> None:
        """Delete the room's keys, as FLUSHALL would."""
        if found := await self.names():
            await self.raw.delete(*found)
        await self.raw.srem(ROOMS, ROOM)

    async def read(self) -> Facts:
        """Read all keys in one pipeline."""
        pipe = self.raw.pipeline(transaction=True)
        for name in ROOM_KEYS:
            key = room_key(ROOM, name)
            if name in ("config", "meta", "seen", "sids", "moved", "entries", "record"):
                pipe.hgetall(key)
            elif name in ("waiting", "called", "inside", "done", "gone"):
                pipe.zrange(key, 0, -1, withscores=True)
            elif name == "events":
                pipe.xrange(key)
        values = await pipe.execute()
        config, meta, waiting, seen, called, inside, sids, _, gone, _, entries, events, record = (
            values
        )
        return Facts(
            policy=policies.read(config)[0] if config else None,
            meta=_numbers((name, value) for name, value in meta.items() if value.isdigit()),
            waiting=_numbers(waiting),
            seen=_numbers(seen.items()),
            called=_numbers(called),
            inside=_numbers(inside),
            sids=_numbers(sids.items()),
            gone=_numbers(gone),
            entries={int(start): int(n) for start, n in entries.items()},
            record={name.decode(): int(said.split(b":")[0]) for name, said in record.items()},
            events=tuple((key.decode(), _event(fields)) for key, fields in events),
        )

    # One call, judged --------------------------------------------------------------------------

    def call(
        self, who: int, step: Step, act: Callable[[Engine], Awaitable[T]]
    ) -> T | errors.WaitroomError:
        """Let one engine act, and the model judge what came of it."""
        engine, before, model = self.engines[who], self.facts, self.model
        memory = engine.runner.memory(ROOM)
        lost = not before.meta
        behind = (
            not lost and memory.epoch == before.meta["epoch"] and memory.rev > before.meta["rev"]
        )
        self.look_at_the_clock()
        answer: T | errors.WaitroomError
        try:
            answer = self.run(act(engine))
        except (errors.Refused, errors.InvalidTicket, errors.VersionConflict) as error:
            answer = error
        after = self.facts = self.run(self.read())
        if lost and isinstance(answer, errors.InvalidTicket):
            return answer  # refused before the server was asked
        if lost:
            _, version, policy = self.known[who]
            assert policy is not None
            model.change(policy, version)
            model.flushed(self.clock.now_ms)
            before = after
        offsets = (before.meta.get("offset", 0), after.meta.get("offset", 0))
        now = (self.clock.now_us + max(offsets)) // 1000
        unchanged = after == before
        if step.verb in ("stats", "list"):
            assert unchanged or lost or self.catches_up(who), f"{step.verb} changed something"
        if (
            after.meta["rev"] != before.meta["rev"]
            or after.meta["alive_at"] != before.meta["alive_at"]
        ):
            apart = offsets[0] != 0 or now < before.meta["alive_at"] - 1000
            if apart and _empty(before) and _empty(after) and offsets[1] == 0:
                model.begin_again()
                now = self.clock.now_ms
            model.tick(now, before, behind)
        elif step.verb not in ("stats", "list") and now - after.meta["alive_at"] < 1000:
            model.now = max(now, model.now)  # nothing to write down, but people were judged
        fresh = _fresh(before.events if not lost else (), after.events)
        model.follow(step, after, fresh)
        self.take_policy(who)
        self.settle(step, before, after, lost)
        return answer

    def look_at_the_clock(self) -> None:
        """Let the model know the time, and whether the room has been open."""
        self.model.wall = self.clock.now_ms
        self.latest = max(self.latest, self.clock.now_ms)
        self.model.opened = self.facts.meta.get("opened", 0)
        assert self.model.opened <= self.latest, "open before its time"

    def catches_up(self, who: int) -> bool:
        """Whether this engine knows a later policy of the same room than the server."""
        born, version, _ = self.known[who]
        return born == self.born and version > self.model.version

    def take_policy(self, who: int) -> None:
        """After a failover the policy that a process remembers comes back."""
        _, version, policy = self.known[who]
        if self.catches_up(who) and policy is not None:
            self.model.change(policy, version)
        self.known[who] = (self.born, self.model.version, self.model.policy)

    def settle(self, step: Step, before: Facts, after: Facts, lost: bool) -> None:
        """Check what must be true after every call, whatever it was."""
        model = self.model
        if not lost:
            for name in ("watermark", "last", "rev"):
                assert after.meta.get(name, 0) >= before.meta.get(name, 0), f"{name} went back"
            for name, total in _counters(after).items():
                grown = total - before.meta.get(name, 0)
                assert model.counts[name] == grown, f"{name}: {model.counts[name]} != {grown}"
        assert after.meta.get("hold_until", 0) == model.hold_until, "holds for no reason, or not"
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

    # Rules: rooms ------------------------------------------------------------------------------

    @initialize(changes=st.lists(CHANGES, max_size=3), enter_within=either(None, 3, 8, 60))
    def first(self, changes: list[dict[str, Any]], enter_within: float | None) -> None:
        """Make the room."""
        self.facts = self.run(self.read())
        self.model = Model(Policy())
        self.make(0, changes, enter_within)

    def make(self, who: int, changes: list[dict[str, Any]], enter_within: float | None) -> None:
        """Create the room with a policy."""
        policy = Policy(enter_within_s=enter_within)
        for change in changes:
            policy = policy.change(**change)
        highest = self.model.highest
        self.run(self.engines[who].create(ROOM, policy))
        self.born += 1
        self.exists, self.saved = True, None
        self.facts = self.run(self.read())
        now = self.clock.now_ms
        people = self.model.people
        self.model = Model(policy, 1, people, now, now, now, resumed=now, highest=highest)
        self.model.cleared()
        self.known[who] = (self.born, 1, policy)
        assert self.facts.policy == policy

    @rule(who=st.integers(0, 1), changes=CHANGES)
    def configure(self, who: int, changes: dict[str, Any]) -> None:
        """Change the policy live."""
        self.change_policy(who, changes)

    @rule(who=st.integers(0, 1), opening=OPENINGS)
    def opening(self, who: int, opening: dict[str, Any]) -> None:
        """Set when the room opens, and what happens until then."""
        at = self.clock.now_ms + round(opening["in_s"] * 1000)
        changes = {"opens_at_ms": at, "before_open": opening["before_open"]}
        self.change_policy(who, changes)

    @rule(who=st.integers(0, 1))
    def open_now(self, who: int) -> None:
        """Forget about an opening time, and be open."""
        self.change_policy(who, {"opens_at_ms": None, "before_open": "wait", "mode": "open"})

    def change_policy(self, who: int, changes: dict[str, Any]) -> None:
        """Change some fields and tell the model."""
        self.call(who, Step("stats"), lambda e: e.stats(ROOM))  # catches up, if it must
        engine, model = self.engines[who], self.model
        policy = model.policy.change(**changes)

        async def act(engine: Engine) -> None:
            await engine.configure(ROOM, **changes)

        before = self.facts
        self.run(act(engine))
        self.facts = self.run(self.read())
        offset = max(before.meta.get("offset", 0), self.facts.meta.get("offset", 0))
        behind = engine.runner.memory(ROOM).rev > before.meta["rev"] + 1
        self.look_at_the_clock()
        model.tick((self.clock.now_us + offset) // 1000, before, behind)
        model.change(policy, model.version + 1)
        model.counts.clear()
        self.known[who] = (self.born, model.version, policy)
        self.settle(Step("configure"), before, self.facts, False)

    @rule(who=st.integers(0, 1))
    def clear(self, who: int) -> None:
        """Empty the room: every ticket of before is worth nothing."""
        self.call(who, Step("stats"), lambda e: e.stats(ROOM))
        people = [p for p in self.model.people.values() if p.state != "out" and not p.lost]
        model = self.model
        epoch = self.facts.meta["epoch"]

        async def act(engine: Engine) -> int:
            return await engine.clear(ROOM)

        before = self.facts
        cleared = self.run(act(self.engines[who]))
        self.facts = self.run(self.read())
        offset = max(before.meta.get("offset", 0), self.facts.meta.get("offset", 0))
        self.look_at_the_clock()
        memory = self.engines[who].runner.memory(ROOM)
        model.tick((self.clock.now_us + offset) // 1000, before, False)
        live = [p for p in people if p.state == "waiting" or p.until > model.now]
        assert len(live) == cleared
        assert self.facts.meta["epoch"] > epoch
        assert memory.epoch == self.facts.meta["epoch"]
        model.cleared()
        model.counts.clear()
        self.saved = None
        self.born += 1  # what others know of the policy belongs to the old epoch
        self.known[who] = (self.born, model.version, model.policy)
        self.settle(Step("clear"), before, self.facts, False)

    @rule(
        who=st.integers(0, 1),
        changes=st.lists(CHANGES, max_size=2),
        enter_within=either(None, 3, 60),
        by=st.integers(0, 1),
    )
    def drop_and_create(
        self, who: int, changes: list[dict[str, Any]], enter_within: float | None, by: int
    ) -> None:
        """Remove the room; one of the same name is a new one."""
        assert self.run(self.engines[who].drop(ROOM))
        self.make(by, changes, enter_within)

    # Rules: visitors ---------------------------------------------------------------------------

    def holders(self, pick: int) -> str | None:
        """Return the id of somebody who has a ticket."""
        ids = list(self.tickets)
        return ids[-1 - pick % len(ids)] if ids else None

    def somebody(self, pick: int, state: str) -> str | None:
        """Return the id of somebody in a state, if there is one, else of anybody."""
        ids = [i for i in self.tickets if self.model.people[i].state == state]
        return ids[pick % len(ids)] if ids else self.holders(pick)

    def keep(self, view: TicketView) -> Person:
        """Let a visitor keep the ticket of a view."""
        texts = self.tickets.setdefault(view.id, [])
        if view.ticket not in texts:
            texts.append(view.ticket)
        person = self.model.person(view.id)
        if view.new:
            person.place = self.ring.read(ROOM, view.ticket).place
            person.places.add(person.place)
            if person.state != "waiting":  # called at once
                person.drew = self.model.draws
            self.model.took(person)
        return person

    def check_view(self, view: TicketView) -> None:
        """A view says what the keys say."""
        facts, model = self.facts, self.model
        person = model.person(view.id)
        if view.state is State.WAITING:
            rank = list(facts.waiting).index(view.id) + 1
            if model.counts["restored"] and view.position:
                rank = view.position  # others came back in front, later in the same call
            assert view.position == (None if model.draws else rank)
        elif view.state is State.CALLED:
            assert person.state == "called"
            assert person.until > model.now, "a turn that is over is shown"
            offset = facts.meta.get("offset", 0) // 1000
            told = view.enter_by_ms
            assert (told + offset if told else FOREVER) == person.until
        elif view.state is State.INSIDE:
            assert person.state == "inside"
            assert person.until > model.now, "a session that is over is shown"
            assert view.sid == facts.sids[view.id]
        else:
            live = person.state in ("called", "inside") and person.until > model.now
            assert not live, f"gone ({view.reason}) but {person.state}"
            assert person.state != "waiting" or person.lost, f"gone ({view.reason}) but waiting"

    def too_old(self, answer: object, ticket_id: str) -> bool:
        """Whether the ticket was refused for its age, which is checked."""
        if not isinstance(answer, errors.InvalidTicket):
            return False
        life = self.model.policy.ticket_ttl_s
        issued = [self.ring.read(ROOM, text).issued_s for text in self.tickets[ticket_id]]
        assert life is not None
        assert self.clock.now_us / 1e6 > min(issued) + life
        return True

    def restorable(self, ticket_id: str) -> bool:
        """Whether a poll must find this person in line."""
        return self.model.person(ticket_id).state == "waiting" and not self.left_to_record(
            ticket_id
        )

    def left_to_record(self, ticket_id: str) -> bool:
        """Whether somebody was forgotten whom only a record elsewhere brings back."""
        return self.model.person(ticket_id).lost and ticket_id in self.facts.record

    def joins(self, who: int, joins: list[Join]) -> None:
        """Join some people in one call, and judge each answer."""
        model, ring = self.model, self.ring
        self.call(who, Step("stats"), lambda e: e.stats(ROOM))
        made = ring.made
        ids = []
        for join in joins:
            if join.ticket is not None:
                ids.append(ring.read(ROOM, join.ticket).id)
            elif join.visitor is not None:
                ids.append(ring.visitor_id(ROOM, join.visitor))
            else:
                ids.append(ring.new_id())
        ring.made = made
        kept = {
            i: model.person(i).place
            for i, join in zip(ids, joins, strict=True)
            if model.person(i).state == "waiting"
            and (join.ticket or not model.person(i).lost)
            and not self.left_to_record(i)
        }
        then = model.now
        has_room = bool(model.room_left(direct=True)) and not model.line()
        nameless = frozenset(i for i, j in zip(ids, joins, strict=True) if j.ticket is None)
        step = Step("join", frozenset(ids), nameless=nameless)
        answers = self.call(who, step, lambda e: e.join_many(ROOM, joins))
        assert not isinstance(answers, errors.WaitroomError), repr(answers)
        for ticket_id, answer in zip(ids, answers, strict=True):
            if isinstance(answer, TicketView):
                assert answer.id == ticket_id
                person = self.keep(answer)
                if len(set(ids)) == len(ids):
                    self.check_view(answer)
                if ticket_id in kept and not person.reverted:
                    assert answer.state is State.WAITING
                    assert person.place == kept[ticket_id], "joining again cost the place"
                if has_room and answer.new and len(ids) == 1 and self.no_hold_since(then):
                    assert answer.state is not State.WAITING, "there was room for a newcomer"
            elif not self.too_old(answer, ticket_id) if ticket_id in self.tickets else True:
                assert ticket_id not in kept, "refused who has a place"
                full = isinstance(answer, errors.RoomFull)
                assert isinstance(answer, errors.Refused)
                assert answer.code == (model.refuses or "room_full")
                if full:
                    assert model.policy.queue_limit is not None
                    assert len(model.line()) >= model.policy.queue_limit

    def no_hold_since(self, then: int) -> bool:
        """Whether time has just gone on: no clock set back, and no silence that began a hold."""
        return self.model.hold_until <= self.model.now >= then

    @rule(who=st.integers(0, 1), people=st.integers(1, 4), enter=st.booleans())
    def join_new(self, who: int, people: int, enter: bool) -> None:
        """Newcomers join."""
        self.joins(who, [Join(enter=enter)] * people)

    @rule(who=st.integers(0, 1), visitor=either(*VISITORS), enter=st.booleans())
    def join_by_name(self, who: int, visitor: str, enter: bool) -> None:
        """Somebody known by name joins, perhaps again."""
        self.joins(who, [Join(visitor=visitor, enter=enter)])

    @precondition(lambda self: self.tickets)
    @rule(who=st.integers(0, 1), picks=st.lists(PEOPLE, min_size=1, max_size=3, unique=True))
    def join_again(self, who: int, picks: list[int]) -> None:
        """People join with the ticket they have: who is in line keeps their place."""
        ids = dict.fromkeys(self.holders(pick) for pick in picks)
        self.joins(who, [Join(ticket=self.tickets[i][-1]) for i in ids if i is not None])

    def polls(self, who: int, texts: list[str]) -> None:
        """Poll some tickets in one call, and judge each answer."""
        ids = [self.ring.read(ROOM, text).id for text in texts]
        due = {i for i in ids if self.restorable(i)}
        newest = {i for i, text in zip(ids, texts, strict=True) if self.tickets[i][-1] == text}
        step = Step("poll", frozenset(ids))
        answers = self.call(who, step, lambda e: e.poll_many(ROOM, texts))
        assert not isinstance(answers, errors.WaitroomError), repr(answers)
        for ticket_id, answer in zip(ids, answers, strict=True):
            if isinstance(answer, TicketView):
                if ticket_id in due & newest:
                    assert answer.state is State.WAITING, f"lost a place: {answer.reason}"
                self.check_view(answer)
            else:
                assert self.too_old(answer, ticket_id), repr(answer)

    @precondition(lambda self: self.tickets)
    @rule(who=st.integers(0, 1), picks=st.lists(PEOPLE, min_size=1, max_size=4, unique=True))
    def poll(self, who: int, picks: list[int]) -> None:
        """Some people poll."""
        ids = dict.fromkeys(self.holders(pick) for pick in picks)
        self.polls(who, [self.tickets[i][-1] for i in ids if i is not None])

    @precondition(lambda self: self.tickets)
    @rule(who=st.integers(0, 1))
    def poll_all(self, who: int) -> None:
        """Everybody who ever had a ticket polls."""
        self.polls(who, [texts[-1] for texts in self.tickets.values()])

    @precondition(lambda self: self.tickets)
    @rule(who=st.integers(0, 1), pick=PEOPLE)
    def poll_old_ticket(self, who: int, pick: int) -> None:
        """Somebody polls with the first ticket they ever had."""
        ticket_id = self.holders(pick)
        assert ticket_id is not None
        self.polls(who, [self.tickets[ticket_id][0]])

    @precondition(lambda self: self.tickets)
    @rule(who=st.integers(0, 1), pick=PEOPLE)
    def enter(self, who: int, pick: int) -> None:
        """Somebody who may be called goes inside: exactly while their turn lasts."""
        ticket_id = self.somebody(pick, "called")
        assert ticket_id is not None
        person = self.model.person(ticket_id)
        was, until = person.state, person.until
        recorded = self.left_to_record(ticket_id)
        step, text = Step("enter", frozenset([ticket_id])), self.tickets[ticket_id][-1]
        answer = self.call(who, step, lambda e: e.enter(ROOM, text))
        if self.too_old(answer, ticket_id):
            return
        if isinstance(answer, TicketView):
            assert answer.state is State.INSIDE
            self.check_view(answer)
        elif isinstance(answer, errors.EnterLater):
            assert person.state == "called"
            assert self.model.policy.max_entries is not None
            assert answer.retry_at_ms > self.clock.now_ms
        elif isinstance(answer, errors.NotYourTurn):
            assert person.state == "waiting"
        else:
            assert isinstance(answer, errors.TurnPassed)
            assert person.state == "out" or recorded, (
                f"turn lost {max(until, person.until)} at {self.model.now}"
            )
            assert was != "waiting" or recorded, "a place was lost by asking"

    @precondition(lambda self: self.tickets)
    @rule(who=st.integers(0, 1), picks=st.lists(PEOPLE, min_size=2, max_size=4))
    def enter_together(self, who: int, picks: list[int]) -> None:
        """Some enter in one call, perhaps one of them twice: each gets their own answer."""
        ids = [i for i in (self.somebody(pick, "called") for pick in picks) if i is not None]
        texts = [self.tickets[i][-1] for i in ids]

        async def act(engine: Engine) -> list[TicketView | BaseException]:
            calls = (engine.enter(ROOM, text) for text in texts)
            return await asyncio.gather(*calls, return_exceptions=True)

        answers = self.call(who, Step("enter", frozenset(ids)), act)
        assert not isinstance(answers, errors.WaitroomError)
        for ticket_id, answer in zip(ids, answers, strict=True):
            if isinstance(answer, TicketView):
                assert (ticket_id, State.INSIDE) == (answer.id, answer.state)
                self.check_view(answer)
            else:
                refused = isinstance(answer, errors.Refused)
                assert refused or self.too_old(answer, ticket_id), repr(answer)

    @precondition(lambda self: self.tickets)
    @rule(who=st.integers(0, 1), pick=PEOPLE, vouch=st.booleans())
    def renew(self, who: int, pick: int, vouch: bool) -> None:
        """Somebody inside stays longer; a gate may vouch for a session that was lost."""
        ticket_id = self.somebody(pick, "inside")
        assert ticket_id is not None
        if not self.facts.meta:
            self.call(who, Step("stats"), lambda e: e.stats(ROOM))
        person, facts = self.model.person(ticket_id), self.facts
        sid = facts.sids.get(ticket_id)
        until = self.clock.now_ms + 20_000 if vouch else None
        if vouch and sid is None:
            sid = self.clock.now_us - 1
        text, step = self.tickets[ticket_id][-1], Step("renew", frozenset([ticket_id]))
        session = person.until if person.state == "inside" else 0
        was = person.state
        if vouch and was != "inside":
            # The judge takes it for a person who is inside if the engine does so.
            person.lost = False

            async def taken(engine: Engine) -> TicketView:
                view = await engine.renew(ROOM, text, sid=sid, vouched_until_ms=until)
                person.state, person.until = "inside", view.session_ends_at_ms or 0
                return view

            answer = self.call(who, step, taken)
            if isinstance(answer, TicketView):
                assert self.model.hold_until > self.model.now, "vouched for without a loss"
            else:
                person.lost = was == "waiting" and ticket_id not in self.facts.waiting
            return
        answer = self.call(who, step, lambda e: e.renew(ROOM, text, sid=sid))
        if self.too_old(answer, ticket_id):
            return
        if isinstance(answer, TicketView):
            assert self.model.policy.renewable
            assert session > self.model.now, "renewed after the end"
            assert person.until >= session
        elif isinstance(answer, errors.NotRenewable):
            assert not self.model.policy.renewable
        else:
            assert isinstance(answer, errors.SessionOver)
            assert session <= self.model.now, "a live session was refused"

    @precondition(lambda self: self.tickets)
    @rule(who=st.integers(0, 1), pick=PEOPLE)
    def finish(self, who: int, pick: int) -> None:
        """Somebody inside finishes."""
        ticket_id = self.somebody(pick, "inside")
        assert ticket_id is not None
        person = self.model.person(ticket_id)
        session = person.until if person.state == "inside" else 0
        step, text = Step("finish", frozenset([ticket_id])), self.tickets[ticket_id][-1]
        answer = self.call(who, step, lambda e: e.finish(ROOM, text))
        if self.too_old(answer, ticket_id):
            return
        assert isinstance(answer, TicketView | errors.SessionOver)
        assert isinstance(answer, TicketView) == (session > self.model.now)

    @precondition(lambda self: self.tickets)
    @rule(who=st.integers(0, 1), pick=PEOPLE)
    def leave(self, who: int, pick: int) -> None:
        """Somebody leaves, wherever they are: they are not back until they join."""
        ticket_id = self.holders(pick)
        assert ticket_id is not None
        person = self.model.person(ticket_id)
        text, step = self.tickets[ticket_id][-1], Step("leave", frozenset([ticket_id]))
        was_here = not person.lost
        answer = self.call(who, step, lambda e: e.leave(ROOM, text))
        if self.too_old(answer, ticket_id):
            return
        assert person.state == "out" or not was_here, "left, and still there"
        person.state, person.lost, person.forgiven, person.why = "out", False, False, "left"

    # Rules: operators --------------------------------------------------------------------------

    @rule(who=st.integers(0, 1), most=either(500, 500, 500, 3, 1))
    def advance(self, who: int, most: int) -> None:
        """Advance: after it nobody waits for whom there is room, and nobody outlives a deadline."""
        done = self.call(who, Step("advance"), lambda e: e.advance(ROOM, most))
        assert not isinstance(done, errors.WaitroomError), repr(done)
        model = self.model
        counts = model.counts
        assert (done.called, done.expired, done.no_shows, done.abandoned) == (
            counts["called_total"],
            counts["expired"],
            counts["no_show"],
            counts["abandoned"],
        )
        assert done.waiting == len(self.facts.waiting)
        if done.more:
            return
        people = model.people.values()
        for state in ("called", "inside"):
            for person in people:
                assert person.state != state or person.until > model.now, f"{state} not swept"
        if model.line() and most == 500:
            left = model.room_left()
            assert left == 0, f"{left} more could be called"
        if model.line() or any(p.state == "called" and p.until < FOREVER for p in people):
            assert done.due_ms is not None
            assert done.due_ms <= self.clock.now_ms + 1000

    @rule(who=st.integers(0, 1), n=st.integers(1, 3), force=st.booleans(), op=st.integers(0, 3))
    def admit(self, who: int, n: int, force: bool, op: int) -> None:
        """Call some by hand; a repeated op_id answers the first result and calls nobody."""
        op_id = f"admit-{op}-{n}-{force}"
        answer = self.call(
            who, Step("admit", forced=force), lambda e: e.admit(ROOM, n, force=force, op_id=op_id)
        )
        called = self.model.counts["called_total"]
        if op_id in self.ops:
            said = answer if isinstance(answer, int) else repr(answer)
            assert (said, called) == (self.ops[op_id], 0), "a repeated admit called again"
            return
        self.ops[op_id] = answer if isinstance(answer, int) else repr(answer)
        if isinstance(answer, int):
            assert answer == called <= n
            if force:
                assert called == n or not self.facts.waiting
        else:
            assert not force, repr(answer)
            assert called == 0
            assert isinstance(answer, errors.Holding | errors.RoomPaused | errors.NoCapacity)
            if isinstance(answer, errors.RoomPaused):
                assert not self.model.works
                assert not self.model.bypass
            elif isinstance(answer, errors.Holding):
                assert self.model.hold_until > self.model.now

    @precondition(lambda self: self.tickets)
    @rule(who=st.integers(0, 1), pick=PEOPLE, force=st.booleans())
    def call_one(self, who: int, pick: int, force: bool) -> None:
        """Call one person by hand, from anywhere in the line."""
        ticket_id = self.somebody(pick, "waiting")
        assert ticket_id is not None
        person = self.model.person(ticket_id)
        was, knew = person.state, not person.lost
        step = Step("call", frozenset([ticket_id]), force)
        answer = self.call(who, step, lambda e: e.call(ROOM, ticket_id, force=force))
        if isinstance(answer, errors.NotWaiting):
            assert was != "waiting" or not knew or person.lost
        elif isinstance(answer, errors.Refused):
            assert not force
        else:
            assert person.state == "called"
            assert person.until > self.model.now

    @precondition(lambda self: self.tickets)
    @rule(who=st.integers(0, 1), picks=st.lists(PEOPLE, min_size=1, max_size=2, unique=True))
    def kick(self, who: int, picks: list[int]) -> None:
        """Kick some, wherever they are."""
        ids = [i for i in dict.fromkeys(self.holders(pick) for pick in picks) if i is not None]
        step = Step("kick", frozenset(ids))
        kicked = self.call(who, step, lambda e: e.kick(ROOM, ids))
        assert kicked == self.model.counts["kicked"]
        for i in ids:
            assert self.model.person(i).state == "out" or self.model.person(i).lost

    @precondition(lambda self: self.tickets)
    @rule(who=st.integers(0, 1), pick=PEOPLE, places=st.integers(1, 3))
    def defer(self, who: int, pick: int, places: int) -> None:
        """Somebody lets others go first: at least that many, and nobody else."""
        ticket_id = self.somebody(pick, "waiting")
        assert ticket_id is not None
        line = list(self.facts.waiting)
        step, text = Step("defer", frozenset([ticket_id])), self.tickets[ticket_id][-1]
        answer = self.call(who, step, lambda e: e.defer(ROOM, text, places))
        if self.too_old(answer, ticket_id) or not isinstance(answer, TicketView):
            if isinstance(answer, errors.DefersUsedUp):
                assert self.model.policy.max_defers < 8
            return
        self.keep(answer)
        rank = line.index(ticket_id)
        now_at = list(self.facts.waiting).index(ticket_id)
        assert answer.position == now_at + 1
        assert now_at >= min(rank + places, len(line) - 1)
        line.remove(ticket_id)
        assert [i for i in self.facts.waiting if i != ticket_id] == line

    @rule(who=st.integers(0, 1), said=st.lists(SAID, min_size=1, max_size=4), force=st.booleans())
    def settle_by_record(self, who: int, said: list[dict[str, Any]], force: bool) -> None:
        """A record elsewhere says where some are: there they are, unless it was too late."""
        if not self.facts.meta:
            self.call(who, Step("stats"), lambda e: e.stats(ROOM))
        record, wanted = self.facts.record, {}
        taken = set(self.facts.waiting.values())
        for one in said:
            ticket_id = self.recorded(one["who"])
            revision = max(0, record.get(ticket_id, 0) + one["newer"])
            place = self.free_place(one["near"], one["by"], taken)
            taken.add(place)
            wanted[ticket_id] = Settled(ticket_id, one["state"], place, revision)
        step = Step("settle", frozenset(wanted), force, recorded=frozenset(record))
        before = self.facts
        tickets = [*wanted.values()]
        self.call(who, step, lambda e: e.settle(ROOM, tickets, forced=force))
        for told in tickets:
            late = told.revision < record.get(told.id, 0) and not force
            states = {
                "waiting": self.facts.waiting.get(told.id),
                "called": self.facts.called.get(told.id),
                "inside": self.facts.inside.get(told.id),
            }
            here = [state for state, score in states.items() if score is not None]
            if late:
                assert before.waiting.get(told.id) == states["waiting"], "too late, and still moved"
                assert (told.id in before.called) == ("called" in here)
            else:
                assert here == [told.state] * (told.state in ("waiting", "called"))
                assert self.facts.record[told.id] == told.revision
                assert told.state != "waiting" or states["waiting"] == told.place

    def recorded(self, pick: int) -> str:
        """Return the id of somebody whom a record knows, or who came by themselves."""
        ids = [f"recorded-ticket{n}" for n in range(3)]
        ids += [*self.tickets][-6:]
        return ids[pick % len(ids)]

    def free_place(self, near: int, by: int, taken: set[int]) -> int:
        """Return a place near somebody's, or near the last one, that nobody has."""
        line = [*self.facts.waiting.values(), self.facts.meta["last"] or self.clock.now_us]
        place = max(1, line[near % len(line)] + by)
        while place in taken:
            place += 1
        return place

    @rule(who=st.integers(0, 1))
    def stats(self, who: int) -> None:
        """Stats say what the keys say, and change nothing."""
        meta = self.facts.meta
        room_ms = (self.clock.now_us + meta.get("offset", 0)) // 1000
        silent = room_ms - meta.get("alive_at", 0)
        stats = self.call(who, Step("stats"), lambda e: e.stats(ROOM))
        assert not isinstance(stats, errors.WaitroomError)
        assert stats.waiting == len(self.facts.waiting)
        assert stats.counters == {name: self.facts.meta.get(name, 0) for name in stats.counters}
        if 0 <= silent < 1000:
            self.model.now = max(self.model.now, room_ms)
            assert stats.called == self.model.live("called")
            assert stats.inside == self.model.live("inside")

    @rule(who=st.integers(0, 1), state=either(State.WAITING, State.CALLED, State.INSIDE))
    def list(self, who: int, state: State) -> None:
        """Pages of two list everybody once, in order."""
        found: list[str] = []
        after = None
        while True:
            page = self.call(who, Step("list"), lambda e: e.list(ROOM, state, after=after, limit=2))  # noqa: B023
            assert not isinstance(page, errors.WaitroomError)
            found += [line.id for line in page.tickets]
            after = page.after
            if after is None:
                break
        facts: dict[str, int] = getattr(self.facts, state.value)
        assert found == [*facts]

    # Rules: time and faults --------------------------------------------------------------------

    @rule(seconds=SECONDS)
    def wait(self, seconds: float) -> None:
        """Time passes."""
        self.clock.step(seconds)

    @rule(seconds=SECONDS, who=st.integers(0, 1))
    def wait_and_advance(self, seconds: float, who: int) -> None:
        """Time passes as a ticker sees it: an advance every second, and people poll."""
        for _ in range(min(12, int(seconds))):
            self.clock.step(1)
            self.advance(who, 500)
        self.clock.step(seconds % 1)

    @rule(seconds=either(-60, 60))
    def clock_steps(self, seconds: float) -> None:
        """The server's clock is put back or forward."""
        self.clock.step(seconds)
        self.saved = None

    @rule()
    def forget_scripts(self) -> None:
        """SCRIPT FLUSH."""
        self.run(self.raw.script_flush())

    def know_the_epoch(self) -> None:
        """Let both engines have heard of the room as it is."""
        for who in range(2):
            self.call(who, Step("stats"), lambda e: e.stats(ROOM))

    @rule()
    def lose_everything(self) -> None:
        """FLUSHALL, as far as this room goes."""
        self.know_the_epoch()
        self.run(self.delete_keys())
        self.facts = self.run(self.read())
        self.saved = None
        self.ops.clear()
        self.clock.step(0.05)
        self.model.flushed(self.clock.now_ms)

    @precondition(lambda self: self.facts.meta)
    @rule()
    def replicate(self) -> None:
        """A replica has got everything up to here."""
        self.know_the_epoch()

        async def dump() -> dict[bytes, bytes]:
            found = {key: await self.raw.dump(key) for key in await self.names()}
            return {key: value for key, value in found.items() if value is not None}

        self.saved = self.run(dump()), copy.deepcopy(self.model)
        self.saved_ops = dict(self.ops)

    @precondition(lambda self: self.saved is not None and self.facts.meta)
    @rule()
    def fail_over(self) -> None:
        """The replica takes over: what happened since is lost."""
        assert self.saved is not None
        dump, model = self.saved

        async def load() -> None:
            await self.raw.delete(*await self.names())
            for key, value in dump.items():
                await self.raw.restore(key, 600_000 if b":op:" in key else 0, value)

        self.run(load())
        self.clock.step(1)
        model.failed_over(self.model)
        self.model, self.saved, self.ops = model, None, self.saved_ops
        self.facts = self.run(self.read())

    # Invariants --------------------------------------------------------------------------------

    @invariant()
    def nobody_is_lost_or_doubled(self) -> None:
        """The keys agree with each other and with the model, on everybody."""
        facts, model = self.facts, self.model
        if not facts.meta:
            return
        states = (facts.waiting, facts.called, facts.inside)
        assert sum(map(len, states)) == len(set().union(*states)), "somebody is in two states"
        for name, keyed in zip(("waiting", "called", "inside"), states, strict=True):
            people = {p.id for p in model.people.values() if p.state == name and not p.lost}
            assert people == set(keyed), f"{name}: lost {people - set(keyed)}, or strange"
        assert set(facts.seen) == set(facts.waiting)
        assert set(facts.sids) == set(facts.inside)
        assert not set(facts.gone) & set(facts.waiting), "gone and in line"
        assert len(set(facts.waiting.values())) == len(facts.waiting), "a place given twice"
        assert len(facts.entries) <= MOST_BUCKETS
        assert facts.policy == model.policy

    @invariant()
    def every_place_would_survive_a_loss(self) -> None:
        """Whoever waits is after the watermark, or a loss would cost them their place."""
        if not self.facts.meta:
            return
        watermark = self.facts.meta["watermark"]
        for person in self.model.people.values():
            if person.state == "waiting" and not person.reverted and not person.settled:
                assert person.place > watermark, "waits behind the watermark"


async def _awaitable(call: Awaitable[T]) -> T:
    return await call


def _numbers(pairs: Iterable[tuple[bytes, Any]]) -> dict[str, int]:
    return {name.decode(): int(float(value)) for name, value in pairs if name != b"history"}


def _event(fields: dict[bytes, bytes]) -> Event:
    ids = tuple(fields[b"ids"].decode().split())
    return Event(fields[b"kind"].decode(), ids, fields.get(b"reason", b"").decode())


def _fresh(
    before: tuple[tuple[str, Event], ...], after: tuple[tuple[str, Event], ...]
) -> list[Event]:
    """Return the events that are new; the stream may have been begun anew."""
    seen = after[: len(before)] == before
    return [event for _, event in (after[len(before) :] if seen else after)]


def _empty(facts: Facts) -> bool:
    """Whether nothing in the room counts in its own time."""
    held = (facts.waiting, facts.called, facts.inside, facts.gone, facts.entries, facts.record)
    return not any(held) and not facts.events


def _counters(facts: Facts) -> dict[str, int]:
    return {name: facts.meta.get(name, 0) for name in COUNTERS}


def test_every_history_keeps_the_rules(valkey: Server) -> None:
    """Whatever happens in whatever order, every move of the engine is one the rules allow."""
    Machine.url = valkey.url
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=count("state_machine_examples"),
            stateful_step_count=count("state_machine_steps"),
            deadline=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
            database=None,
            # `explain` runs a failure hundreds of times more, and says little of a history.
            phases=[Phase.generate, Phase.shrink],
        ),
    )
