"""The reply is lost after the script ran: the engine's own retry gives the same result.

Each verb runs in two rooms with the same history and the same clock: a proxy swallows its reply in
one room, but not in its twin. Answer, counters and people must then be equal.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.tools import everybody, load_scripts, place_of
from tests.support.clock import Clock, open_engine
from tests.support.figures import say
from tests.support.servers import FaultProxy, Server, fault_proxy, start_server
from waitroom.engine import ClaimUse, Engine, Join, Settled
from waitroom.engine.scripts import Verb, script
from waitroom.errors import EnteredBefore, UnknownRoom
from waitroom.models import Needs, Policy, State, TicketView


@dataclass(slots=True)
class Scene:
    """A room with two inside, two called and 120 waiting, all known by name."""

    engine: Engine
    room: str
    clock: Clock
    tickets: dict[str, str] = field(default_factory=dict)

    def names(self) -> dict[str, str]:
        """Return the name of each id, which differs between twins."""
        ring = self.engine.ring
        return {ring.visitor_id(self.room, name): name for name in self.tickets}

    def id(self, name: str) -> str:
        """Return the id of a name."""
        return self.engine.ring.visitor_id(self.room, name)

    async def join(self, name: str, enter: bool = False) -> TicketView:
        """Make somebody join."""
        view = await self.engine.join(self.room, visitor=name, enter=enter)
        self.tickets[name] = view.ticket
        return view

    async def build(self) -> None:
        """Make the room and its people."""
        policy = Policy(capacity=4, renewable=True, max_defers=3, queue_limit=1_000)
        await self.engine.create(self.room, policy)
        joins = [Join(visitor=f"p{number}", enter=number < 2) for number in range(124)]
        states = []
        for join, view in zip(joins, await self.engine.join_many(self.room, joins), strict=True):
            assert isinstance(view, TicketView)
            assert join.visitor is not None
            self.tickets[join.visitor] = view.ticket
            states.append(view.state)
        assert [State.INSIDE] * 2 + [State.CALLED] * 2 + [State.WAITING] * 120 == states
        self.clock.step(1)


Act = Callable[[Scene], Awaitable[Any]]


def _plain(scene: Scene, view: TicketView) -> Any:
    """A view without what must differ between twins: strings, and `new` on a repeated call."""
    return (
        scene.names()[view.id],
        view.state,
        view.position,
        view.waiting,
        view.enter_by_ms,
        view.session_ends_at_ms,
        view.reason,
    )


def _visit(method: str, name: str, *args: Any) -> Act:
    async def act(scene: Scene) -> Any:
        call = getattr(scene.engine, method)
        return _plain(scene, await call(scene.room, scene.tickets[name], *args))

    return act


async def _join(scene: Scene) -> Any:
    view = await scene.join("newcomer")
    return _plain(scene, view), place_of(scene.room, view.ticket)


async def _join_directly(scene: Scene) -> Any:
    await scene.engine.clear(scene.room)
    scene.tickets.clear()
    return _plain(scene, await scene.join("newcomer", enter=True))


async def _join_many(scene: Scene) -> Any:
    views = await scene.engine.join_many(scene.room, [Join(visitor=f"q{n}") for n in range(100)])
    places = []
    for number, view in enumerate(views):
        assert isinstance(view, TicketView)
        scene.tickets[f"q{number}"] = view.ticket
        places.append(place_of(scene.room, view.ticket))
    return places


async def _join_claimed(scene: Scene) -> Any:
    account = ClaimUse(scene.id("newcomer"), "nonce 5")
    view = await scene.engine.join(scene.room, account=account)
    scene.tickets["newcomer"] = view.ticket
    return _plain(scene, view), place_of(scene.room, view.ticket)


async def _enter_once(scene: Scene) -> Any:
    await scene.engine.configure(scene.room, needs=Needs.IDENTITY, once=True)
    view = await scene.engine.enter(scene.room, scene.tickets["p3"])
    await scene.engine.finish(scene.room, view.ticket)
    again = await scene.engine.join_many(scene.room, [Join(visitor="p3")])
    assert isinstance(again[0], EnteredBefore)
    return _plain(scene, view), [type(answer) for answer in again]


async def _join_once(scene: Scene) -> Any:
    await scene.engine.clear(scene.room)
    await scene.engine.configure(scene.room, needs=Needs.IDENTITY, once=True)
    scene.tickets.clear()
    account = ClaimUse(scene.id("newcomer"), "nonce 5")
    view = await scene.engine.join(scene.room, account=account, enter=True)
    scene.tickets["newcomer"] = view.ticket
    elsewhere = await scene.engine.join(scene.room, account=ClaimUse(view.id, "other 5"))
    return _plain(scene, view), _plain(scene, elsewhere)


async def _adopt_once(scene: Scene) -> Any:
    await scene.engine.configure(scene.room, needs=Needs.IDENTITY, once=True)
    account = ClaimUse(scene.id("p60"), "nonce 5")
    view = await scene.engine.adopt(scene.room, scene.tickets["p0"], account)
    assert view is not None
    await scene.engine.finish(scene.room, view.ticket)
    again = await scene.engine.join_many(
        scene.room, [Join(account=ClaimUse(view.id, "other 5")), Join(visitor="p0")]
    )
    assert isinstance(again[0], EnteredBefore)
    return _plain(scene, view), [type(answer) for answer in again]


def _adopt(name: str) -> Act:
    async def act(scene: Scene) -> Any:
        account = ClaimUse(scene.id("p60"), "nonce 5")
        view = await scene.engine.adopt(scene.room, scene.tickets[name], account)
        assert view is not None
        return _plain(scene, view), place_of(scene.room, view.ticket)

    return act


async def _restore(scene: Scene) -> Any:
    client, id_ = scene.engine.backend.client, scene.id("p9")
    await client.zrem(f"wr:{{{scene.room}}}:waiting", id_)
    return _plain(scene, await scene.engine.poll(scene.room, scene.tickets["p9"]))


async def _advance(scene: Scene) -> Any:
    await scene.engine.configure(scene.room, capacity=50)
    done = await scene.engine.advance(scene.room)
    return done.waiting, done.due_ms


async def _admit(scene: Scene) -> Any:
    return await scene.engine.admit(scene.room, 50, force=True)


async def _admit_within_capacity(scene: Scene) -> Any:
    await scene.engine.configure(scene.room, capacity=30)
    return await scene.engine.admit(scene.room, 50)


async def _call(scene: Scene) -> Any:
    return await scene.engine.call(scene.room, scene.id("p30"), force=True)


async def _kick(scene: Scene) -> Any:
    return await scene.engine.kick(scene.room, map(scene.id, ("p1", "p2", "p20", "p21")))


async def _reinstate(scene: Scene) -> Any:
    await scene.engine.kick(scene.room, [scene.id("p20")])
    back = await scene.engine.reinstate(scene.room, scene.id("p20"))
    return back.position, back.waiting, await _stats(scene)


async def _settle(scene: Scene) -> Any:
    states = (("p0", "waiting"), ("p20", "called"), ("p21", "left"), ("p22", "waiting"))
    await scene.engine.settle(  # a repeat reports that nothing is left to change
        scene.room,
        [Settled(scene.id(name), state, 7 + n, 1) for n, (name, state) in enumerate(states)],
        turnover="1:2.0",
    )
    return (await scene.engine.stats(scene.room)).counters


async def _list(scene: Scene) -> Any:
    page = await scene.engine.list(scene.room, limit=10)
    return [(scene.names()[line.id], line.place, line.seen_ms) for line in page.tickets]


async def _stats(scene: Scene) -> Any:
    return (await scene.engine.stats(scene.room)).counters


async def _sample(scene: Scene) -> Any:
    await scene.engine.sample(scene.room)  # a repeat reports that it is no longer due
    return await scene.engine.series(scene.room)


async def _check(scene: Scene) -> Any:
    lines = (await scene.engine.list(scene.room, State.INSIDE)).tickets
    sessions = [(line.id, (line.sid or 0) + n) for n, line in enumerate(lines)]
    return await scene.engine.check_many(scene.room, sessions)


async def _join_with_code(scene: Scene) -> Any:
    batch = await scene.engine.issue(scene.room, 1)
    code = next(scene.engine.codes(scene.room, batch))
    view = await scene.engine.join(scene.room, visitor="invited", code=code)
    scene.tickets["invited"] = view.ticket
    others = await scene.engine.join_many(scene.room, [Join(visitor="other", code=code)])
    used = [each.used for each in await scene.engine.batches(scene.room)]
    return _plain(scene, view), [type(other) for other in others], used


async def _leave_with_code(scene: Scene) -> Any:
    batch = await scene.engine.issue(scene.room, 1, uses=2)
    code = next(scene.engine.codes(scene.room, batch))
    for name in ("one", "two"):
        view = await scene.engine.join(scene.room, visitor=name, code=code)
        scene.tickets[name] = view.ticket
    await scene.engine.leave(scene.room, scene.tickets["one"])
    return [each.used for each in await scene.engine.batches(scene.room)]


async def _issue(scene: Scene) -> Any:
    made = await scene.engine.issue(scene.room, 5, uses=2, note="fans")
    listed = await scene.engine.batches(scene.room)
    return made.count, made.made_ms, [each.batch == made.batch for each in listed]


async def _revoke(scene: Scene) -> Any:
    made = await scene.engine.issue(scene.room, 5)
    scene.clock.step(1)
    return (await scene.engine.revoke(scene.room, made.batch)).revoked_ms


async def _clear(scene: Scene) -> Any:
    return await scene.engine.clear(scene.room)


async def _drop(scene: Scene) -> Any:
    return await scene.engine.drop(scene.room)


async def _configure(scene: Scene) -> Any:
    new = (await scene.engine.configure(scene.room, capacity=9)).new
    return new.version, new.policy


async def _configure_guarded(scene: Scene) -> Any:
    version = (await scene.engine.room(scene.room)).version
    change = await scene.engine.configure(scene.room, version=version, batch=9, every_s=1)
    return change.new.version


async def _create(scene: Scene) -> Any:
    await scene.engine.drop(scene.room)
    scene.tickets.clear()
    return (await scene.engine.create(scene.room, Policy(capacity=2))).version


ACTS: dict[str, tuple[Verb, Act]] = {
    "configure": (Verb.CONFIGURE, _configure),
    "configure a version": (Verb.CONFIGURE, _configure_guarded),
    "create": (Verb.CONFIGURE, _create),
    "join": (Verb.JOIN, _join),
    "join and enter at once": (Verb.JOIN, _join_directly),
    "join 100": (Verb.JOIN, _join_many),
    "join with a code": (Verb.JOIN, _join_with_code),
    "leave with a code": (Verb.LEAVE, _leave_with_code),
    "issue": (Verb.ISSUE, _issue),
    "revoke": (Verb.REVOKE, _revoke),
    "join with a claim": (Verb.JOIN, _join_claimed),
    "join with a claim and enter once": (Verb.JOIN, _join_once),
    "enter once": (Verb.ENTER, _enter_once),
    "adopt a session that counts once": (Verb.ADOPT, _adopt_once),
    "adopt an earlier place": (Verb.ADOPT, _adopt("p20")),
    "adopt a later place": (Verb.ADOPT, _adopt("p90")),
    "adopt a turn": (Verb.ADOPT, _adopt("p2")),
    "adopt a session": (Verb.ADOPT, _adopt("p0")),
    "poll": (Verb.POLL, _visit("poll", "p10")),
    "poll that restores": (Verb.JOIN, _restore),
    "advance": (Verb.ADVANCE, _advance),
    "enter": (Verb.ENTER, _visit("enter", "p3")),
    "renew": (Verb.RENEW, _visit("renew", "p0")),
    "finish": (Verb.FINISH, _visit("finish", "p0")),
    "leave waiting": (Verb.LEAVE, _visit("leave", "p50")),
    "leave called": (Verb.LEAVE, _visit("leave", "p2")),
    "leave inside": (Verb.LEAVE, _visit("leave", "p0")),
    "admit 50": (Verb.ADMIT, _admit),
    "admit 50 with room for 26": (Verb.ADMIT, _admit_within_capacity),
    "call": (Verb.CALL, _call),
    "kick": (Verb.KICK, _kick),
    "defer": (Verb.DEFER, _visit("defer", "p12", 5)),
    "reinstate": (Verb.REINSTATE, _reinstate),
    "settle": (Verb.SETTLE, _settle),
    "list": (Verb.LIST, _list),
    "stats": (Verb.STATS, _stats),
    "sample": (Verb.SAMPLE, _sample),
    "check": (Verb.CHECK, _check),
    "clear": (Verb.CLEAR, _clear),
    "drop": (Verb.DROP, _drop),
}


def test_every_verb_is_here() -> None:
    """Every verb is covered."""
    assert set(Verb) == {verb for verb, _ in ACTS.values()}


@pytest.fixture(scope="module", params=["valkey", "redis"])
def apart(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Run a server whose scripts nobody else loads or flushes."""
    with start_server(request.param, Path(tmp_path_factory.mktemp("apart"))) as server:
        yield server


@pytest.mark.parametrize("what", ACTS)
async def test_a_lost_reply_changes_nothing(apart: Server, what: str) -> None:
    """One place, the same place, `admit(50)` admits 50: as if the reply had arrived."""
    verb, act = ACTS[what]
    results = []
    async with fault_proxy(apart) as proxy:
        for lose in (True, False):
            clock = Clock()
            async with open_engine(proxy.url, clock) as engine:
                await load_scripts(engine.backend.client, engine.backend.facts.scripts_take_flags)
                scene = Scene(engine, f"{what.replace(' ', '-')}-{lose}", clock)
                await scene.build()
                results.append(await _result(scene, act, verb, proxy if lose else None))
    with_fault, without = results
    assert without == with_fault


async def _result(scene: Scene, act: Act, verb: Verb, proxy: FaultProxy | None) -> Any:
    before = 0
    if proxy is not None:
        before = proxy.dropped
        source = script(verb, scene.engine.backend.facts.scripts_take_flags)
        proxy.drop_next_reply(source.sha.encode())
    answer = await act(scene)
    if proxy is not None:
        assert 1 == proxy.dropped - before, "no reply was lost, so nothing is proven"
        assert proxy.requests >= 2, "nothing was sent again"
        say(f"{verb}: 1 reply lost of 1 operation in flight, sent {proxy.requests} times")
    names = scene.names()
    people = {
        state: sorted((score, names[ticket_id]) for ticket_id, score in scores.items())
        for state, scores in (await everybody(scene.engine.backend.client, scene.room)).items()
    }
    try:
        stats = await scene.engine.stats(scene.room)
    except UnknownRoom:
        return answer, people
    return answer, people, stats.counters, stats.waiting, stats.called, stats.inside
