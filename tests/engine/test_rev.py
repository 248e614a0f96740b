"""`rev` counts the calls that changed something: a process that saw more can prove a loss."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.clock import crowd
from waitroom.engine import Engine, Settled, keys
from waitroom.errors import Refused, VersionConflict
from waitroom.models import Mode, Policy, State, TicketView

STRANGER = "A" * 16


@dataclass(slots=True)
class Scene:
    """A manual room with one inside, one called, two waiting, and one who has left."""

    engine: Engine
    room: str
    inside: TicketView
    called: TicketView
    waiting: TicketView
    last: TicketView
    gone: TicketView

    async def rev(self) -> int:
        """Read `rev` with a plain command."""
        meta = keys.room_key(self.room, "meta")
        return int(await self.engine.backend.client.hget(meta, "rev"))

    async def grown(self, act: Callable[[Scene], Awaitable[Any]]) -> int:
        """Return by how much one call raised `rev`, refused or not."""
        before = await self.rev()
        with suppress(Refused, VersionConflict):
            await act(self)
        return await self.rev() - before

    async def forget(self, view: TicketView) -> None:
        """Lose a place, as a failover would."""
        for name, command in (("waiting", "ZREM"), ("seen", "HDEL")):
            key = keys.room_key(self.room, name)
            await self.engine.backend.client.execute_command(command, key, view.id)


@pytest.fixture
async def scene(engine: Engine, room: str) -> Scene:
    """Set the scene."""
    await engine.create(room, Policy(mode=Mode.MANUAL, max_defers=1))
    people = await crowd(engine, room, 5)
    await engine.admit(room, 2)
    inside = await engine.enter(room, people[0].ticket)
    await engine.leave(room, people[4].ticket)
    return Scene(engine, room, inside, *people[1:])


CHANGES: dict[str, Callable[[Scene], Awaitable[Any]]] = {
    "configure": lambda s: s.engine.configure(s.room, capacity=7),
    "join": lambda s: s.engine.join(s.room),
    "enter": lambda s: s.engine.enter(s.room, s.called.ticket),
    "finish": lambda s: s.engine.finish(s.room, s.inside.ticket),
    "leave": lambda s: s.engine.leave(s.room, s.waiting.ticket),
    "admit": lambda s: s.engine.admit(s.room, 2),
    "call": lambda s: s.engine.call(s.room, s.last.id),
    "kick": lambda s: s.engine.kick(s.room, [s.waiting.id, STRANGER]),
    "kick: who is not here": lambda s: s.engine.kick(s.room, [STRANGER]),
    "defer": lambda s: s.engine.defer(s.room, s.waiting.ticket, 1),
    "reinstate": lambda s: s.engine.reinstate(s.room, s.gone.id),
    "reinstate: a stranger, forced": lambda s: s.engine.reinstate(s.room, STRANGER, force=True),
    "settle": lambda s: s.engine.settle(s.room, [Settled(STRANGER, "waiting", 5, 1)]),
    "settle: only the turnover": lambda s: s.engine.settle(s.room, turnover="1:2.0"),
    "clear": lambda s: s.engine.clear(s.room),
}
NO_CHANGES: dict[str, Callable[[Scene], Awaitable[Any]]] = {
    "configure: another version": lambda s: s.engine.configure(s.room, version=9, capacity=7),
    "join: has a place": lambda s: s.engine.join(s.room, s.waiting.ticket),
    "poll": lambda s: s.engine.poll_many(s.room, [s.waiting.ticket, s.inside.ticket]),
    "advance: nothing to do": lambda s: s.engine.advance(s.room),
    "enter: inside": lambda s: s.engine.enter(s.room, s.inside.ticket),
    "renew: not renewable": lambda s: s.engine.renew(s.room, s.inside.ticket),
    "finish: no session": lambda s: s.engine.finish(s.room, s.waiting.ticket),
    "leave: has left": lambda s: s.engine.leave(s.room, s.gone.ticket),
    "call: is called": lambda s: s.engine.call(s.room, s.called.id),
    "reinstate: waits": lambda s: s.engine.reinstate(s.room, s.waiting.id),
    "reinstate: a stranger": lambda s: s.engine.reinstate(s.room, STRANGER),
    "defer: the last one": lambda s: s.engine.defer(s.room, s.last.ticket, 1),
    "list": lambda s: s.engine.list(s.room, State.WAITING),
    "stats": lambda s: s.engine.stats(s.room),
    "sample": lambda s: s.engine.sample(s.room),
    "check": lambda s: s.engine.check_many(s.room, [(s.inside.id, s.inside.sid or 0)]),
}


@pytest.mark.parametrize("name", CHANGES)
async def test_a_change_counts_once(scene: Scene, name: str) -> None:
    """A call that changes anybody's state, the policy, the epoch or the record raises it by one."""
    assert 1 == await scene.grown(CHANGES[name])


@pytest.mark.parametrize("name", NO_CHANGES)
async def test_no_change_does_not_count(scene: Scene, name: str) -> None:
    """A call that changes nothing leaves it unchanged."""
    assert 0 == await scene.grown(NO_CHANGES[name])


async def test_admit_of_nobody(scene: Scene) -> None:
    """An operator who calls people from an empty line changes nothing."""
    await scene.engine.kick(scene.room, [scene.waiting.id, scene.last.id])
    assert 0 == await scene.grown(lambda s: s.engine.admit(s.room, 1))


async def test_renewed_session(scene: Scene) -> None:
    """A deadline that moves is a change, because its loss must be noticed."""
    await scene.engine.configure(scene.room, renewable=True, session_s=60)
    assert 1 == await scene.grown(lambda s: s.engine.renew(s.room, s.inside.ticket))


async def test_leaving_without_a_place(scene: Scene) -> None:
    """A forgotten person who leaves could have come back: that they no longer can is a change."""
    await scene.forget(scene.last)
    assert 1 == await scene.grown(lambda s: s.engine.leave(s.room, s.last.ticket))
    assert State.GONE is (await scene.engine.poll(scene.room, scene.last.ticket)).state
