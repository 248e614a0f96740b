"""Rules: entry codes are made, used and revoked."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from tests.engine.state_machine.driver import ROOM
from tests.engine.state_machine.facts import Step
from tests.engine.state_machine.line_rules import VISITORS, LineRules
from tests.engine.state_machine.strategies import PEOPLE, either
from waitroom.engine.joins import Join
from waitroom.entry_codes import code_of
from waitroom.errors import WaitroomError
from waitroom.models import CodeBatch


class CodeRules(LineRules):
    """What people and operators do with entry codes."""

    @rule(who=st.integers(0, 1), count=st.integers(1, 2), uses=either(1, 1, 2))
    def issue(self, who: int, count: int, uses: int) -> None:
        """Make a batch of codes."""
        if len(self.entry_codes) > 6:
            return
        step = Step("issue")
        made = self.call(who, step, lambda e: e.issue(ROOM, count, uses=uses))
        assert isinstance(made, CodeBatch), repr(made)
        self.entry_codes += [code_of(made.batch, serial, uses) for serial in range(count)]

    @precondition(lambda self: self.entry_codes)
    @rule(who=st.integers(0, 1), pick=PEOPLE)
    def revoke(self, who: int, pick: int) -> None:
        """Revoke a batch of codes, perhaps one of a room that was dropped."""
        batch = self.entry_codes[pick % len(self.entry_codes)].batch
        answer = self.call(who, Step("revoke"), lambda e: e.revoke(ROOM, batch, force=True))
        assert not isinstance(answer, WaitroomError), repr(answer)
        assert f"{batch}:revoked" in self.facts.batches

    @precondition(lambda self: self.entry_codes)
    @rule(
        who=st.integers(0, 1),
        picks=st.lists(PEOPLE, min_size=1, max_size=3),
        visitor=either(None, *VISITORS),
        enter=st.booleans(),
    )
    def join_with_code(self, who: int, picks: list[int], visitor: str | None, enter: bool) -> None:
        """People join with codes, in one call, perhaps all with the same one."""
        codes = [self.entry_codes[pick % len(self.entry_codes)] for pick in picks]
        joins = [Join(enter=enter, code=code) for code in codes[1:]]
        self.joins(who, [Join(visitor=visitor, enter=enter, code=codes[0]), *joins])

    @precondition(lambda self: self.entry_codes and self.tickets)
    @rule(who=st.integers(0, 1), pick=PEOPLE, person=PEOPLE)
    def join_again_with_code(self, who: int, pick: int, person: int) -> None:
        """Somebody who has a ticket joins with a code."""
        code, ticket_id = self.entry_codes[pick % len(self.entry_codes)], self.holders(person)
        assert ticket_id is not None
        self.joins(who, [Join(ticket=self.tickets[ticket_id][-1], code=code)])

    @invariant()
    def codes_are_used_once(self) -> None:
        """The keys of codes agree with each other and with what happened."""
        if self.facts.meta:
            self.codes.check(self.facts)
