"""Joining with an entry code: one use, one place; what gives a use back, and what does not."""

from __future__ import annotations

import secrets
from typing import Any

import pytest

from tests.support.clock import Clock, Nobody
from waitroom import entry_codes
from waitroom.engine import Engine, Join, keys
from waitroom.engine.limited import CODE_REFUSED_S, DEAD_CODES, MOST, RefusedCodes
from waitroom.entry_codes import EntryCode
from waitroom.errors import CodeRefused, CodeRequired, RoomClosed, RoomFull, TooMany
from waitroom.models import Mode, Needs, Policy, State, TicketView

pytestmark = pytest.mark.every_kind


async def codes_of(engine: Engine, room: str, count: int = 1, uses: int = 1) -> list[str]:
    """Make codes of one batch."""
    return list(engine.codes(room, await engine.issue(room, count, uses=uses)))


async def invited(engine: Engine, room: str, **policy: Any) -> str:
    """Make a room for invited people in which everybody waits; return a code with one use."""
    await engine.create(room, Policy(**{"mode": Mode.PAUSED, "needs": Needs.CODE} | policy))
    (code,) = await codes_of(engine, room)
    return code


async def used(engine: Engine, room: str) -> int:
    """Return how many uses of the room's first batch are taken."""
    return (await engine.batches(room))[0].used


async def refused(engine: Engine, room: str, code: str, visitor: str | None = None) -> str:
    """Return why a code gives no place."""
    with pytest.raises(CodeRefused) as refusal:
        await engine.join(room, visitor=visitor, code=code)
    return refusal.value.reason


async def test_a_place_for_a_code(engine: Engine, room: str) -> None:
    """A code gives one place; the next person with the same code gets none."""
    code = await invited(engine, room)
    assert (0, 1) == (await used(engine, room), (await engine.join(room, code=code)).position)
    assert ("used", 1, 1) == (
        await refused(engine, room, code.lower()),
        await used(engine, room),
        (await engine.stats(room)).waiting,
    )


@pytest.mark.attack
@pytest.mark.parametrize("why", ["used", "revoked"])
async def test_a_refused_code_is_not_asked_for_again(
    engine: Engine, clock: Clock, room: str, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    """For a moment a dead code costs its source no call; its holder, elsewhere, has their place."""
    await invited(engine, room)
    batch = await engine.issue(room, 2)
    dead, other = (entry_codes.read(engine.ring, room, text) for text in engine.codes(room, batch))
    here, there = (engine.ring.source_name(room, f"192.0.{n}.1", f"192.0.{n}.0") for n in (2, 3))
    held = await engine.join(room, visitor="kim", code=dead, source=there)
    if why == "revoked":
        await engine.revoke(room, batch.batch)

    async def flood(code: EntryCode | None) -> str:
        with pytest.raises(CodeRefused) as refusal:
            await engine.join(room, visitor=secrets.token_hex(8), code=code, source=here)
        return refusal.value.reason

    assert why == await flood(dead)
    with monkeypatch.context() as patch:
        patch.setattr(engine._runner, "visitors", Nobody())
        assert [why] * 3 == [await flood(dead) for _ in range(3)]
        with pytest.raises(AssertionError, match="the server was asked"):
            await flood(other)
        clock.step(CODE_REFUSED_S)
        with pytest.raises(AssertionError, match="the server was asked"):
            await flood(dead)
    assert why == await flood(dead)
    assert held.id == (await engine.join(room, visitor="kim", code=dead, source=there)).id


@pytest.mark.attack
async def test_a_list_of_dead_codes() -> None:
    """A source that shows many in vain has to wait; others, and other sources, do not.

    What is kept of it is bounded, and no error is told twice: it would keep alive whoever got it.
    """
    memory, dead = RefusedCodes(), CodeRefused("because", "used")
    codes = [EntryCode(f"ABCD{number:04}") for number in range(DEAD_CODES + 1)]
    for code in codes[:-1]:
        assert memory.refusal(code, "source", 0.0) is None
        memory.refuse(code, "source", dead, 0.0)
        told = memory.refusal(code, "source", 0.0)
        assert isinstance(told, CodeRefused)
        assert ("because", "used") == (str(told), told.reason)
        assert told is not dead
        assert told is not memory.refusal(code, "source", 0.0)
    memory.refuse(codes[-1], "source", dead, 0.0)  # it was under way
    assert DEAD_CODES == len(memory["source"])
    assert isinstance(memory.refusal(codes[-1], "source", 0.0), TooMany)
    assert memory.refusal(codes[-1], "another", 0.0) is None
    assert memory.refusal(codes[-1], "source", CODE_REFUSED_S) is None
    for number in range(MOST + 1):
        memory.refuse(codes[0], f"source {number}", dead, 0.0)
    assert MOST // 2 < len(memory) <= MOST
    assert memory.refusal(codes[0], f"source {MOST}", 0.0), "the newest is kept"


async def test_without(engine: Engine, room: str) -> None:
    """A room that needs a code gives nobody a place without one, known or not."""
    await invited(engine, room)
    for visitor in (None, "kim"):
        with pytest.raises(CodeRequired):
            await engine.join(room, visitor=visitor)


async def test_rooms_that_need_none(engine: Engine, room: str) -> None:
    """Where codes are not needed, they count all the same."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    (code,) = await codes_of(engine, room)
    await engine.join(room)
    await engine.join(room, code=code)
    assert ("used", 1) == (await refused(engine, room, code), await used(engine, room))


async def test_not_ours(engine: Engine, room: str) -> None:
    """A code that we did not make, or for another room, never reaches the server."""
    code = await invited(engine, room)
    other = next(engine.codes("other", (await engine.batches(room))[0]))
    calls = []
    forget = engine.on_script(lambda verb, *_: calls.append(verb))
    for bad in (other, code[:-1] + ("0" if code[-1] != "0" else "1"), "K7Q2", ""):
        assert "unknown" == await refused(engine, room, bad)
    forget()
    assert [] == calls


async def test_same_visitor(engine: Engine, room: str) -> None:
    """The same visitor with the same code gets the same answer, as often as they ask."""
    code = await invited(engine, room)
    first = await engine.join(room, visitor="kim", code=code)
    again = await engine.join(room, visitor="kim", code=code)
    assert (True, False, first.ticket, 1) == (first.new, again.new, again.ticket, again.position)
    assert ("used", 1) == (await refused(engine, room, code, "lee"), await used(engine, room))


async def test_one_batch_of_joins(engine: Engine, room: str) -> None:
    """People who come in one call with one code get one place too."""
    code = await invited(engine, room)
    answers = await engine.join_many(room, [Join(code=code)] * 500)
    assert 1 == sum(isinstance(answer, TicketView) for answer in answers)
    assert 1 == await used(engine, room)


async def test_several_uses(engine: Engine, room: str) -> None:
    """A code gives as many places as it has uses, in one call or in several."""
    await invited(engine, room)
    (code,) = await codes_of(engine, room, uses=3)
    answers = await engine.join_many(room, [Join(code=code)] * 2)
    answers += await engine.join_many(room, [Join(code=code)] * 2)
    assert [True, True, True, False] == [isinstance(each, TicketView) for each in answers]
    assert 3 == sum(batch.used for batch in await engine.batches(room))


async def test_a_place_needs_no_second_use(engine: Engine, room: str) -> None:
    """Whoever has a place keeps it, and a code that they show is not used."""
    await engine.create(room, Policy(mode=Mode.PAUSED))
    (code,) = await codes_of(engine, room)
    await engine.join(room, visitor="kim")
    await engine.join(room, visitor="kim", code=code)
    assert 0 == await used(engine, room)


async def test_leave_gives_it_back(engine: Engine, room: str) -> None:
    """A leave before the call gives the use back: to others, or to the same person."""
    code = await invited(engine, room)
    person = await engine.join(room, code=code)
    await engine.leave(room, person.ticket)
    assert 0 == await used(engine, room)
    assert 1 == (await engine.join(room, visitor="lee", code=code)).position
    assert ("used", 1) == (await refused(engine, room, code), await used(engine, room))


async def test_leave_of_one_of_several(engine: Engine, room: str) -> None:
    """With several uses, only the one of who left is free again."""
    await engine.create(room, Policy(mode=Mode.PAUSED, needs=Needs.CODE))
    (code,) = await codes_of(engine, room, uses=3)
    people = [await engine.join(room, visitor=name, code=code) for name in ("a", "b", "c")]
    await engine.leave(room, people[1].ticket)
    assert 2 == await used(engine, room)
    await engine.join(room, visitor="d", code=code)
    assert "used" == await refused(engine, room, code, "b")
    assert [1, 2, 3] == [
        (await engine.join(room, visitor=name, code=code)).position for name in ("a", "c", "d")
    ]


async def test_leave_twice(engine: Engine, room: str) -> None:
    """A repeated leave gives back one use, not two."""
    await invited(engine, room)
    (code,) = await codes_of(engine, room, uses=2)
    first, _ = [await engine.join(room, visitor=name, code=code) for name in ("a", "b")]
    for op_id in ("one", "one", "two"):
        await engine.leave(room, first.ticket, op_id=op_id)
    assert 1 == sum(batch.used for batch in await engine.batches(room))


@pytest.mark.parametrize("entered", [False, True])
async def test_leave_after_the_call(engine: Engine, room: str, entered: bool) -> None:
    """Once called, the code is used up: leaving the turn or the session does not give it back."""
    code = await invited(engine, room)
    person = await engine.join(room, visitor="kim", code=code)
    await engine.admit(room, 1, force=True)
    if entered:
        await engine.enter(room, person.ticket)
    await engine.leave(room, person.ticket)
    assert ("used", "used", 1) == (
        await refused(engine, room, code),
        await refused(engine, room, code, "kim"),
        await used(engine, room),
    )


async def test_called_at_once(engine: Engine, room: str) -> None:
    """Who is called or inside in the same call has used the code up, and may repeat the join."""
    for enter in (False, True):
        name = f"{room}-{enter}"
        code = await invited(engine, name, mode=Mode.OPEN)
        first = await engine.join(name, visitor="kim", enter=enter, code=code)
        again = await engine.join(name, visitor="kim", enter=enter, code=code)
        assert (State.INSIDE if enter else State.CALLED) is first.state is again.state
        await engine.leave(name, first.ticket)
        assert "used" == await refused(engine, name, code, "kim")
        await engine.drop(name)


async def test_no_show(engine: Engine, clock: Clock, room: str) -> None:
    """A no-show does not give it back, neither to others nor to the same person."""
    code = await invited(engine, room, enter_within_s=10)
    await engine.join(room, visitor="kim", code=code)
    await engine.admit(room, 1, force=True)
    clock.step(4)
    await engine.advance(room)
    clock.step(4)
    await engine.advance(room)
    clock.step(4)
    assert ("used", "used") == (
        await refused(engine, room, code, "kim"),
        await refused(engine, room, code),
    )
    await engine.advance(room)
    assert "used" == await refused(engine, room, code, "kim")


async def test_finished(engine: Engine, room: str) -> None:
    """A finished session has used the code up."""
    code = await invited(engine, room, mode=Mode.OPEN)
    person = await engine.join(room, visitor="kim", enter=True, code=code)
    await engine.finish(room, person.ticket)
    assert "used" == await refused(engine, room, code, "kim")


async def dropped(engine: Engine, clock: Clock, room: str) -> None:
    """Let time pass in which nobody polls."""
    for _ in range(4):
        clock.step(4)
        await engine.advance(room)
    assert 0 == (await engine.stats(room)).waiting


async def test_abandoned(engine: Engine, clock: Clock, room: str) -> None:
    """Dropped for silence, they hold their code: it is theirs until their turn has passed."""
    code = await invited(engine, room, presence_s=10, return_s=20)
    person = await engine.join(room, visitor="kim", code=code)
    await dropped(engine, clock, room)
    assert "used" == await refused(engine, room, code)
    assert State.WAITING is (await engine.poll(room, person.ticket)).state
    await dropped(engine, clock, room)
    for _ in range(6):  # longer than `return_s`: the place is gone, and the code still theirs
        clock.step(4)
        await engine.advance(room)
    assert State.GONE is (await engine.poll(room, person.ticket)).state
    (again,) = await engine.join_many(room, [Join(visitor="kim", code=code)])
    assert isinstance(again, TicketView), repr(again)
    assert (True, 1) == (again.new, await used(engine, room))


async def test_abandoned_and_left(engine: Engine, clock: Clock, room: str) -> None:
    """Whoever was dropped for silence and then leaves gives the code back."""
    code = await invited(engine, room, presence_s=10)
    person = await engine.join(room, visitor="kim", code=code)
    await dropped(engine, clock, room)
    await engine.leave(room, person.ticket)
    assert (0, 1) == (await used(engine, room), (await engine.join(room, code=code)).position)


async def test_kicked(engine: Engine, room: str) -> None:
    """A kick does not give it back to others; the kicked one may join again with it."""
    code = await invited(engine, room)
    person = await engine.join(room, visitor="kim", code=code)
    await engine.kick(room, [person.id])
    assert "used" == await refused(engine, room, code)
    assert 1 == (await engine.join(room, visitor="kim", code=code)).position


async def test_refusals_use_nothing(engine: Engine, room: str) -> None:
    """A join that is refused for another reason leaves the code as it is."""
    code = await invited(engine, room, queue_limit=1)
    (other,) = await codes_of(engine, room)
    await engine.join(room, code=other)
    with pytest.raises(RoomFull):
        await engine.join(room, code=code)
    await engine.configure(room, mode=Mode.CLOSED)
    with pytest.raises(RoomClosed):
        await engine.join(room, code=code)
    assert 1 == sum(batch.used for batch in await engine.batches(room))


async def test_clear(engine: Engine, room: str) -> None:
    """After a clear all codes are as new, and revoked ones stay revoked."""
    code = await invited(engine, room)
    (other,) = await codes_of(engine, room)
    for each in (code, other):
        await engine.join(room, code=each)
    await engine.revoke(room, other[:4])
    await engine.clear(room)
    assert [0, 0] == [batch.used for batch in await engine.batches(room)]
    assert 1 == (await engine.join(room, code=code)).position
    assert "revoked" == await refused(engine, room, other)


async def test_drop(engine: Engine, room: str) -> None:
    """Nothing of the codes stays behind a dropped room."""
    code = await invited(engine, room)
    await engine.join(room, code=code)
    await engine.drop(room)
    names = [keys.room_key(room, name) for name in ("codes", "coded", "batches")]
    assert 0 == await engine.backend.client.exists(*names)


async def test_idle_room(engine: Engine, clock: Clock, room: str) -> None:
    """A room that is cleaned up after it was idle still knows which codes were used."""
    code = await invited(engine, room, mode=Mode.OPEN, idle_ttl_s=60)
    person = await engine.join(room, enter=True, code=code)
    await engine.finish(room, person.ticket)
    for _ in range(200):
        clock.step(60)
        await engine.advance(room)
    assert 0 == await engine.backend.client.exists(keys.room_key(room, "events"))
    assert ("used", 1) == (await refused(engine, room, code), await used(engine, room))


async def test_after_a_loss(engine: Engine, room: str) -> None:
    """Whoever comes back to their place after a loss takes their code again; nobody else can."""
    code = await invited(engine, room)
    (other,) = await codes_of(engine, room)
    person = await engine.join(room, code=code)
    gone = await engine.join(room, code=other)
    await engine.leave(room, gone.ticket)
    names = [keys.room_key(room, name) for name in keys.ROOM_KEYS]
    await engine.backend.client.delete(*names)
    assert State.WAITING is (await engine.poll(room, person.ticket)).state
    assert "used" == await refused(engine, room, code)
    assert State.WAITING is (await engine.join(room, code=other)).state
    await engine.leave(room, person.ticket)
    assert State.WAITING is (await engine.join(room, code=code)).state


async def test_ticket_after_a_loss(engine: Engine, room: str) -> None:
    """A place that was given by a code is kept through a defer, with its code."""
    code = await invited(engine, room, max_defers=1)
    (other,) = await codes_of(engine, room)
    first = await engine.join(room, code=code)
    await engine.join(room, code=other)
    moved = await engine.defer(room, first.ticket, 1)
    names = [keys.room_key(room, name) for name in keys.ROOM_KEYS]
    await engine.backend.client.delete(*names)
    await engine.poll(room, moved.ticket)
    assert "used" == await refused(engine, room, code)


async def test_finished_before_a_loss(engine: Engine, room: str) -> None:
    """Who was called, finished, and was brought back by a loss leaves no code to others."""
    code = await invited(engine, room)
    person = await engine.join(room, code=code)
    await engine.call(room, person.id, force=True)  # by hand: the watermark stays behind
    await engine.enter(room, person.ticket)
    client, other = engine.backend.client, engine
    names = [keys.room_key(room, name) for name in keys.ROOM_KEYS]
    memory = engine._runner.memory(room)
    await engine.finish(room, person.ticket)
    ending = memory.endings
    await client.delete(*names)
    memory.endings = None  # a process that does not know of it comes first
    assert State.WAITING is (await other.poll(room, person.ticket)).state
    memory.endings, memory.forgot = ending, True
    await engine.stats(room)
    assert State.GONE is (await engine.poll(room, person.ticket)).state
    assert "used" == await refused(engine, room, code)


async def test_limited_source(engine: Engine, room: str) -> None:
    """A source that used up its minute uses no code."""
    code = await invited(engine, room)
    engine._joins._per_minute = 1
    (other,) = await codes_of(engine, room)
    source = engine.ring.source_name(room, "192.0.2.0", "192.0")
    await engine.join(room, source=source, code=code)
    with pytest.raises(TooMany):
        await engine.join(room, visitor="kim", source=source, code=other)
    assert 1 == sum(batch.used for batch in await engine.batches(room))
