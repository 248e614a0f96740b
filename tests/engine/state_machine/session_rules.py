"""Rules: people enter, stay longer, finish and leave."""

from __future__ import annotations

import asyncio

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.engine.state_machine.driver import ROOM
from tests.engine.state_machine.facts import Step, ms
from tests.engine.state_machine.people import People
from tests.engine.state_machine.strategies import PEOPLE
from waitroom import errors
from waitroom.engine import Engine
from waitroom.models import State, TicketView


class SessionRules(People):
    """What visitors do with a turn or a session."""

    @precondition(lambda self: self.tickets)
    @rule(who=st.integers(0, 1), pick=PEOPLE)
    def enter(self, who: int, pick: int) -> None:
        """Somebody who may be called goes inside, but only while their turn lasts."""
        ticket_id = self.somebody(pick, "called")
        assert ticket_id is not None
        self.end_again(who)
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
        """Some people enter in one call, one perhaps twice: each gets their own answer."""
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
        self.end_again(who)
        person, facts = self.model.person(ticket_id), self.facts
        sid = facts.sids.get(ticket_id)
        until = self.clock.now_ms + 20_000 if vouch else None
        if vouch and sid is None:
            sid = self.clock.now_us - 1
        text, step = self.tickets[ticket_id][-1], Step("renew", frozenset([ticket_id]))
        session = person.until if person.state == "inside" else 0
        was = person.state
        if vouch and was != "inside":
            # The model treats it as a person inside if the engine does.
            person.lost = False

            async def taken(engine: Engine) -> TicketView:
                view = await engine.renew(ROOM, text, sid=sid, vouched_until_ms=until)
                person.state, person.until = "inside", view.session_ends_at_ms or 0
                person.been = person.been or self.model.policy.once
                self.codes.held.pop(ticket_id, None)
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
            longest = self.model.policy.longest_s
            if longest is not None:  # a session id is the time of entry
                began = min((sid or 0) // 1000, self.model.now)
                assert person.until <= max(session, began + ms(longest)), "longer than `longest_s`"
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
        self.end_again(who)
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
        """Somebody leaves from any state: they are not back until they join."""
        ticket_id = self.holders(pick)
        assert ticket_id is not None
        person = self.model.person(ticket_id)
        text, step = self.tickets[ticket_id][-1], Step("leave", frozenset([ticket_id]))
        was_here = not person.lost
        answer = self.call(who, step, lambda e: e.leave(ROOM, text))
        if self.too_old(answer, ticket_id):
            return
        assert person.state == "out" or not was_here, "left, and still there"
        # Another engine may remember that they were reinstated before a loss, and not the leave.
        again = person.forgiven and person.reinstated
        person.state, person.lost, person.forgiven, person.why = "out", False, again, "left"
