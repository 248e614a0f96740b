"""settle: an external record says where tickets are, and the line follows."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable
from typing import Any

import pytest

from tests.support.clock import Clock, Nobody, crowd, open_engine
from tests.support.servers import Server
from waitroom.engine import Engine, Settled, keys
from waitroom.engine.inputs import MOST_PLACE
from waitroom.errors import BrokenRoom, InvalidInput, UnknownRoom
from waitroom.models import BeforeOpen, Mode, Policy, State, preset
from waitroom.moments import from_ms

DESK = preset("desk", ticket_ttl_s=None)
GONE = ("finished", "left", "no_show")
FIRST = 1_000_000_000


def at(ticket_id: str, state: str = "waiting", place: int = 0, revision: int = 1) -> Settled:
    """Say where a ticket is; without a place, use one derived from its first letter."""
    return Settled(ticket_id, state, place or FIRST + 8 * ord(ticket_id[0]), revision)


async def line(engine: Engine, room: str, ids: Iterable[str] = "abc", **policy: Any) -> None:
    """Make a desk's room in which some people wait."""
    await engine.create(room, DESK.change(**policy))
    await engine.settle(room, [at(ticket_id) for ticket_id in ids])


async def waiting(engine: Engine, room: str) -> dict[str, int]:
    """Return who waits, in order, and their places."""
    members = await engine.backend.client.zrange(
        keys.room_key(room, "waiting"), 0, -1, withscores=True
    )
    return {name.decode(): int(place) for name, place in members}


async def where(engine: Engine, room: str, ticket_id: str) -> str | None:
    """Return the key that holds a ticket; there must be at most one."""
    states = [
        name
        for name in ("waiting", "called", "inside")
        if await engine.backend.client.zscore(keys.room_key(room, name), ticket_id) is not None
    ]
    assert len(states) <= 1
    return states[0] if states else None


async def news(engine: Engine, room: str) -> list[tuple[str, str, str]]:
    """Return kind, ids and reason of every event."""
    events = await engine.backend.client.xrange(keys.room_key(room, "events"))
    return [
        (f[b"kind"].decode(), f[b"ids"].decode(), f.get(b"reason", b"").decode()) for _, f in events
    ]


async def rev(engine: Engine, room: str) -> int:
    """Return the number that grows with every change."""
    return (await engine.revisions([room]))[0]


# States ---------------------------------------------------------------------------------------


async def test_a_line(engine: Engine, room: str) -> None:
    """Tickets stand by their places, in whatever order they are given."""
    await engine.create(room, DESK)
    assert 3 == await engine.settle(room, [at("c"), at("a"), at("b")])
    assert ["a", "b", "c"] == list(await waiting(engine, room))
    stats = await engine.stats(room)
    assert (3, 3) == (stats.waiting, stats.counters["joined"])


@pytest.mark.parametrize("after", ["waiting", "called", *GONE])
@pytest.mark.parametrize("before", ["waiting", "called", *GONE])
async def test_from_each_state_to_each(engine: Engine, room: str, before: str, after: str) -> None:
    """A newer revision moves a ticket from any state to any other, and only there."""
    await line(engine, room)
    await engine.settle(room, [at("b", before, revision=2)])
    await engine.settle(room, [at("b", after, revision=3)])
    expected = after if after in ("waiting", "called") else None
    assert expected == await where(engine, room, "b")
    stats = await engine.stats(room)
    assert (2 + (after == "waiting"), int(after == "called")) == (stats.waiting, stats.called)
    assert stats.waiting == len(await waiting(engine, room))


async def test_undo_gives_the_old_place_back(engine: Engine, room: str) -> None:
    """Anybody put back is at their old place, not at the end."""
    await line(engine, room)
    for revision, state in enumerate(["called", "waiting", "finished", "waiting", "left"], 2):
        await engine.settle(room, [at("b", state, revision=revision)])
    await engine.settle(room, [at("b", revision=7)])
    assert ["a", "b", "c"] == list(await waiting(engine, room))


async def test_another_place(engine: Engine, room: str) -> None:
    """A waiting ticket moves to the place in a newer revision, forward or back."""
    await line(engine, room)
    await engine.settle(room, [at("a", place=FIRST + 8 * ord("c") + 1, revision=2)])
    assert ["b", "c", "a"] == list(await waiting(engine, room))
    await engine.settle(room, [at("a", place=FIRST, revision=3)])
    assert ["a", "b", "c"] == list(await waiting(engine, room))
    assert 3 == (await engine.stats(room)).waiting


@pytest.mark.parametrize("want", ["waiting", "called", *GONE])
async def test_who_is_inside(engine: Engine, room: str, want: str) -> None:
    """The record ends a session; its pass is revoked, wherever the ticket goes."""
    await engine.create(room, Policy(renewable=True))
    person = await engine.join(room, enter=True)
    assert person.sid is not None
    await engine.settle(room, [Settled(person.id, want, FIRST, 1)])
    expected = want if want in ("waiting", "called") else None
    assert expected == await where(engine, room, person.id)
    assert not await engine.check(room, person.id, person.sid)
    done = await engine.backend.client.zrange(keys.room_key(room, "done"), 0, -1)
    assert [str(person.sid).encode()] == done
    assert 0 == await engine.backend.client.exists(keys.room_key(room, "sids"))


@pytest.mark.parametrize("want", ["waiting", "called", *GONE])
@pytest.mark.parametrize("over", ["no_show", "expired"])
async def test_whose_time_is_over(
    engine: Engine, clock: Clock, room: str, over: str, want: str
) -> None:
    """A turn or session that ended unswept is what the record says, and counts only as that."""
    await engine.create(room, Policy(enter_within_s=1, session_s=1, presence_s=None))
    person = await engine.join(room, enter=over == "expired")
    clock.step(2)
    await engine.settle(room, [Settled(person.id, want, FIRST, 1)])
    expected = want if want in ("waiting", "called") else None
    assert expected == await where(engine, room, person.id)
    counters = (await engine.stats(room)).counters
    assert {name: int(name == want) for name in (*GONE, "expired")} == {
        name: counters[name] for name in (*GONE, "expired")
    }
    if want == "called":
        listed = (await engine.list(room, State.CALLED)).tickets
        assert [clock.now_ms + 1000] == [ticket.until_ms for ticket in listed]


async def test_precision(engine: Engine, room: str) -> None:
    """Places and revisions are exact to the last digit, up to the largest allowed."""
    await engine.create(room, DESK)
    most = MOST_PLACE
    await engine.settle(room, [at("b", place=most, revision=most - 1), at("a", place=most - 1)])
    assert {"a": most - 1, "b": most} == await waiting(engine, room)
    assert 0 == await engine.settle(room, [at("b", "called", most, most - 2)])
    assert "waiting" == await where(engine, room, "b")
    people = await crowd(engine, room, 2)  # more may follow
    assert [3, 4] == [person.position for person in people]
    assert 4 == len(set((await waiting(engine, room)).values()))


# Revisions ------------------------------------------------------------------------------------


async def test_older(engine: Engine, room: str) -> None:
    """A late write changes nothing, and is told apart from one that changed something."""
    await line(engine, room, "a")
    await engine.settle(room, [at("a", "called", revision=5)])
    before = await rev(engine, room)
    assert 0 == await engine.settle(room, [at("a", revision=4)])
    assert "called" == await where(engine, room, "a")
    assert before == await rev(engine, room)


async def test_older_of_who_is_gone(engine: Engine, clock: Clock, room: str) -> None:
    """Anybody gone does not come back by a late write, not even an hour later."""
    await line(engine, room, "a")
    await engine.settle(room, [at("a", "finished", revision=5)])
    clock.step(3600)
    assert 0 == await engine.settle(room, [at("a", revision=4)])
    assert None is await where(engine, room, "a")


async def test_equal(engine: Engine, room: str) -> None:
    """The same write again changes nothing, and wakes nobody who watches."""
    tickets = [at("a"), at("b", "called"), at("c", "left")]
    await line(engine, room, "")
    await engine.settle(room, tickets, turnover="1:2.0")
    before = (await rev(engine, room), await news(engine, room), await engine.stats(room))
    assert 0 == await engine.settle(room, tickets, turnover="1:2.0")
    assert before == (await rev(engine, room), await news(engine, room), await engine.stats(room))


async def test_equal_repairs(engine: Engine, room: str) -> None:
    """The same write again corrects what others did to the line."""
    await line(engine, room)
    await engine.kick(room, ["a"])
    await engine.call(room, "b", force=True)
    assert 2 == await engine.settle(room, [at(ticket_id) for ticket_id in "abc"])
    assert ["a", "b", "c"] == list(await waiting(engine, room))


async def test_newer_without_a_move(engine: Engine, room: str) -> None:
    """A newer revision that leaves a ticket in place moves nobody, but watchers look again."""
    await line(engine, room, "a")
    before = await rev(engine, room)
    assert 0 == await engine.settle(room, [at("a", revision=2)])
    assert before + 1 == await rev(engine, room)
    assert 0 == await engine.settle(room, [at("a", "left", revision=1)])


async def test_forced(engine: Engine, room: str) -> None:
    """With force an older revision counts, and later writes are compared with it."""
    await line(engine, room, "a")
    await engine.settle(room, [at("a", "called", revision=9)])
    assert 1 == await engine.settle(room, [at("a", revision=3)], forced=True)
    assert 1 == await engine.settle(room, [at("a", "called", revision=4)])


async def test_one_ticket_twice(engine: Engine, room: str) -> None:
    """Among several lines about one ticket the newest counts, and of two equal ones the last."""
    await line(engine, room, "")
    tickets = [at("a", revision=2), at("a", "called", revision=3), at("a", "left", revision=1)]
    assert 1 == await engine.settle(room, tickets)
    assert "called" == await where(engine, room, "a")
    assert 1 == await engine.settle(room, [at("a", "left", 0, 4), at("a", "waiting", 0, 4)])
    assert "waiting" == await where(engine, room, "a")
    counters = (await engine.stats(room)).counters
    assert (1, 1, 0) == (counters["joined"], counters["called_total"], counters["left"])


async def test_revisions_are_forgotten_after_a_day(engine: Engine, clock: Clock, room: str) -> None:
    """A busy line does not grow: people gone for a day are forgotten."""
    await line(engine, room, "a")
    await engine.settle(room, [at(f"x{n}", place=FIRST + n) for n in range(100)])
    await engine.settle(room, [at(f"x{n}", "finished", FIRST + n, 2) for n in range(100)])
    clock.step(86_500)
    for revision in range(2, 202):
        await engine.settle(room, [at("a", revision=revision)])
    record = keys.room_key(room, "record")
    assert {b"a": b"201"} == await engine.backend.client.hgetall(record)


async def test_any_order_ends_in_the_newest(server: Server, clock: Clock, room: str) -> None:
    """Several processes settle at once, each in its own order: the highest revision wins."""
    draw = random.Random(7)
    states = ("waiting", "called", *GONE)
    history = [
        Settled(f"t{n:02}", draw.choice(states), FIRST + 8 * draw.randrange(100) + n % 8, revision)
        for n in range(20)
        for revision in range(1, 9)
    ]
    newest = {ticket.id: ticket for ticket in history if ticket.revision == 8}

    async def one_process(seed: int) -> None:
        mine = random.Random(seed).sample(history, len(history))
        async with open_engine(server.url, clock) as engine:
            while mine:
                some, mine = mine[:7], mine[7:]
                await engine.settle(room, some)
                await asyncio.sleep(0)

    async with open_engine(server.url, clock) as engine:
        await engine.create(room, DESK)
        await asyncio.gather(*(one_process(seed) for seed in range(4)))
        for ticket in newest.values():
            expected = ticket.state if ticket.state in ("waiting", "called") else None
            assert expected == await where(engine, room, ticket.id)
        expected_places = {
            ticket.id: ticket.place for ticket in newest.values() if ticket.state == "waiting"
        }
        assert expected_places == await waiting(engine, room)
        assert len(expected_places) == (await engine.stats(room)).waiting


# With other verbs -----------------------------------------------------------------------------


async def test_newcomers_stand_behind(engine: Engine, room: str) -> None:
    """Anybody who joins by another way is behind the last settled place, even a future one."""
    await engine.create(room, DESK)
    await engine.settle(room, [at("a", place=8 * 10**15)])
    person = await engine.join(room)
    assert 2 == person.position
    assert engine.ring.read(room, person.ticket).place > 8 * 10**15


async def test_last_is_not_lowered(engine: Engine, room: str) -> None:
    """An early place raises nothing: the next person to join is still last."""
    await engine.create(room, DESK)
    first = await engine.join(room)
    await engine.settle(room, [at("a", place=5)])
    assert 2 == (await engine.poll(room, first.ticket)).position
    assert 3 == (await engine.join(room)).position


@pytest.mark.parametrize("want", ["called", *GONE])
async def test_stray_poll(engine: Engine, room: str, want: str) -> None:
    """A stray poll does not restore anybody the record took out of the line, even after a loss."""
    await engine.create(room, DESK)
    first, _ = await crowd(engine, room, 2)
    place = engine.ring.read(room, first.ticket).place
    await engine.settle(room, [Settled(first.id, want, place, 2)])
    await engine.settle(room, [Settled(first.id, "finished", place, 3)])
    assert State.GONE is (await engine.poll(room, first.ticket)).state
    await engine.settle(room, [Settled(first.id, "waiting", place, 4)])
    assert 1 == (await engine.poll(room, first.ticket)).position


@pytest.mark.parametrize("how", ["kick", "admit"])
async def test_stray_poll_after_a_place_in_front(engine: Engine, room: str, how: str) -> None:
    """Anybody the record moved forward and others took out is not back at the old place."""
    await engine.create(room, DESK)
    _, second = await crowd(engine, room, 2)
    await engine.settle(room, [Settled(second.id, "waiting", FIRST, 1)])
    if how == "kick":
        await engine.kick(room, [second.id])
    else:
        await engine.admit(room, 1)
        await engine.enter(room, second.ticket)
        await engine.finish(room, second.ticket)
    assert State.GONE is (await engine.poll(room, second.ticket)).state
    assert 2 == (await engine.join(room, second.ticket)).position


async def test_gone_before_it_was_here(engine: Engine, room: str) -> None:
    """A ticket that the line lost and the record ended does not come back by a poll."""
    await engine.create(room, DESK)
    first, second = await crowd(engine, room, 2)
    place = engine.ring.read(room, first.ticket).place
    live = [keys.room_key(room, name) for name in keys.ROOM_KEYS]
    await engine.backend.client.delete(*live)
    assert 0 == await engine.settle(room, [Settled(first.id, "finished", place, 2)])
    assert State.GONE is (await engine.poll(room, first.ticket)).state
    assert 1 == (await engine.poll(room, second.ticket)).position


async def test_who_left_stands_again(engine: Engine, room: str) -> None:
    """Anybody who left by another verb is in line again if the record says so, counted once."""
    await engine.create(room, DESK)
    person = await engine.join(room)
    await engine.leave(room, person.ticket)
    await engine.settle(room, [Settled(person.id, "waiting", FIRST, 1)])
    assert 0 == await engine.backend.client.exists(keys.room_key(room, "gone"))
    assert 1 == (await engine.stats(room)).waiting


async def test_deferred_elsewhere(engine: Engine, room: str) -> None:
    """If `defer` gave a place and the record changed it, the record wins; defers stay counted."""
    await engine.create(room, DESK)
    first, *_ = await crowd(engine, room, 3)
    await engine.defer(room, first.ticket, 1)
    await engine.settle(room, [Settled(first.id, "waiting", FIRST, 1)])
    moved = await engine.backend.client.hget(keys.room_key(room, "moved"), first.id)
    assert f"1:{FIRST}".encode() == moved
    await engine.settle(room, [Settled(first.id, "left", FIRST, 2)])
    assert 0 == await engine.backend.client.exists(keys.room_key(room, "moved"))


async def test_admit_after_a_loss(engine: Engine, room: str) -> None:
    """In a rebuilt room, anybody the record put behind the watermark is called, not dropped."""
    await line(engine, room, "b", recover_s=0)
    await engine.admit(room, 1)
    live = [keys.room_key(room, name) for name in keys.ROOM_KEYS]
    await engine.backend.client.delete(*live)
    await engine.settle(room, [at("a"), at("b", revision=2)])
    assert 2 == await engine.admit(room, 2)
    assert 0 == (await engine.stats(room)).counters["abandoned"]


async def test_a_draw(engine: Engine, clock: Clock, room: str) -> None:
    """Before a draw the record's places are among the drawn ones; newcomers come after all."""
    opens = clock.now_ms + 60_000
    await engine.create(
        room, Policy(opens_at=from_ms(opens), before_open=BeforeOpen.DRAW, mode=Mode.MANUAL)
    )
    await crowd(engine, room, 3)
    place = opens * 1000 + 80
    await engine.settle(room, [at("a", place=place)])
    clock.step(61)
    late = await engine.join(room)
    assert 5 == late.position
    assert list(await waiting(engine, room))[3:] == ["a", late.id]


async def test_a_freed_place_is_given_away(engine: Engine, room: str) -> None:
    """In a room that calls automatically, the next advance reassigns what settle freed."""
    await engine.create(room, Policy(capacity=1))
    first, second = await crowd(engine, room, 2)
    changed: list[str] = []
    engine.on_change(changed.append)
    await engine.settle(room, [Settled(first.id, "finished", FIRST, 1)])
    assert [room] == changed
    await engine.advance(room)
    assert State.CALLED is (await engine.poll(room, second.ticket)).state


async def test_no_limit_holds_it(engine: Engine, clock: Clock, room: str) -> None:
    """Capacity, pace, mode and holds are for decisions made here; the record has decided."""
    await engine.create(room, Policy(capacity=1, batch=1, every_s=60, queue_limit=1))
    await engine.join(room)
    clock.step(600)
    await engine.configure(room, mode=Mode.CLOSED)
    await engine.settle(room, [at("a"), at("b"), at("c", "called"), at("d", "called")])
    stats = await engine.stats(room)
    assert (2, 3) == (stats.waiting, stats.called)  # the first person was called before


async def test_idle(engine: Engine, clock: Clock, room: str) -> None:
    """Six hours after the last party left, nothing of the line is left but its turnover."""
    await line(engine, room, "a")
    await engine.settle(room, [at("a", "finished", revision=2)], turnover="12:4.5")
    clock.step(21_601)
    await engine.advance(room)
    names = [n for n in keys.ROOM_KEYS if n not in ("config", "meta")]
    assert 0 == await engine.backend.client.exists(*(keys.room_key(room, n) for n in names))
    assert "12:4.5" == (await engine.spot(room, "a")).turnover


async def test_clear(engine: Engine, room: str) -> None:
    """A cleared room has forgotten all revisions: the record may fill it again."""
    await line(engine, room)
    await engine.clear(room)
    assert 3 == await engine.settle(room, [at(ticket_id, revision=0) for ticket_id in "abc"])


async def test_created_again(engine: Engine, room: str) -> None:
    """A room that was dropped and recreated knows nothing of the old one's tickets."""
    await line(engine, room)
    await engine.drop(room)
    await engine.create(room, DESK)
    assert 1 == await engine.settle(room, [at("a", revision=0)])


# What others see ------------------------------------------------------------------------------


async def test_events(engine: Engine, room: str) -> None:
    """One call is one event per kind and reason: placed, called, ended."""
    await engine.create(room, DESK)
    await engine.settle(room, [at(ticket_id) for ticket_id in "abcdef"])
    tickets = [at("a", "called", 0, 2), at("b", "called", 0, 2), at("c", "left", 0, 2)]
    tickets += [at("d", "left", 0, 2), at("e", "no_show", 0, 2), at("f", place=FIRST, revision=2)]
    await engine.settle(room, tickets)
    assert [("placed", "a b c d e f", ""), ("placed", "f", ""), ("called", "a b", "")] == (
        await news(engine, room)
    )[:3]
    assert {("ended", "c d", "left"), ("ended", "e", "no_show")} == set(
        (await news(engine, room))[3:]
    )


async def test_counters(engine: Engine, room: str) -> None:
    """Counters tell who came, came back, was called, and how they left."""
    await line(engine, room)
    await engine.settle(room, [at("a", "called", 0, 2), at("b", "called", 0, 2)])
    await engine.settle(room, [at("a", revision=3), at("b", "finished", 0, 3)])
    await engine.settle(room, [at("a", "finished", 0, 4), at("b", revision=4)])
    await engine.settle(room, [at("b", "no_show", 0, 5), at("c", "left", 0, 5)])
    counters = (await engine.stats(room)).counters
    expected = {"joined": 3, "restored": 2, "called_total": 3}
    expected |= {"finished": 2, "left": 1, "no_show": 1}
    assert expected == {name: n for name, n in counters.items() if n}


async def test_pace(engine: Engine, room: str) -> None:
    """The turnover is stored in `meta` as given, and stays if a call does not give it."""
    await line(engine, room, "a")
    await engine.settle(room, turnover="3:4.25")
    await engine.settle(room, [at("a", revision=2)])
    assert "3:4.25" == (await engine.spot(room, "a")).turnover
    assert b"3:4.25" == await engine.backend.client.hget(keys.room_key(room, "meta"), "turnover")
    before = await rev(engine, room)
    await engine.settle(room, [at("a", revision=2)], turnover="4:4.5")
    assert ("4:4.5", before + 1) == (
        (await engine.spot(room, "a")).turnover,
        await rev(engine, room),
    )


async def test_nobody(engine: Engine, room: str) -> None:
    """Without tickets nothing moves, but watchers look again."""
    await line(engine, room)
    before = await rev(engine, room)
    assert 0 == await engine.settle(room)
    assert before + 1 == await rev(engine, room)


async def test_a_long_line(engine: Engine, room: str) -> None:
    """More tickets than one script may move go in several calls, at most 500 in each."""
    await engine.create(room, DESK)
    calls: list[int] = []
    engine.on_script(lambda verb, _, items: calls.append(items) if verb == "settle" else None)
    ids = [f"t{n:04}" for n in range(1201)]
    assert 1201 == await engine.settle(room, [at(i, place=FIRST + n) for n, i in enumerate(ids)])
    assert [500, 500, 201] == calls
    assert ids == list(await waiting(engine, room))


async def test_after_a_loss(engine: Engine, room: str) -> None:
    """A lost line is back once the record has told it again."""
    await line(engine, room)
    await engine.backend.client.delete(*(keys.room_key(room, name) for name in keys.ROOM_KEYS))
    assert 3 == await engine.settle(room, [at("a"), at("b"), at("c", "called")], turnover="2:1.0")
    assert ["a", "b"] == list(await waiting(engine, room))
    counters = (await engine.stats(room)).counters
    assert (3, 1) == (counters["joined"], counters["called_total"])


# Wrong inputs ---------------------------------------------------------------------------------

WRONG: list[tuple[Any, ...]] = [
    ("", "waiting", 1, 1),
    ("a b", "waiting", 1, 1),
    ("대기", "waiting", 1, 1),
    ("x" * 65, "waiting", 1, 1),
    (None, "waiting", 1, 1),
    (b"a", "waiting", 1, 1),
    ("a", "inside", 1, 1),
    ("a", "WAITING", 1, 1),
    ("a", None, 1, 1),
    ("a", "waiting", 0, 1),
    ("a", "waiting", -1, 1),
    ("a", "waiting", MOST_PLACE + 1, 1),
    ("a", "waiting", 1.5, 1),
    ("a", "waiting", "1", 1),
    ("a", "waiting", True, 1),
    ("a", "waiting", 1, -1),
    ("a", "waiting", 1, MOST_PLACE),
    ("a", "waiting", 1, 1.0),
    ("a", "waiting", 1, None),
    ("a", "waiting", 1, True),
]


@pytest.mark.parametrize("values", WRONG, ids=repr)
async def test_wrong_tickets(engine: Engine, room: str, values: tuple[Any, ...]) -> None:
    """Input that a record cannot have is refused before the server is asked, with all the rest."""
    engine._runner.client = Nobody()
    with pytest.raises(InvalidInput):
        await engine.settle(room, [at("b"), Settled(*values)])


@pytest.mark.parametrize("turnover", ["x" * 65, "대기", None, 7], ids=repr)
async def test_wrong_turnover(engine: Engine, room: str, turnover: Any) -> None:
    """A turnover is a short text."""
    engine._runner.client = Nobody()
    with pytest.raises(InvalidInput):
        await engine.settle(room, turnover=turnover)


async def test_a_ticket_named_pace(engine: Engine, room: str) -> None:
    """No ticket id is mistaken for anything else."""
    await line(engine, room, "")
    await engine.settle(room, [at("turnover"), at("rev"), at("schema")], turnover="1:1.0")
    assert {"turnover", "rev", "schema"} == set(await waiting(engine, room))
    assert "1:1.0" == (await engine.spot(room, "turnover")).turnover


async def test_unknown_room(engine: Engine, room: str) -> None:
    """A room that does not exist has no line."""
    with pytest.raises(UnknownRoom):
        await engine.settle(room, [at("a")])


async def test_wrong_type(engine: Engine, room: str) -> None:
    """A spoilt key is named, and nothing is written."""
    await line(engine, room)
    await engine.backend.client.set(keys.room_key(room, "record"), "somebody else's")
    with pytest.raises(BrokenRoom, match="record"):
        await engine.settle(room, [at("a", "called", 0, 2)])
    assert ["a", "b", "c"] == list(await waiting(engine, room))
