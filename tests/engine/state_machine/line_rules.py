"""Rules: people join, come again and poll."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.engine.state_machine.driver import PER_MINUTE, ROOM
from tests.engine.state_machine.facts import Step
from tests.engine.state_machine.people import People
from tests.engine.state_machine.strategies import PEOPLE, either
from waitroom import errors
from waitroom.engine.joins import Join
from waitroom.entry_codes import EntryCode
from waitroom.models import Needs, State, TicketView

VISITORS = ("ann", "ben", "cho")
ADDRESSES = ("192.0.2.1", "192.0.2.2")


class LineRules(People):
    """What visitors do in line."""

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
        banned = {i for i in ids if model.person(i).banned and model.person(i).state == "out"}
        then = model.now
        has_room = bool(model.room_left(direct=True)) and not model.line()
        nameless = frozenset(i for i, j in zip(ids, joins, strict=True) if j.ticket is None)
        step = Step("join", frozenset(ids), nameless=nameless)
        buckets = dict(self.facts.sources)
        held, in_line = dict(self.codes.held), set(self.facts.waiting)
        answers = self.call(who, step, lambda e: e.join_many(ROOM, joins))
        assert not isinstance(answers, errors.WaitroomError), repr(answers)
        for join, answer in zip(joins, answers, strict=True):
            self.judge_source(buckets, join.source[:12], answer)
        assert buckets.keys() == self.facts.sources.keys(), "a new place was not charged"
        for source, full_at in self.facts.sources.items():
            assert abs(buckets[source] - full_at) < 1, "a new place was not charged, or an old one"
        for join, ticket_id, answer in zip(joins, ids, answers, strict=True):
            self.judge_code(join, ticket_id, answer, held, back=ticket_id not in in_line)
            if ticket_id in banned:
                assert isinstance(answer, errors.Banned), repr(answer)
            elif isinstance(answer, TicketView):
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
                if isinstance(answer, errors.TooMany | errors.CodeRefused | errors.CodeRequired):
                    continue
                full = isinstance(answer, errors.RoomFull)
                assert isinstance(answer, errors.Refused)
                if isinstance(answer, errors.EnteredBefore):
                    assert model.policy.once
                    assert model.person(ticket_id).been, "refused who was never inside"
                    continue
                assert answer.code == (model.refuses or "room_full")
                if full:
                    assert model.policy.queue_limit is not None
                    assert len(model.line()) >= model.policy.queue_limit

    def judge_code(
        self,
        join: Join,
        ticket_id: str,
        answer: TicketView | errors.WaitroomError,
        held: dict[str, str],
        *,
        back: bool,
    ) -> None:
        """Judge what came of the code that somebody showed, or of the one on their ticket."""
        name, uses = "", 1
        if join.ticket is not None:
            ticket, life = self.ring.read(ROOM, join.ticket), self.model.policy.ticket_ttl_s
            old = life is not None and self.clock.now_us / 1e6 > ticket.issued_s + life
            name = "" if old else ticket.code
        if isinstance(join.code, EntryCode):
            name, uses = join.code.name, join.code.uses
        revoked = f"{name[:4]}:revoked" in self.facts.batches
        was = self.codes.held.get(ticket_id, held.get(ticket_id))
        self.codes.judge(ticket_id, name, uses, answer, was, revoked=revoked)
        if isinstance(answer, errors.CodeRequired):
            assert self.model.policy.needs is Needs.CODE, "asked for a code"
            assert not name, "asked for a code that was shown"
        elif isinstance(answer, TicketView) and answer.new:
            assert name or self.model.policy.needs is not Needs.CODE, "a place without a code"
        elif isinstance(answer, TicketView) and back and ticket_id in self.facts.coded:
            self.codes.take(ticket_id, name, holds=True)  # in their place, with the code of it

    def judge_source(
        self, buckets: dict[str, float], source: str, answer: TicketView | errors.WaitroomError
    ) -> None:
        """Charge a new place; anybody refused must have found the bucket empty."""
        limited = isinstance(answer, errors.TooMany)
        if not source:
            assert not limited, "limited, though nobody counts"
            return
        now, step = self.model.now, 60_000 / PER_MINUTE
        full_at = min(max(buckets.get(source, 0), now), now + 60_000 + step) + step
        if isinstance(answer, TicketView) and answer.new:
            assert full_at <= now + 60_001, "more new places than one network gets"
            buckets[source] = full_at
        elif limited:
            assert full_at > now + 60_000, "limited, though there was a place left"

    def no_hold_since(self, then: int) -> bool:
        """Whether time simply went on: no clock set back, and no silence that began a hold."""
        return self.model.hold_until <= self.model.now >= then

    @rule(who=st.integers(0, 1), people=st.integers(1, 4), enter=st.booleans())
    def join_new(self, who: int, people: int, enter: bool) -> None:
        """Newcomers join."""
        self.joins(who, [Join(enter=enter)] * people)

    @rule(who=st.integers(0, 1), people=st.integers(1, 4), address=either(*ADDRESSES))
    def join_from(self, who: int, people: int, address: str) -> None:
        """Newcomers join from one address, together with somebody known by name."""
        source = self.ring.source_name(ROOM, address, "wider")
        known = Join(visitor=VISITORS[0], source=source)
        self.joins(who, [Join(source=source)] * people + [known])

    @rule(who=st.integers(0, 1), visitor=either(*VISITORS), enter=st.booleans())
    def join_by_name(self, who: int, visitor: str, enter: bool) -> None:
        """Somebody known by name joins, perhaps again."""
        self.joins(who, [Join(visitor=visitor, enter=enter)])

    @precondition(lambda self: self.tickets)
    @rule(who=st.integers(0, 1), picks=st.lists(PEOPLE, min_size=1, max_size=3, unique=True))
    def join_again(self, who: int, picks: list[int]) -> None:
        """People join with the ticket they have; those in line keep their place."""
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
                if ticket_id in due & newest and self.restorable(ticket_id):
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
