"""Parties join: numbers, places, days, and who is refused."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from tests.desk.guests import DINE_IN, HOST, STORE, TAKEOUT, arrive, do, evening, new_ticket, order
from tests.support.clock import Clock
from waitroom.desk.inputs import Wish
from waitroom.desk.models import Action, Change, Party, Source, Status, Store
from waitroom.desk.record.record import Record
from waitroom.errors import (
    InvalidInput,
    LineFull,
    PastClosing,
    StoreClosed,
    StorePaused,
    UnknownType,
    WaitroomError,
)


def at(clock: Clock, text: str) -> None:
    """Set the clock to a time in Seoul."""
    clock.now_us = round(datetime.fromisoformat(f"{text}+09:00").timestamp()) * 1_000_000


async def test_a_party_is_kept(record: Record, store: Store, clock: Clock) -> None:
    """All input is read back."""
    wish = Wish(size=3, name="김민지", phone="010-1234-5678", note="유모차", source=Source.REMOTE)
    party = await record.register(STORE, DINE_IN, wish, "a-ticket")
    expected = Party(
        id=party.id,
        store=store.id,
        line_name=DINE_IN,
        ticket="a-ticket",
        day=date(2026, 5, 8),
        number=1,
        size=3,
        name="김민지",
        phone="+821012345678",
        note="유모차",
        source=Source.REMOTE,
        status=Status.WAITING,
        sort_key=clock.now_us,
        teams_ahead=0,
        defers=0,
        revision=1,
        registered_ms=clock.now_ms,
    )
    assert expected == party
    assert expected == await record.party(STORE, party.id)
    assert expected == await record.by_ticket(STORE, DINE_IN, "a-ticket")
    joined = Change(
        party=party.id,
        at_ms=clock.now_ms,
        before=None,
        after=Status.WAITING,
        action="join",
        by="guest",
    )
    assert (joined,) == await record.history(STORE, party.id)


@pytest.mark.usefixtures("store")
async def test_each_line_counts_for_itself(record: Record, clock: Clock) -> None:
    """Numbers and the teams ahead belong to one line; called parties no longer wait."""
    parties = [*await evening(record, clock, 3), await arrive(record, TAKEOUT)]
    assert [1, 2, 3, 1] == [party.number for party in parties]
    assert [0, 1, 2, 0] == [party.teams_ahead for party in parties]
    await record.call_next(STORE, DINE_IN, by=HOST)
    assert 2 == (await arrive(record)).teams_ahead


@pytest.mark.usefixtures("store")
async def test_places_only_grow(record: Record, clock: Clock) -> None:
    """Many in one µs, and a clock that is set back: later parties are further back."""
    keys = [(await arrive(record)).sort_key for _ in range(5)]
    assert [clock.now_us + 8 * n for n in range(5)] == keys
    clock.step(-3600)
    last = await arrive(record)
    assert keys[-1] + 8 == last.sort_key
    assert [1, 2, 3, 4, 5, 6] == await order(record)


@pytest.mark.parametrize("eve", ["2026-05-08", "2026-12-31", "2028-02-29"])
@pytest.mark.usefixtures("store")
async def test_numbers_begin_again_at_midnight(record: Record, clock: Clock, eve: str) -> None:
    """A new day of the store, also a new year, starts at 1; the order continues."""
    at(clock, f"{eve}T23:59:58")
    old = [await arrive(record) for _ in range(2)]
    clock.step(2)
    new = [await arrive(record) for _ in range(2)]
    assert [1, 2, 1, 2] == [party.number for party in (*old, *new)]
    assert [0, 1, 2, 3] == [party.teams_ahead for party in (*old, *new)]
    assert [party.id for party in (*old, *new)] == [
        party.id for party in await record.live(STORE, DINE_IN)
    ]
    assert 1 == (new[0].day - old[0].day).days
    called = [await record.call_next(STORE, DINE_IN, by=HOST) for _ in range(4)]
    assert [party.id for party in (*old, *new)] == [party.id for party in called if party]


async def test_the_zone_of_the_store_decides(record: Record, store: Store, clock: Clock) -> None:
    """Midnight in UTC is nine in the morning in Seoul: nothing restarts there."""
    clock.now_us = round(datetime(2026, 5, 8, 23, 59, 59, tzinfo=UTC).timestamp()) * 1_000_000
    await arrive(record)
    clock.step(2)
    assert 2 == (await arrive(record)).number
    await record.change_store(store.id, time_zone="UTC")


@pytest.mark.usefixtures("store")
async def test_a_day_that_comes_again_goes_on(record: Record, clock: Clock) -> None:
    """A clock set back over midnight, or another time zone, gives no number twice."""
    at(clock, "2026-05-08T23:00:00")
    assert 1 == (await arrive(record)).number
    clock.step(7200)
    assert 1 == (await arrive(record)).number
    clock.step(-7200)
    assert 2 == (await arrive(record)).number
    await record.change_store(STORE, time_zone="America/Los_Angeles")
    assert 3 == (await arrive(record)).number
    await record.change_store(STORE, time_zone="Asia/Seoul")
    clock.step(7200)
    assert 2 == (await arrive(record)).number


async def test_a_store_that_takes_nobody(record: Record, store: Store) -> None:
    """Guests are told why, and nothing is written; a host may still add a walk-in."""
    refused: list[tuple[dict[str, Any], type[WaitroomError]]] = [
        ({"mode": "paused", "reason": "재료 소진"}, StorePaused),
        ({"mode": "closed", "reason": "휴무"}, StoreClosed),
        ({"remote": False}, StoreClosed),
        ({"closes_at": "18:10"}, PastClosing),
        ({"closes_at": "17:00"}, PastClosing),
    ]
    as_it_was = {name: getattr(store, name) for name in ("mode", "reason", "remote", "closes_at")}
    for changes, error in refused:
        await record.change_store(STORE, **as_it_was | changes)
        with pytest.raises(error, match=changes.get("reason")):
            await arrive(record, source=Source.REMOTE)
        assert () == await record.parties(STORE, day=date(2026, 5, 8))
    walk_in = await arrive(record, source=Source.REMOTE, by=HOST, force=True)
    assert 1 == walk_in.number
    assert {"forced": True} == (await record.history(store.id, walk_in.id))[0].detail


@pytest.mark.usefixtures("store")
async def test_guests_on_the_spot_may_join_where_others_may_not(record: Record) -> None:
    """A store without remote guests still accepts those at its door."""
    await record.change_store(STORE, remote=False)
    assert Source.ON_SITE == (await arrive(record)).source


async def test_a_full_line(record: Record, store: Store, clock: Clock) -> None:
    """Only waiting parties count, and a freed place can be taken."""
    dine_in, takeout = store.types
    limited = (type(dine_in)(name=DINE_IN, title="식사", queue_limit=2), takeout)
    await record.change_store(STORE, types=limited)
    await evening(record, clock, 2)
    with pytest.raises(LineFull):
        await arrive(record)
    await arrive(record, TAKEOUT)
    await record.call_next(STORE, DINE_IN, by=HOST)
    assert 3 == (await arrive(record)).number
    with pytest.raises(LineFull):
        await arrive(record)


@pytest.mark.usefixtures("store")
async def test_the_wait_must_end_before_closing(record: Record, clock: Clock) -> None:
    """With 15 minutes per team, the fourth would be seated at seven; the fifth is too late."""
    await record.change_store(STORE, closes_at="19:00")
    for _ in range(4):
        await arrive(record)
    with pytest.raises(PastClosing, match="75 min passes the closing time, 19:00") as caught:
        await arrive(record)
    assert ("19:00", 75) == (caught.value.closes_at, caught.value.wait_minutes)
    at(clock, "2026-05-09T11:00:00")  # the next day they have time again
    assert 1 == (await arrive(record)).number


@pytest.mark.usefixtures("store")
async def test_a_wrong_wish_writes_nothing(record: Record) -> None:
    """The error names the field, and the day's number is not used up, not even with force."""
    wrong: list[tuple[str, Any]] = [
        *[("size", bad) for bad in (0, 9, 500, "2")],
        ("phone", "911"),
        ("name", "a" * 41),
        ("note", "a\x00"),
        ("source", "moon"),
        ("op_id", "a b"),
        ("by", ""),
    ]
    for field, bad in wrong:
        for force in (False, True):
            with pytest.raises(InvalidInput) as caught:
                await arrive(record, **{"size": 2, "force": force, field: bad})
            assert field == caught.value.field
    assert 1 == (await arrive(record)).number


@pytest.mark.usefixtures("store")
async def test_a_wrong_ticket_is_refused(record: Record) -> None:
    """It becomes a member of the live line, so it is validated."""
    wrong: list[Any] = ["", "a" * 65, "a b", "\x00", "가", None, 7]
    for ticket in wrong:
        with pytest.raises(InvalidInput):
            await record.register(STORE, DINE_IN, Wish(size=2), ticket)


@pytest.mark.usefixtures("store")
async def test_no_such_line(record: Record) -> None:
    """The store does not have this line."""
    wrong: list[Any] = ["bar", "", "DINE-IN", "\x00", "a" * 99, None]
    for line_name in wrong:
        with pytest.raises(UnknownType):
            await record.register(STORE, line_name, Wish(size=2), new_ticket())


@pytest.mark.usefixtures("store")
async def test_a_repeated_join_is_one_party(record: Record) -> None:
    """The same id returns the same party, with its first ticket, and writes nothing."""
    first = await arrive(record, name="김민지", phone="010-1234-5678", op_id="once")
    again = await arrive(record, name="김민지", phone="+82 10 1234 5678", op_id="once")
    assert first == again
    assert 1 == len(await record.history(STORE, first.id))
    await do(record, first, Action.CANCEL)
    seen = await arrive(record, name="김민지", phone="010-1234-5678", op_id="once")
    assert (first.id, Status.CANCELLED) == (seen.id, seen.status)


@pytest.mark.usefixtures("store")
async def test_another_guest_with_the_same_id(record: Record) -> None:
    """A party is not given to somebody who happens to use the same id."""
    call: dict[str, Any] = {"phone": "010-1234-5678", "op_id": "1"}
    await arrive(record, **call)
    others: list[dict[str, Any]] = [
        {"phone": "010-9999-9999"},
        {"size": 4},
        {"line_name": TAKEOUT},
        {"by": HOST},
    ]
    for other in others:
        with pytest.raises(InvalidInput, match="op_id"):
            await arrive(record, **call | other)


@pytest.mark.usefixtures("store")
async def test_a_forged_ticket_finds_nobody(record: Record) -> None:
    """A ticket belongs to one store and one line."""
    party = await arrive(record)
    for store, line_name, ticket in (
        (STORE, TAKEOUT, party.ticket),
        ("other", DINE_IN, party.ticket),
        (STORE, DINE_IN, "x" * 16),
        (STORE, DINE_IN, "\x00"),
    ):
        with pytest.raises(WaitroomError, match="no such party"):
            await record.by_ticket(store, line_name, ticket)
