"""Histories that once broke a rule, played again step by step: chance seldom finds them twice."""

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


def test_an_empty_room_keeps_its_hold_beside_another_clock(room: Machine) -> None:
    """After a failover to a server whose clock is behind, a room without anybody holds on."""
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
    """A change after a failover is kept by a process that knows another of the same version."""
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
    """What may have been over when the room was last heard of stays over."""
    room.first(changes=[{"recover_s": 0}], enter_within=3)
    room.join_from(address="192.0.2.1", people=1, who=0)
    room.call_one(force=True, pick=0, who=0)
    room.wait_and_advance(seconds=2.5, who=0)
    room.clock_steps(seconds=60)
    room.advance(most=500, who=0)
    room.wait_and_advance(seconds=1.5, who=0)
    judge(room)
