"""Whatever happens in whatever order, the rules allow every move of the engine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import invariant, run_state_machine_as_test

from tests.engine.state_machine.account_rules import AccountRules
from tests.engine.state_machine.code_rules import CodeRules
from tests.engine.state_machine.fault_rules import FaultRules
from tests.engine.state_machine.reading_rules import ReadingRules
from tests.engine.state_machine.record_rules import RecordRules
from tests.engine.state_machine.room_rules import RoomRules
from tests.engine.state_machine.session_rules import SessionRules
from tests.support.counts import count
from tests.support.servers import Server
from waitroom.engine.scripts import Verb

MOST_BUCKETS = 61


class Machine(
    RoomRules,
    CodeRules,
    AccountRules,
    SessionRules,
    RecordRules,
    ReadingRules,
    FaultRules,
):
    """All rules together, and what is true between any two of them."""

    @invariant()
    def nobody_is_lost_or_doubled(self) -> None:
        """The keys agree with each other and with the model about everybody."""
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
        assert not set(facts.swept) & set().union(*states), "here, and may return"
        for places in (facts.waiting, facts.swept):
            for ticket_id in set(facts.gone) & set(places):  # told again of an earlier place
                left = facts.gone[ticket_id]
                if facts.moved.get(f"{ticket_id};") == f"0:{left}":
                    assert model.person(ticket_id).adopted, "gave up a place for nothing"
                    continue  # an account that had a later place before
                assert left < places[ticket_id], "gone, and in line or may return"
        assert len(set(facts.waiting.values())) == len(facts.waiting), "a place given twice"
        assert len(facts.entries) <= MOST_BUCKETS
        assert facts.policy == model.policy
        assert facts.been == {p.id for p in model.people.values() if p.been}, "who has been inside"

    @invariant()
    def every_place_would_survive_a_loss(self) -> None:
        """Everybody who waits is after the watermark, or a loss would cost them their place."""
        if not self.facts.meta:
            return
        watermark = self.facts.meta["watermark"]
        for person in self.model.people.values():
            if person.state == "waiting" and not person.reverted and not person.settled:
                assert person.place > watermark, "waits behind the watermark"


def test_every_history_keeps_the_rules(valkey: Server) -> None:
    """Whatever happens in whatever order, the rules allow every move of the engine."""
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
            # `explain` runs a failure hundreds of times more, and says little about a history.
            phases=[Phase.generate, Phase.shrink],
        ),
    )


@pytest.mark.parametrize("verb", list(Verb))
def test_every_verb_has_a_rule(verb: Verb) -> None:
    """Some rule calls each verb, so that it is combined with all the others."""
    rules = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("*_rules.py"))
    calls = {Verb.CONFIGURE: "configure|create"}.get(verb, verb)
    assert re.search(rf"\b(e|engine|engines\[who\])\.({calls})(_many)?\(", rules)
