"""Rules: the ticker and operators move people."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.engine.state_machine.driver import ROOM
from tests.engine.state_machine.facts import FOREVER, Step
from tests.engine.state_machine.people import People
from tests.engine.state_machine.strategies import PEOPLE, either
from waitroom import errors
from waitroom.models import TicketView


class OperatorRules(People):
    """What moves people who did not ask for it, and a defer, which moves one person who did."""

    @rule(who=st.integers(0, 1), most=either(500, 500, 500, 3, 1))
    def advance(self, who: int, most: int) -> None:
        """Advance: afterwards nobody waits while there is room, and nobody outlives a deadline."""
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
        """Call some by hand; a repeated op_id returns the first result and calls nobody."""
        op_id = f"admit-{op}-{n}-{force}"
        answer = self.call(
            who, Step("admit", forced=force), lambda e: e.admit(ROOM, n, force=force, op_id=op_id)
        )
        called = self.model.counts["called_total"]
        if op_id in self.ops:
            outcome = answer if isinstance(answer, int) else repr(answer)
            assert (outcome, called) == (self.ops[op_id], 0), "a repeated admit called again"
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
        self.end_again(who)
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
    @rule(
        who=st.integers(0, 1),
        picks=st.lists(PEOPLE, min_size=1, max_size=2, unique=True),
        ban=either(False, False, True),
    )
    def kick(self, who: int, picks: list[int], ban: bool) -> None:
        """Kick some, whether or not they are here: none of their tickets brings them back."""
        ids = [i for i in dict.fromkeys(self.holders(pick) for pick in picks) if i is not None]
        step = Step("kick", frozenset(ids))
        kicked = self.call(who, step, lambda e: e.kick(ROOM, ids, ban=ban))
        assert kicked == self.model.counts["kicked"]
        self.model.kicked(ids, ban=ban)
        assert set(ids) <= set(self.facts.kicked)
        assert not set(ids) & {*self.facts.waiting, *self.facts.called, *self.facts.inside}

    @precondition(lambda self: self.tickets)
    @rule(
        who=st.integers(0, 1),
        pick=PEOPLE,
        lift_ban=st.booleans(),
        force=either(False, False, True),
        by_ticket=st.booleans(),
        mistake=either("kick", "kick", "call", ""),
    )
    def reinstate(
        self, who: int, pick: int, lift_ban: bool, force: bool, by_ticket: bool, mistake: str
    ) -> None:
        """Give somebody their place back, by their id or by a ticket; perhaps after a mistake."""
        ticket_id = self.somebody(pick, "waiting" if mistake else "out")
        assert ticket_id is not None
        if mistake == "call":
            step = Step("call", frozenset([ticket_id]), forced=True)
            self.call(1 - who, step, lambda e: e.call(ROOM, ticket_id, force=True))
        if mistake:
            step = Step("kick", frozenset([ticket_id]))
            self.call(1 - who, step, lambda e: e.kick(ROOM, [ticket_id]))
            self.model.kicked([ticket_id], ban=False)
        self.end_again(who)
        person = self.model.person(ticket_id)
        was, knew, banned = person.state, not person.lost, person.banned
        given = self.tickets[ticket_id][0] if by_ticket else ticket_id
        step = Step("reinstate", frozenset([ticket_id]), force, lifts=lift_ban)
        answer = self.call(
            who, step, lambda e: e.reinstate(ROOM, given, lift_ban=lift_ban, force=force)
        )
        if self.too_old(answer, ticket_id):
            return
        if isinstance(answer, errors.AlreadyHere):
            assert was != "out" or person.state != "out"
        elif isinstance(answer, errors.Holding):
            assert self.model.restoring
        elif isinstance(answer, errors.RoomNotOpen):
            assert self.hidden
        elif isinstance(answer, errors.Banned):
            assert ticket_id in self.facts.kicked
            assert not lift_ban
        elif isinstance(answer, errors.UnknownTicket):
            assert not force
            assert not by_ticket
        elif isinstance(answer, errors.TurnPassed):
            assert by_ticket, "cleared"
        elif isinstance(answer, errors.KeptElsewhere):
            assert ticket_id in self.facts.record
        else:
            assert not isinstance(answer, errors.WaitroomError), repr(answer)
            assert not banned or lift_ban
            assert was == "out" or not knew or self.model.counts["no_show"]
            line = list(self.facts.waiting)
            assert (answer.position, answer.waiting) == (line.index(ticket_id) + 1, len(line))
            assert self.facts.waiting[ticket_id] == answer.place

    @precondition(lambda self: self.tickets)
    @rule(who=st.integers(0, 1), pick=PEOPLE, places=st.integers(1, 3))
    def defer(self, who: int, pick: int, places: int) -> None:
        """Somebody lets others go first: at least that many, and nobody else."""
        ticket_id = self.somebody(pick, "waiting")
        assert ticket_id is not None
        self.end_again(who)
        line = list(self.facts.waiting)
        step, text = Step("defer", frozenset([ticket_id])), self.tickets[ticket_id][-1]
        answer = self.call(who, step, lambda e: e.defer(ROOM, text, places))
        if self.too_old(answer, ticket_id) or not isinstance(answer, TicketView):
            if isinstance(answer, errors.DefersUsedUp):
                assert self.model.policy.max_defers < 8
            elif isinstance(answer, errors.Holding):
                assert self.model.restoring, "no defer, though the line is complete"
            elif isinstance(answer, errors.NobodyBehind):
                assert ticket_id == line[-1]
            return
        self.keep(answer)
        assert ticket_id != line[-1]
        rank = line.index(ticket_id)
        now_at = list(self.facts.waiting).index(ticket_id)
        assert answer.position == now_at + 1
        assert now_at >= min(rank + places, len(line) - 1)
        line.remove(ticket_id)
        assert [i for i in self.facts.waiting if i != ticket_id] == line
