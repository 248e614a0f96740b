"""Histories that once broke a rule, replayed step by step: chance rarely finds them twice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engine.state_machine.test_histories import Machine
from tests.support.servers import Server


@pytest.fixture
def room(valkey: Server) -> Iterator[Machine]:
    """A room with two engines, and the model that judges them."""
    Machine.url = valkey.url
    machine = Machine()
    yield machine
    machine.teardown()


def judge(room: Machine) -> None:
    """Check what is true between any two steps."""
    room.nobody_is_lost_or_doubled()
    room.every_place_would_survive_a_loss()


def reinstate(room: Machine) -> None:
    """Reinstate the first person who is out, by their id."""
    room.reinstate(who=0, pick=0, lift_ban=False, force=False, by_ticket=False, mistake="")


def test_an_empty_room_keeps_its_hold_beside_another_clock(room: Machine) -> None:
    """After a failover to a server whose clock is behind, an empty room keeps holding."""
    room.first(changes=[], enter_within=None)
    room.replicate()
    room.open_now(who=0)
    room.advance(most=500, who=0)
    room.fail_over()
    room.clock_steps(seconds=-60)
    room.advance(most=500, who=0)
    judge(room)
    assert room.facts.meta["hold_until"] > room.model.now


def test_two_changes_with_one_version(room: Machine) -> None:
    """A change after a failover survives a process that knows another one of the same version."""
    room.first(changes=[], enter_within=None)
    room.replicate()
    room.configure(changes={"presence_s": None}, who=1)
    room.fail_over()
    room.configure(changes={"capacity": 7}, who=0)
    judge(room)
    room.configure(changes={"queue_limit": 9}, who=1)
    judge(room)
    assert room.facts.policy is not None
    assert room.facts.policy.capacity == 7


def test_a_turn_that_ended_in_the_second_before_a_silence(room: Machine) -> None:
    """Anything that may have been over when the room was last heard of stays over."""
    room.first(changes=[{"recover_s": 0}], enter_within=3)
    room.join_from(address="192.0.2.1", people=1, who=0)
    room.call_one(force=True, pick=0, who=0)
    room.wait_and_advance(seconds=2.5, who=0)
    room.clock_steps(seconds=60)
    room.advance(most=500, who=0)
    room.wait_and_advance(seconds=1.5, who=0)
    judge(room)


def test_a_kicked_stranger_overtakes_nobody(room: Machine) -> None:
    """A kick after a clear gives no place ahead of people who joined since."""
    room.first(changes=[{"mode": "paused"}], enter_within=None)
    room.join_new(who=0, people=1, enter=False)
    room.clear(who=0)
    room.kick(who=0, picks=[0], ban=False)
    room.join_new(who=0, people=1, enter=False)
    reinstate(room)
    judge(room)
    assert len(room.facts.waiting) == 2


def test_a_kicked_stranger_after_a_loss(room: Machine) -> None:
    """The same after a loss: the process that kicked them knows that nothing knew them."""
    room.first(changes=[{"mode": "paused"}, {"recover_s": 0}], enter_within=None)
    room.join_new(who=0, people=1, enter=False)
    room.clear(who=0)
    room.kick(who=0, picks=[0], ban=False)
    room.lose_everything()
    room.join_new(who=0, people=1, enter=False)
    reinstate(room)
    judge(room)
    assert len(room.facts.waiting) == 2


def test_a_kick_that_a_failover_lost(room: Machine) -> None:
    """The engine that kicked a stranger tells the room again, which may then take the kick back."""
    room.first(changes=[{"recover_s": 0}], enter_within=None)
    room.join_new(who=0, people=1, enter=False)
    room.clear(who=0)
    room.replicate()
    room.kick(who=0, picks=[0], ban=False)
    room.fail_over()
    reinstate(room)
    judge(room)
    assert len(room.facts.waiting) == 1


@pytest.mark.parametrize("ended", [False, True])
def test_called_again_in_the_lost_second(room: Machine, ended: bool) -> None:
    """Somebody known from before a clear joins and is called; their new ticket outlives it."""
    room.first(changes=[{"recover_s": 0}], enter_within=None)
    room.join_by_name(who=0, visitor="ann", enter=False)
    room.clear(who=0)
    room.replicate()
    room.join_by_name(who=1, visitor="ann", enter=False)
    if ended:
        room.leave(who=1, pick=0)
    room.fail_over()
    room.poll(who=0, picks=[0])
    judge(room)
    assert len(room.facts.waiting) == 1


def test_an_opening_after_an_end_that_a_failover_lost(room: Machine) -> None:
    """The end time comes back with the process that set it, and the opening must precede it."""
    room.first(changes=[], enter_within=None)
    room.replicate()
    room.ending(in_s=-5, who=0)
    room.fail_over()
    room.opening(opening={"in_s": -5, "before_open": "pass"}, who=0)
    judge(room)


def test_a_session_that_was_vouched_for_holds_no_code(room: Machine) -> None:
    """Back in line after a loss, then vouched for: they had their turn, and the code is used up."""
    room.first(changes=[], enter_within=None)
    room.issue(count=1, uses=1, who=0)
    room.lose_everything()
    room.join_with_code(enter=False, picks=[0], visitor=None, who=0)
    room.renew(pick=0, vouch=True, who=0)
    judge(room)
    room.codes_are_used_once()
    assert len(room.facts.inside) == 1
    assert not room.facts.coded


def test_an_engine_that_remembers_a_kick_ends_it_first(room: Machine) -> None:
    """A process that knows of no kick lets them back; the one that does ends it, not `enter`."""
    room.first(changes=[], enter_within=None)
    room.lose_everything()
    room.join_new(who=0, people=1, enter=False)
    room.lose_everything()
    room.kick(who=0, picks=[0], ban=False)
    room.lose_everything()
    room.enter(who=1, pick=0)
    assert len(room.facts.waiting) == 1
    room.enter(who=0, pick=0)
    judge(room)
    assert not room.facts.waiting


def test_a_call_that_a_failover_lost(room: Machine) -> None:
    """Somebody called at once is back in line after a failover, and was there all the time."""
    room.first(changes=[], enter_within=None)
    room.replicate()
    room.join_new(who=0, people=1, enter=False)
    room.fail_over()
    room.poll(who=1, picks=[0])
    room.advance(who=0, most=500)
    judge(room)
    assert len(room.facts.called) == 1


@pytest.mark.parametrize("own", [False, True])
def test_an_account_gets_the_code_of_the_place_that_it_adopts(room: Machine, own: bool) -> None:
    """The use goes over with the place, and one that the account had is free again."""
    room.first(changes=[{"mode": "paused"}], enter_within=None)
    room.issue(count=2, uses=1, who=0)
    room.join_with_code(enter=False, picks=[0], visitor=None, who=0)
    if own:
        room.join_with_code(enter=False, picks=[1], visitor="ann", who=0)
    room.sign_in(pick=0, state="waiting", visitor="ann", who=0)
    judge(room)
    room.codes_are_used_once()
    assert len(room.facts.coded) == 1


def test_a_loss_that_others_hide(room: Machine) -> None:
    """As many changes as were lost hide a loss from the process that saw them: not promised."""
    room.first(changes=[{"mode": "paused"}], enter_within=None)
    room.join_new(who=0, people=1, enter=False)
    room.replicate()
    room.kick(who=0, picks=[0], ban=False)
    room.fail_over()
    room.join_new(who=1, people=1, enter=False)
    room.advance(who=0, most=500)
    judge(room)


def test_a_policy_that_comes_back_with_a_reading_call(room: Machine) -> None:
    """The first answer after a failover goes by the replica's policy, the next by the later one."""
    room.first(changes=[], enter_within=None)
    room.ending(in_s=-5, who=0)
    room.replicate()
    room.ending(in_s=30, who=0)
    room.fail_over()
    room.stats(who=0)
    judge(room)
