"""Rules: an external record says where people are."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.engine.state_machine.driver import ROOM
from tests.engine.state_machine.facts import Step
from tests.engine.state_machine.people import People
from tests.engine.state_machine.strategies import TOLD
from waitroom.engine import Settled


class RecordRules(People):
    """What a desk's database tells the room."""

    @rule(who=st.integers(0, 1), rows=st.lists(TOLD, min_size=1, max_size=4), force=st.booleans())
    def settle_by_record(self, who: int, rows: list[dict[str, Any]], force: bool) -> None:
        """A record says where some people are; they are there, unless the message was too late."""
        if not self.facts.meta:
            self.call(who, Step("stats"), lambda e: e.stats(ROOM))
        record, wanted = self.facts.record, {}
        taken = set(self.facts.waiting.values())
        for row in rows:
            ticket_id = self.recorded(row["who"])
            revision = max(0, record.get(ticket_id, 0) + row["newer"])
            place = self.free_place(row["near"], row["by"], taken)
            taken.add(place)
            wanted[ticket_id] = Settled(ticket_id, row["state"], place, revision)
        step = Step("settle", frozenset(wanted), force, recorded=frozenset(record))
        before = self.facts
        tickets = [*wanted.values()]
        self.call(who, step, lambda e: e.settle(ROOM, tickets, forced=force))
        for ticket in tickets:
            late = ticket.revision < record.get(ticket.id, 0) and not force
            states = {
                "waiting": self.facts.waiting.get(ticket.id),
                "called": self.facts.called.get(ticket.id),
                "inside": self.facts.inside.get(ticket.id),
            }
            here = [state for state, score in states.items() if score is not None]
            if late:
                assert before.waiting.get(ticket.id) == states["waiting"], (
                    "too late, and still moved"
                )
                assert (ticket.id in before.called) == ("called" in here)
            else:
                assert here == [ticket.state] * (ticket.state in ("waiting", "called"))
                assert self.facts.record[ticket.id] == ticket.revision
                assert ticket.state != "waiting" or states["waiting"] == ticket.place

    def recorded(self, pick: int) -> str:
        """Return the id of somebody whom a record knows, or who came by themselves."""
        ids = [f"recorded-ticket{n}" for n in range(3)]
        ids += [*self.tickets][-6:]
        return ids[pick % len(ids)]

    def free_place(self, near: int, by: int, taken: set[int]) -> int:
        """Return a free place near somebody's, or near the last one."""
        line = [*self.facts.waiting.values(), self.facts.meta["last"] or self.clock.now_us]
        place = max(1, line[near % len(line)] + by)
        while place in taken:
            place += 1
        return place
