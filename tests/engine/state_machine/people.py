"""The people of a history: who holds which ticket, and what a view must say."""

from __future__ import annotations

from tests.engine.state_machine.driver import ROOM, Driver
from tests.engine.state_machine.facts import FOREVER, Person
from waitroom import errors
from waitroom.models import BeforeOpen, Reason, State, TicketView


class People(Driver):
    """Visitors keep every ticket that they get."""

    def holders(self, pick: int) -> str | None:
        """Return the id of somebody who has a ticket."""
        ids = list(self.tickets)
        return ids[-1 - pick % len(ids)] if ids else None

    def somebody(self, pick: int, state: str) -> str | None:
        """Return the id of somebody in a state if there is one, else of anybody."""
        ids = [i for i in self.tickets if self.model.people[i].state == state]
        return ids[pick % len(ids)] if ids else self.holders(pick)

    def keep(self, view: TicketView) -> Person:
        """Make a visitor keep the ticket of a view."""
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

    @property
    def hidden(self) -> bool:
        """Whether the order is secret: places are drawn, or were drawn for a future opening."""
        meta, opens = self.facts.meta, self.model.policy.opens_at_ms
        if opens is None or self.clock.now_us // 1000 >= opens or meta.get("opened") == opens:
            return False
        drawn = meta.get("draw_until", 0) > meta.get("opened", 0)
        return drawn or self.model.policy.before_open is BeforeOpen.DRAW

    def check_view(self, view: TicketView) -> None:
        """A view says what the keys say."""
        facts, model = self.facts, self.model
        person = model.person(view.id)
        if view.state is State.WAITING:
            rank = list(facts.waiting).index(view.id) + 1
            if model.counts["restored"] and view.position:
                rank = view.position  # others came back in front, later in the same call
            assert view.position == (None if self.hidden or model.restoring else rank)
            assert view.restoring == model.restoring
        elif view.state is State.CALLED:
            assert person.state == "called"
            assert person.until > model.now, "a turn that is over is shown"
            offset = facts.meta.get("offset", 0) // 1000
            deadline = view.enter_by_ms
            assert (deadline + offset if deadline else FOREVER) == person.until
        elif view.state is State.INSIDE:
            assert person.state == "inside"
            assert person.until > model.now, "a session that is over is shown"
            assert view.sid == facts.sids[view.id]
        else:
            live = person.state in ("called", "inside") and person.until > model.now
            assert not live, f"gone ({view.reason}) but {person.state}"
            if view.reason is Reason.ABANDONED:
                assert model.overdue(person), "too late, though `return_s` is not over"
            assert person.state != "waiting" or person.lost, f"gone ({view.reason}) but waiting"
            if view.reason is Reason.KICKED:
                assert view.id in facts.kicked, "told of a kick that never was"
            elif person.why == "kicked" and view.reason is not Reason.CLEARED:
                assert view.id not in facts.kicked, f"kicked, and told {view.reason}"

    def too_old(self, answer: object, ticket_id: str) -> bool:
        """Whether the ticket was refused for its age; the age is checked."""
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
        """Whether somebody was forgotten whom only an external record brings back."""
        return self.model.person(ticket_id).lost and ticket_id in self.facts.record
