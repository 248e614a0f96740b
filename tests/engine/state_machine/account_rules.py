"""Rules: people sign in, whose place becomes their account's."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.engine.state_machine.driver import ROOM
from tests.engine.state_machine.facts import Step
from tests.engine.state_machine.line_rules import VISITORS
from tests.engine.state_machine.people import People
from tests.engine.state_machine.strategies import PEOPLE, either
from waitroom import errors
from waitroom.engine import ClaimUse
from waitroom.models import TicketView


class AccountRules(People):
    """What visitors do who have an account."""

    uses = 0

    @precondition(lambda self: self.tickets)
    @rule(
        who=st.integers(0, 1),
        pick=PEOPLE,
        state=either("waiting", "called", "inside"),
        visitor=either(*VISITORS),
    )
    def sign_in(self, who: int, pick: int, state: str, visitor: str) -> None:
        """Somebody with a ticket signs in, perhaps with an account that has a place already."""
        ticket_id, account = self.somebody(pick, state), self.ring.visitor_id(ROOM, visitor)
        assert ticket_id is not None
        if ticket_id == account:
            return
        self.call(who, Step("stats"), lambda e: e.stats(ROOM))  # it may notice a loss first
        text, self.uses = self.tickets[ticket_id][-1], self.uses + 1
        step = Step(
            "adopt",
            frozenset([ticket_id, account]),
            nameless=frozenset([account]),
            swept=frozenset(self.facts.swept),
        )
        person, ticket = self.model.person(account), self.model.person(ticket_id)
        use = ClaimUse(account, f"n{self.uses} {self.uses}")
        answer = self.call(who, step, lambda e: e.adopt(ROOM, text, use))
        if self.too_old(answer, ticket_id):
            return
        if self.ring.read(ROOM, text).is_account:
            assert answer is None, "the place of another account"
        elif isinstance(answer, TicketView):
            assert answer.id == account
            self.keep(answer)
            self.check_view(answer)
            assert ticket.state == "out" or ticket.lost, "two places for one person"
            ticket.state, ticket.why, ticket.lost, ticket.forgiven = "out", "left", False, False
        elif answer is None:
            assert person.state not in ("called", "inside") or person.until <= self.model.now
        elif isinstance(answer, errors.Banned):
            assert person.banned
        elif isinstance(answer, errors.EnteredBefore):
            assert self.model.policy.once
            assert person.been
        else:
            assert isinstance(answer, errors.KeptElsewhere), repr(answer)
            assert {ticket_id, account} & set(self.facts.record)
