"""Entry codes, said a second time: who used which, who holds one, and what gives it back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.engine.state_machine.facts import Event, Facts, Step
from waitroom import errors
from waitroom.models import State, TicketView

BATCH = 4


@dataclass(slots=True)
class CodeModel:
    """The codes of one room, followed through its history."""

    users: dict[str, set[str]] = field(default_factory=dict)
    held: dict[str, str] = field(default_factory=dict)

    def follow(self, step: Step, after: Facts, events: Iterable[Event], *, lost: bool) -> None:
        """Take over what a call did to those who hold a code."""
        if lost or step.verb == "end_again":  # a loss forgets, and may bring back a use
            self.learn(after)
            return
        for event in events:
            for ticket_id in event.ids:
                if event.kind == "adopted":
                    self.hand_over(event.source, ticket_id)
                elif event.kind == "called":
                    self.held.pop(ticket_id, None)
                elif event.reason == "left" and step.verb != "settle":
                    self.give_back(ticket_id)
        if step.verb in ("leave", "adopt"):  # who could have come back leaves without an event
            for ticket_id in step.targets - after.coded.keys():
                self.give_back(ticket_id)

    def learn(self, facts: Facts) -> None:
        """Be as the room is: a loss has changed it."""
        self.users = {
            name: set(ids.split()) for name, ids in facts.codes.items() if len(name) > BATCH
        }
        self.held = dict(facts.coded)

    def forget(self) -> None:
        """Have no use taken: the room was cleared, or is another."""
        self.users, self.held = {}, {}

    def give_back(self, ticket_id: str) -> None:
        """Free the use that somebody holds."""
        name = self.held.pop(ticket_id, None)
        if name is not None:
            self.users[name].discard(ticket_id)

    def hand_over(self, ticket_id: str, account: str) -> None:
        """Give the use of a ticket to the account that adopts its place, whose own is free then."""
        self.give_back(account)
        name = self.held.get(ticket_id, "")
        self.give_back(ticket_id)
        self.take(account, name, holds=True)

    def take(self, ticket_id: str, name: str, *, holds: bool) -> None:
        """Use a code."""
        if name:
            self.users.setdefault(name, set()).add(ticket_id)
            if holds:
                self.held[ticket_id] = name

    def judge(
        self,
        ticket_id: str,
        name: str,
        uses: int,
        answer: TicketView | errors.WaitroomError,
        held: str | None,
        *,
        revoked: bool,
    ) -> None:
        """Say whether a newcomer may get this answer; `held` is the code that they held before."""
        users = self.users.get(name, set())
        free = held == name or (ticket_id not in users and len(users) < uses)
        if isinstance(answer, errors.CodeRefused):
            assert name, "refused a code that nobody showed"
            assert answer.reason == ("revoked" if revoked else "used"), answer.reason
            assert revoked or not free, "refused, though the code has a use left"
        elif isinstance(answer, TicketView) and answer.new and name:
            assert not revoked, "a place for a revoked code"
            assert free, "more places than uses"
            self.take(ticket_id, name, holds=answer.state is State.WAITING)

    def check(self, facts: Facts) -> None:
        """The keys say what the history gives."""
        users = {name: ids for name, ids in self.users.items() if ids}
        known = {name: ids.split() for name, ids in facts.codes.items() if len(name) > BATCH}
        assert users == {name: set(ids) for name, ids in known.items()}, "uses of codes"
        assert all(len(set(ids)) == len(ids) for ids in known.values()), "a use noted twice"
        assert self.held == facts.coded, "who holds a code"
        assert not self.held.keys() & {*facts.called, *facts.inside}, "called, and holds a code"
        counts: dict[str, int] = {}
        for name, ids in known.items():
            counts[name[:BATCH]] = counts.get(name[:BATCH], 0) + len(ids)
        noted = {name: int(n) for name, n in facts.codes.items() if len(name) == BATCH and int(n)}
        assert counts == noted, "how many uses of a batch are taken"
