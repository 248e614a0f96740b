"""reinstate: an operator gives a place back to somebody who was here."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.support.clock import Clock, crowd, open_engine, polled_rank
from tests.support.servers import Server
from waitroom.engine import Engine, Settled, keys
from waitroom.engine.steps import Steps
from waitroom.errors import (
    AlreadyHere,
    Banned,
    Holding,
    InvalidTicket,
    KeptElsewhere,
    RoomNotOpen,
    TurnPassed,
    UnknownRoom,
    UnknownTicket,
)
from waitroom.models import BeforeOpen, Mode, Policy, State, TicketView

PAUSED = Policy(mode=Mode.PAUSED)
STRANGER = "A" * 16


async def order(engine: Engine, room: str) -> list[str]:
    """Return the ids of the people who wait, in order."""
    return [line.id for line in (await engine.list(room, limit=500)).tickets]


async def lose(engine: Engine, room: str) -> None:
    """Lose everything the server has of a room."""
    await engine.backend.client.delete(*keys.script_keys(room))


async def forget_events(engine: Engine, room: str) -> None:
    """Trim the event stream to nothing."""
    await engine.backend.client.xtrim(keys.room_key(room, "events"), maxlen=0)


async def silence(engine: Engine, clock: Clock, room: str, present: list[TicketView]) -> None:
    """Drop everybody for silence, except those who are present."""
    for _ in range(15):
        clock.step(1)
        await engine.poll_many(room, [view.ticket for view in present])
        await engine.advance(room)


@pytest.mark.parametrize("how", ["left", "kicked"])
async def test_the_old_place(engine: Engine, room: str, how: str) -> None:
    """Anybody who left or was kicked is back at their place, and their first ticket works again."""
    await engine.create(room, PAUSED)
    people = await crowd(engine, room, 4)
    ids = [person.id for person in people]
    if how == "left":
        await engine.leave(room, people[1].ticket)
    else:
        await engine.kick(room, [ids[1]])
    back = await engine.reinstate(room, ids[1])
    assert (2, 4) == (back.position, back.waiting)
    assert ids == await order(engine, room)
    assert 2 == await polled_rank(engine, room, people[1].ticket)
    assert 1 == (await engine.stats(room)).counters["reinstated"]
    page = await engine.events(room, "0-0")
    assert ("reinstated", (ids[1],)) == (page.events[-1].kind, page.events[-1].ids)


async def test_who_was_dropped(engine: Engine, clock: Clock, room: str) -> None:
    """Dropped for silence: at the same place, with all of `presence_s` to return."""
    await engine.create(room, PAUSED.change(presence_s=10))
    first, silent, last = await crowd(engine, room, 3)
    await silence(engine, clock, room, [first, last])
    assert [first.id, last.id] == await order(engine, room)
    assert 2 == (await engine.reinstate(room, silent.id)).position
    clock.step(8)
    await engine.poll_many(room, [first.ticket, last.ticket])
    await engine.advance(room)
    assert 2 == await polled_rank(engine, room, silent.ticket)


async def test_too_late_to_return(engine: Engine, clock: Clock, room: str) -> None:
    """`return_s` limits what a poll restores, but not what an operator gives back."""
    await engine.create(room, PAUSED.change(presence_s=10, return_s=1))
    first, silent, last = await crowd(engine, room, 3)
    await silence(engine, clock, room, [first, last])
    assert State.GONE is (await engine.poll(room, silent.ticket)).state
    await engine.reinstate(room, silent.id)
    assert 2 == await polled_rank(engine, room, silent.ticket)


@pytest.mark.parametrize("how", ["no show", "expired", "finished", "kicked inside", "left called"])
async def test_the_front(engine: Engine, clock: Clock, room: str, how: str) -> None:
    """People whose turn had come are next, in the order of reinstatement, and are called then."""
    await engine.create(
        room, Policy(mode=Mode.MANUAL, session_s=30, enter_within_s=20, presence_s=None)
    )
    people = await crowd(engine, room, 5)
    await engine.admit(room, 2)
    for person in people[:2]:
        if how in ("expired", "finished", "kicked inside"):
            await engine.enter(room, person.ticket)
        if how == "finished":
            await engine.finish(room, person.ticket)
        elif how == "kicked inside":
            await engine.kick(room, [person.id])
        elif how == "left called":
            await engine.leave(room, person.ticket)
    for _ in range(10):
        clock.step(4)
        await engine.advance(room)
    ids = [person.id for person in people]
    assert 1 == (await engine.reinstate(room, ids[0])).position
    assert 2 == (await engine.reinstate(room, ids[1])).position
    assert ids == await order(engine, room)
    assert 2 == await engine.admit(room, 2)
    assert State.CALLED is (await engine.poll(room, people[0].ticket)).state
    assert ids[2:] == await order(engine, room)


async def test_over_but_not_swept(engine: Engine, clock: Clock, room: str) -> None:
    """A turn that ran out a moment ago is ended by the same call, and counted."""
    await engine.create(room, Policy(mode=Mode.MANUAL, enter_within_s=3))
    first, second = await crowd(engine, room, 2)
    await engine.admit(room, 1)
    clock.step(4)
    assert 1 == (await engine.reinstate(room, first.id)).position
    stats = await engine.stats(room)
    assert (2, 0, 1) == (stats.waiting, stats.called, stats.counters["no_show"])
    assert [first.id, second.id] == await order(engine, room)


async def test_called_by_hand(engine: Engine, clock: Clock, room: str) -> None:
    """Anybody called out of the middle goes back to the middle: their turn had not come."""
    await engine.create(room, Policy(mode=Mode.MANUAL, enter_within_s=3))
    people = await crowd(engine, room, 3)
    await engine.call(room, people[1].id)
    clock.step(4)
    assert 2 == (await engine.reinstate(room, people[1].id)).position
    assert [person.id for person in people] == await order(engine, room)


async def test_behind_who_deferred(engine: Engine, room: str) -> None:
    """Nobody shares a place: a person who let them go first, right behind them, stays there."""
    await engine.create(room, PAUSED.change(max_defers=1))
    first, second, third = await crowd(engine, room, 3)
    await engine.defer(room, first.ticket, 1)
    await engine.kick(room, [second.id])
    await engine.reinstate(room, second.id)
    assert [first.id, second.id, third.id] == await order(engine, room)
    places = [line.place for line in (await engine.list(room)).tickets]
    assert len(places) == len(set(places))


async def test_deferred_place(engine: Engine, room: str) -> None:
    """Their last place counts, whichever of their tickets is shown."""
    await engine.create(room, PAUSED.change(max_defers=1))
    people = await crowd(engine, room, 3)
    await engine.defer(room, people[0].ticket, 1)
    await engine.leave(room, people[0].ticket)
    assert 2 == (await engine.reinstate(room, people[0].ticket)).position


@pytest.mark.parametrize("state", [State.WAITING, State.CALLED, State.INSIDE])
async def test_already_here(engine: Engine, room: str, state: State) -> None:
    """Nobody is in two places: anybody here keeps what they have, and the refusal tells it."""
    await engine.create(room, Policy(mode=Mode.MANUAL))
    person, _ = await crowd(engine, room, 2)
    if state is not State.WAITING:
        await engine.admit(room, 1)
    if state is State.INSIDE:
        await engine.enter(room, person.ticket)
    with pytest.raises(AlreadyHere) as refused:
        await engine.reinstate(room, person.id, force=True)
    assert state == refused.value.state
    assert state is (await engine.poll(room, person.ticket)).state


@pytest.mark.attack
async def test_a_stranger(engine: Engine, room: str) -> None:
    """Unknown people get no place; with force, they go to the end."""
    await engine.create(room, PAUSED)
    await crowd(engine, room, 2)
    with pytest.raises(UnknownTicket):
        await engine.reinstate(room, STRANGER)
    assert 3 == (await engine.reinstate(room, STRANGER, force=True)).position


@pytest.mark.attack
async def test_a_stranger_who_was_kicked(engine: Engine, room: str) -> None:
    """Kicking an id that was never here gives it no turn, however far the line has come."""
    await engine.create(room, Policy(mode=Mode.MANUAL))
    people = await crowd(engine, room, 2)
    await engine.kick(room, [STRANGER])
    await engine.admit(room, 2)
    people = await crowd(engine, room, 2)
    assert 3 == (await engine.reinstate(room, STRANGER)).position
    assert [person.id for person in people] == (await order(engine, room))[:2]


@pytest.mark.attack
async def test_kicked_before_others_joined(engine: Engine, room: str) -> None:
    """Nobody gets a place that they never had, not even ahead of later ones."""
    await engine.create(room, PAUSED)
    people = await crowd(engine, room, 1)
    await engine.kick(room, [STRANGER])
    people += await crowd(engine, room, 1)
    assert 3 == (await engine.reinstate(room, STRANGER)).position
    assert [person.id for person in people] == (await order(engine, room))[:2]


@pytest.mark.attack
@pytest.mark.parametrize("then", ["kicked again", "lost", "learnt and lost"])
async def test_a_kicked_stranger_overtakes_nobody(
    engine: Engine, server: Server, clock: Clock, room: str, then: str
) -> None:
    """The room and every process remember that the kicked id was unknown, also after a loss."""
    await engine.create(room, PAUSED.change(recover_s=2))
    people = await crowd(engine, room, 2)
    async with open_engine(server.url, clock) as other:
        kicker = other if then == "learnt and lost" else engine
        await kicker.kick(room, [STRANGER], ban=True)
        people += await crowd(engine, room, 1)
        if then == "kicked again":
            await engine.kick(room, [STRANGER])
        else:
            await engine.note_kicks([room])
            await lose(engine, room)
            await engine.poll_many(room, [person.ticket for person in people])
            clock.step(3)
    people += await crowd(engine, room, 1)
    assert 5 == (await engine.reinstate(room, STRANGER, lift_ban=True)).position
    assert [person.id for person in people] == (await order(engine, room))[:4]


@pytest.mark.parametrize("proof", ["ticket", "events"])
async def test_kicked_when_nothing_knew_them(engine: Engine, room: str, proof: str) -> None:
    """Nothing in the line knew them at the kick; if they prove that they were here, it counts."""
    await engine.create(room, Policy(mode=Mode.MANUAL))
    first, second = await crowd(engine, room, 2)
    await engine.admit(room, 1)
    await engine.enter(room, first.ticket)
    await engine.finish(room, first.ticket)
    await engine.kick(room, [first.id])
    (last,) = await crowd(engine, room, 1)
    await engine.reinstate(room, first.ticket if proof == "ticket" else first.id)
    assert [second.id, first.id, last.id] == await order(engine, room)


@pytest.mark.parametrize("before", ["dropped", "left", "deferred"])
async def test_kicked_when_they_were_away(
    engine: Engine, clock: Clock, room: str, before: str
) -> None:
    """A note about them proves that they were here, without any event."""
    await engine.create(room, PAUSED.change(presence_s=10, max_defers=1))
    first, out, last = await crowd(engine, room, 3)
    if before == "left":
        await engine.leave(room, out.ticket)
    else:
        if before == "deferred":
            await engine.defer(room, out.ticket, 1)
        await silence(engine, clock, room, [first, last])
    await engine.kick(room, [out.id])
    (newcomer,) = await crowd(engine, room, 1)
    await forget_events(engine, room)
    await engine.reinstate(room, out.id)
    assert [first.id, last.id, out.id, newcomer.id] == await order(engine, room)


async def test_only_the_ticket_tells(engine: Engine, room: str) -> None:
    """If events and notes are gone, the whole ticket string proves that they were here."""
    await engine.create(room, Policy(mode=Mode.MANUAL))
    first, second = await crowd(engine, room, 2)
    await engine.admit(room, 1)
    await engine.enter(room, first.ticket)
    await engine.finish(room, first.ticket)
    await forget_events(engine, room)
    with pytest.raises(UnknownTicket):
        await engine.reinstate(room, first.id)
    assert 1 == (await engine.reinstate(room, first.ticket)).position
    assert [first.id, second.id] == await order(engine, room)
    with pytest.raises(InvalidTicket):
        await engine.reinstate(room, first.ticket[:-1])


async def test_a_ticket_of_before_a_clear(engine: Engine, room: str) -> None:
    """A cleared room knows nobody from before, by any means."""
    await engine.create(room, PAUSED)
    (person,) = await crowd(engine, room, 1)
    await engine.kick(room, [person.id])
    await engine.clear(room)
    with pytest.raises(TurnPassed):
        await engine.reinstate(room, person.ticket)
    (other,) = await crowd(engine, room, 1)
    # Only the kick is known about them, which gives no place ahead of anybody.
    assert 2 == (await engine.reinstate(room, person.id)).position
    assert 1 == await polled_rank(engine, room, other.ticket)


@pytest.mark.attack
async def test_a_clear_while_events_are_read(
    engine: Engine, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events of before a clear prove nothing, even if they were read just before it."""
    await engine.create(room, Policy(mode=Mode.MANUAL))
    (person,) = await crowd(engine, room, 1)
    await engine.admit(room, 1)
    await engine.enter(room, person.ticket)
    await engine.finish(room, person.ticket)
    read, cleared = engine.steps, False

    async def read_and_clear(room: str, ticket_id: str) -> Steps:
        nonlocal cleared
        steps = await read(room, ticket_id)
        if not cleared:
            await engine.clear(room)
            cleared = True
        return steps

    monkeypatch.setattr(engine, "steps", read_and_clear)
    with pytest.raises(UnknownTicket):
        await engine.reinstate(room, person.id)


async def test_bans(engine: Engine, room: str) -> None:
    """A ban is lifted only if requested; then they may join as before."""
    await engine.create(room, PAUSED)
    first, second = await crowd(engine, room, 2)
    await engine.kick(room, [first.id], ban=True)
    with pytest.raises(Banned):
        await engine.reinstate(room, first.id)
    assert 1 == (await engine.reinstate(room, first.id, lift_ban=True)).position
    await engine.leave(room, first.ticket)
    assert 2 == (await engine.join(room, first.ticket)).position
    assert 1 == await polled_rank(engine, room, second.ticket)


async def test_no_limit_holds_it(engine: Engine, room: str) -> None:
    """They had a place, so a full or closed room takes them back, as after a loss."""
    await engine.create(room, PAUSED.change(queue_limit=2))
    first, _ = await crowd(engine, room, 2)
    await engine.kick(room, [first.id])
    await crowd(engine, room, 1)
    await engine.configure(room, mode=Mode.CLOSED)
    assert (1, 3) == (lambda back: (back.position, back.waiting))(
        await engine.reinstate(room, first.id)
    )


async def test_before_a_draw(engine: Engine, clock: Clock, room: str) -> None:
    """Nobody has a place before the draw; after it the drawn place is given back."""
    opens = datetime.fromtimestamp(clock.now_ms / 1000 + 60, UTC)
    await engine.create(
        room, Policy(opens_at=opens, before_open=BeforeOpen.DRAW, capacity=1, presence_s=None)
    )
    people = await crowd(engine, room, 4)
    await engine.kick(room, [people[0].id])
    with pytest.raises(RoomNotOpen):
        await engine.reinstate(room, people[0].id)
    clock.step(61)
    await engine.configure(room, mode=Mode.PAUSED)
    before = await order(engine, room)
    await engine.kick(room, before[1:2])
    assert 2 == (await engine.reinstate(room, before[1])).position
    assert before == await order(engine, room)


async def test_while_the_line_is_restored(engine: Engine, room: str) -> None:
    """People who are not back yet cannot be counted."""
    await engine.create(room, PAUSED.change(recover_s=5))
    first, second = await crowd(engine, room, 2)
    await engine.kick(room, [first.id])
    await lose(engine, room)
    await engine.poll(room, second.ticket)
    with pytest.raises(Holding):
        await engine.reinstate(room, first.id)


async def test_a_line_of_a_record(engine: Engine, room: str) -> None:
    """Only a desk's database says where its parties are."""
    await engine.create(room, PAUSED)
    await engine.settle(room, [Settled(STRANGER, "waiting", 5, 1)])
    await engine.settle(room, [Settled(STRANGER, "left", 5, 2)])
    with pytest.raises(KeptElsewhere):
        await engine.reinstate(room, STRANGER, force=True)


async def test_too_old_a_place(engine: Engine, clock: Clock, room: str) -> None:
    """A place older than a ticket may be would be swept at once, so they go to the end."""
    await engine.create(room, PAUSED.change(ticket_ttl_s=60, presence_s=None))
    (first,) = await crowd(engine, room, 1)
    await engine.kick(room, [first.id])
    for _ in range(16):
        clock.step(4)
        await engine.advance(room)
    newcomers = await crowd(engine, room, 1)
    assert 2 == (await engine.reinstate(room, first.id)).position
    await engine.advance(room)
    assert [newcomers[0].id, first.id] == await order(engine, room)


async def test_repeated(engine: Engine, room: str) -> None:
    """The same op_id returns the first result, even if they have been called since."""
    await engine.create(room, Policy(mode=Mode.MANUAL))
    first, _ = await crowd(engine, room, 2)
    await engine.kick(room, [first.id])
    back = await engine.reinstate(room, first.id, op_id="it")
    await engine.admit(room, 1)
    assert back == await engine.reinstate(room, first.id, op_id="it")
    assert 1 == (await engine.stats(room)).counters["reinstated"]


async def test_no_room(engine: Engine, room: str) -> None:
    """An unknown room is refused."""
    with pytest.raises(UnknownRoom):
        await engine.reinstate(room, STRANGER)


# After a loss -----------------------------------------------------------------------------------


@pytest.mark.attack
@pytest.mark.parametrize("learnt", [False, True])
@pytest.mark.parametrize("first", ["kicker", "reinstater"])
@pytest.mark.parametrize("ban", [False, True])
async def test_a_loss_after_it(
    engine: Engine, server: Server, clock: Clock, room: str, first: str, ban: bool, learnt: bool
) -> None:
    """One process remembers the kick, one its undoing: they are back, whichever speaks first."""
    await engine.create(room, PAUSED.change(recover_s=2))
    people = await crowd(engine, room, 3)
    out = people[1]
    async with open_engine(server.url, clock) as other:
        await engine.kick(room, [out.id], ban=ban)
        await engine.note_kicks([room])
        await other.reinstate(room, out.id, lift_ban=True)
        if learnt:  # from the room, as on a lap of the ticker
            await engine.note_kicks([room])
        await engine.poll(room, out.ticket)
        await lose(engine, room)
        speakers = [engine, other] if first == "kicker" else [other, engine]
        for speaker in speakers:
            for person in (people[0], people[2]):
                await speaker.poll(room, person.ticket)
        for speaker in speakers:
            assert State.WAITING is (await speaker.poll(room, out.ticket)).state
        clock.step(3)
        for n, person in enumerate(people, 1):
            assert n == await polled_rank(engine, room, person.ticket)
        await engine.leave(room, out.ticket)
        assert 3 == (await engine.join(room, out.ticket)).position


@pytest.mark.attack
async def test_other_processes_learn(
    engine: Engine, server: Server, clock: Clock, room: str
) -> None:
    """A command line that has ended: any process that saw the room since gives the place back."""
    await engine.create(room, PAUSED.change(recover_s=2))
    first, out, last = await crowd(engine, room, 3)
    await engine.kick(room, [out.id])
    async with open_engine(server.url, clock) as other:
        await other.reinstate(room, out.id)
    await engine.note_kicks([room])
    await lose(engine, room)
    for person in (last, out, first):
        assert State.WAITING is (await engine.poll(room, person.ticket)).state
    assert [first.id, out.id, last.id] == await order(engine, room)


@pytest.mark.attack
async def test_a_front_place_survives(engine: Engine, room: str) -> None:
    """Their ticket names a place that has been called; they are still next."""
    await engine.create(room, Policy(mode=Mode.MANUAL, recover_s=2))
    out, last = await crowd(engine, room, 2)
    await engine.admit(room, 1)
    await engine.enter(room, out.ticket)
    await engine.finish(room, out.ticket)
    await engine.reinstate(room, out.id)
    await lose(engine, room)
    for person in (last, out):
        assert State.WAITING is (await engine.poll(room, person.ticket)).state
    assert [out.id, last.id] == await order(engine, room)


@pytest.mark.attack
@pytest.mark.parametrize("first", ["reinstater", "kicker"])
@pytest.mark.parametrize("how", ["kick", "leave"])
async def test_ended_again_since(
    engine: Engine, server: Server, clock: Clock, room: str, how: str, first: str
) -> None:
    """What ended after it stays ended, whichever process speaks first."""
    await engine.create(room, PAUSED.change(recover_s=2))
    out, last = await crowd(engine, room, 2)
    async with open_engine(server.url, clock) as other:
        await engine.kick(room, [out.id])
        await other.reinstate(room, out.id)
        if how == "kick":
            await engine.kick(room, [out.id])
        else:
            await engine.leave(room, out.ticket)
        await other.poll(room, last.ticket)
        await lose(engine, room)
        for speaker in [engine, other] if first == "kicker" else [other, engine]:
            await speaker.poll(room, last.ticket)
        assert State.GONE is (await other.poll(room, out.ticket)).state


@pytest.mark.attack
async def test_a_failover_lost_it(engine: Engine, clock: Clock, room: str) -> None:
    """The replica has them as kicked; the process that reinstated them does it again."""
    await engine.create(room, PAUSED.change(recover_s=2))
    first, out, last = await crowd(engine, room, 3)
    await engine.kick(room, [out.id])
    names = [keys.room_key(room, name) for name in keys.ROOM_KEYS]
    client = engine.backend.client
    replica = {name: await client.dump(name) for name in names}
    await engine.reinstate(room, out.id)
    await client.delete(*names)
    for name, value in replica.items():
        if value is not None:
            await client.restore(name, 0, value)
    clock.step(1)
    await engine.advance(room)
    assert State.WAITING is (await engine.poll(room, out.ticket)).state
    assert [first.id, out.id, last.id] == await order(engine, room)


async def test_notes_are_bounded(engine: Engine, room: str) -> None:
    """The room records the newest hundred for other processes, not all."""
    await engine.create(room, PAUSED)
    people = await crowd(engine, room, 103)
    await engine.kick(room, [person.id for person in people])
    for person in people:
        await engine.reinstate(room, person.id)
    notes = await engine.backend.client.hget(keys.room_key(room, "meta"), "reinstatements")
    assert [person.id for person in people[3:]] == notes.decode().split()[::3]
    assert [person.id for person in people] == await order(engine, room)
