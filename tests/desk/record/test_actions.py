"""What hosts and guests do to parties, and what is read about them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.desk.guests import DINE_IN, HOST, STORE, TAKEOUT, arrive, do, evening, order
from tests.support.clock import Clock
from waitroom.desk.models import Action, Party, Status, Store
from waitroom.desk.record.record import Record
from waitroom.errors import (
    DefersUsedUp,
    InvalidInput,
    PartyMoved,
    UnknownParty,
    UnknownStore,
    WrongStatus,
)

pytestmark = pytest.mark.usefixtures("store")
LIVE = {Status.WAITING, Status.CALLED}
ALLOWED = {
    Action.CALL: {Status.WAITING},
    Action.SEAT: LIVE,
    Action.NO_SHOW: LIVE,
    Action.CANCEL: LIVE,
    Action.DEFER: LIVE,
    Action.RESTORE: {Status.CANCELLED, Status.NO_SHOW},
    Action.UNDO: set(Status) - {Status.WAITING},
}
WAYS: dict[Status, Action | None] = {
    Status.WAITING: None,
    Status.CALLED: Action.CALL,
    Status.SEATED: Action.SEAT,
    Status.CANCELLED: Action.CANCEL,
    Status.NO_SHOW: Action.NO_SHOW,
}


async def call(record: Record, **more: Any) -> Party | None:
    """Call the next party."""
    return await record.call_next(STORE, DINE_IN, by=HOST, **more)


async def test_next_is_the_first(record: Record, clock: Clock) -> None:
    """Parties are called in their order, and then nobody is left."""
    parties = await evening(record, clock, 3)
    clock.step(60)
    first = await call(record)
    assert first is not None
    assert (Status.CALLED, clock.now_ms, 2) == (first.status, first.called_ms, first.revision)
    assert parties[1:] == [
        party for party in await record.live(STORE, DINE_IN) if not party.called_ms
    ]
    assert [2, 3] == [party.number for party in (await call(record), await call(record)) if party]
    assert None is await call(record)
    assert None is await record.call_next(STORE, TAKEOUT, by=HOST)


async def test_next_is_the_first_that_fits(record: Record) -> None:
    """A table for two goes to the first party of two; the others keep their places."""
    for size in (4, 6, 2, 1):
        await arrive(record, size=size)
    assert [3, 4] == [
        party.number for party in (await call(record, fits=2), await call(record, fits=2)) if party
    ]
    assert None is await call(record, fits=3)
    with pytest.raises(InvalidInput):
        await call(record, fits=0)
    assert [1] == [party.number for party in [await call(record)] if party]


async def test_next_is_whom_the_host_saw(record: Record, clock: Clock) -> None:
    """If another party is next by now, nobody is called."""
    first, second = await evening(record, clock, 2)
    with pytest.raises(PartyMoved):
        await call(record, expected=second.id)
    assert first == await record.party(STORE, first.id)
    called = await call(record, expected=first.id)
    assert called is not None
    assert first.id == called.id
    with pytest.raises(PartyMoved):
        await call(record, expected=first.id)


async def test_a_repeated_call_calls_once(record: Record, clock: Clock) -> None:
    """The same id returns the same party, however often it is sent, and writes nothing."""
    await evening(record, clock, 2)
    first = await call(record, op_id="tap-1")
    assert first is not None
    assert [first, first] == [await call(record, op_id="tap-1") for _ in range(2)]
    second = await call(record, op_id="tap-2")
    assert second is not None
    assert second.id != first.id
    seated = await do(record, first, Action.SEAT, op_id="tap-3")
    assert seated == await do(record, first, Action.SEAT, op_id="tap-3", revision=first.revision)
    assert ["join", "call", "seat"] == [
        change.action for change in await record.history(STORE, first.id)
    ]
    for wrong in (
        do(record, second, Action.SEAT, op_id="tap-3"),
        do(record, first, Action.UNDO, op_id="tap-3"),
        record.call_next(STORE, TAKEOUT, by=HOST, op_id="tap-2"),
        record.call_next(STORE, DINE_IN, by="another host", op_id="tap-2"),
    ):
        with pytest.raises(InvalidInput, match="op_id"):
            await wrong


async def test_every_action_has_its_statuses(record: Record) -> None:
    """Allowed actions are done; any other is refused, tells where the party is, changes nothing."""
    for status, way in WAYS.items():
        for action, allowed in ALLOWED.items():
            party = await arrive(record)
            party = await do(record, party, way) if way else party
            assert status == party.status
            if status in allowed:
                assert (
                    party.revision < (await do(record, party, action)).revision or action == "defer"
                )
                continue
            with pytest.raises(WrongStatus, match=status) as caught:
                await do(record, party, action)
            assert status == caught.value.status
            assert party == await record.party(STORE, party.id)


async def test_undo_gives_everything_back(record: Record, clock: Clock) -> None:
    """Place, status and times are as before, whatever is undone."""
    parties = await evening(record, clock, 5)
    for action in (Action.SEAT, Action.NO_SHOW, Action.CANCEL):
        for called in (False, True):
            party = await record.party(STORE, parties[2].id)
            clock.step(60)
            before = await do(record, party, Action.CALL) if called else party
            clock.step(60)
            await do(record, party, action)
            after = await do(record, party, Action.UNDO)
            assert _facts(before) == _facts(after)
            assert before.revision + 2 == after.revision
            if called:
                back = await do(record, party, Action.UNDO)
                assert _facts(party) == _facts(back)
            assert [1, 2, 3, 4, 5] == await order(record)
    with pytest.raises(WrongStatus, match="undo is not possible"):
        await do(record, parties[2], Action.UNDO)


def _facts(party: Party) -> tuple[Any, ...]:
    times = (party.called_ms, party.seated_ms, party.ended_ms)
    return (party.status, party.sort_key, party.defers, *times)


async def test_restore_gives_the_old_place_back(record: Record, clock: Clock) -> None:
    """A cancelled or no-show party waits at its old place again, even much later."""
    parties = await evening(record, clock, 3)
    await do(record, parties[0], Action.NO_SHOW)
    await do(record, parties[1], Action.CANCEL)
    clock.step(3600)
    await arrive(record)
    for party in parties[:2]:
        back = await do(record, party, Action.RESTORE)
        assert _facts(party) == _facts(back)
    assert [1, 2, 3, 4] == await order(record)
    # A mistaken restore can be undone too.
    assert Status.CANCELLED == (await do(record, parties[1], Action.UNDO)).status


async def test_defer_goes_behind_so_many(record: Record, clock: Clock) -> None:
    """By n places, or to the end; called and gone parties do not count as places."""
    parties = await evening(record, clock, 6)
    await do(record, parties[2], Action.CALL)
    await do(record, parties[3], Action.CANCEL)
    moved = await do(record, parties[0], Action.DEFER, places=2)
    assert [2, 3, 5, 1, 6] == await order(record)
    assert (parties[4].sort_key + 1, 1) == (moved.sort_key, moved.defers)
    await do(record, parties[1], Action.DEFER, places=10)
    assert [3, 5, 1, 6, 2] == await order(record)
    assert 7 == (await arrive(record)).number
    assert [3, 5, 1, 6, 2, 7] == await order(record)


async def test_places_between_two_run_out(record: Record, clock: Clock) -> None:
    """Seven fit behind a party; the eighth goes behind the next one, in that order."""
    await record.change_store(STORE, max_defers=20)
    ahead = await evening(record, clock, 9)
    clock.step(60)
    anchor = await arrive(record)
    after = await arrive(record)
    assert anchor.sort_key + 8 == after.sort_key
    for party in reversed(ahead):  # each has only the anchor and those behind it after it
        live = await record.live(STORE, DINE_IN)
        behind = [waiting.id for waiting in live].index(anchor.id) - [
            waiting.id for waiting in live
        ].index(party.id)
        await do(record, party, Action.DEFER, places=behind)
    live = await record.live(STORE, DINE_IN)
    gaps = [party.sort_key - anchor.sort_key for party in live]
    assert [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] == gaps
    assert after.id == live[8].id
    newest = await arrive(record)
    assert newest.id == (await record.live(STORE, DINE_IN))[-1].id


async def test_the_last_has_nobody_to_let_go_first(record: Record, clock: Clock) -> None:
    """It stays where it is, without using up a defer; if called, it waits again."""
    (party,) = await evening(record, clock, 1)
    assert party == await do(record, party, Action.DEFER)
    await do(record, party, Action.CALL)
    back = await do(record, party, Action.DEFER)
    assert (Status.WAITING, party.sort_key, 1, None) == (
        back.status,
        back.sort_key,
        back.defers,
        back.called_ms,
    )


async def test_defers_are_limited(record: Record, clock: Clock) -> None:
    """As often as the store allows, from the line or when called; no undo goes past it."""
    first, *_ = await evening(record, clock, 8)
    await do(record, first, Action.CALL)
    moved = await do(record, first, Action.DEFER)
    assert Status.WAITING == moved.status
    with pytest.raises(WrongStatus):
        await do(record, first, Action.UNDO)
    await do(record, first, Action.DEFER)
    with pytest.raises(DefersUsedUp):
        await do(record, first, Action.DEFER)
    for places in (0, 11, -1, "1", True):
        with pytest.raises(InvalidInput, match="places"):
            await do(record, moved, Action.DEFER, places=places)


async def test_a_party_that_was_changed_meanwhile(record: Record, clock: Clock) -> None:
    """Anybody who acts on an outdated read is told so."""
    (party,) = await evening(record, clock, 1)
    called = await do(record, party, Action.CALL, revision=party.revision)
    with pytest.raises(PartyMoved, match="CALLED"):
        await do(record, party, Action.CANCEL, revision=party.revision)
    assert called == await record.party(STORE, party.id)


async def test_every_change_is_in_the_history(record: Record, clock: Clock) -> None:
    """Who did what and when, from what to what."""
    (party,) = await evening(record, clock, 1)
    await arrive(record)
    await record.act(STORE, party.id, Action.DEFER, places=1, by="guest")
    for action in (Action.CALL, Action.NO_SHOW, Action.UNDO, Action.SEAT):
        clock.step(1)
        await do(record, party, action)
    history = await record.history(STORE, party.id)
    assert [
        (None, "WAITING", "join", "guest"),
        ("WAITING", "WAITING", "defer", "guest"),
        ("WAITING", "CALLED", "call", HOST),
        ("CALLED", "NO_SHOW", "no_show", HOST),
        ("NO_SHOW", "CALLED", "undo", HOST),
        ("CALLED", "SEATED", "seat", HOST),
    ] == [(change.before, change.after, change.action, change.by) for change in history]
    assert {"places": 1} == history[1].detail
    assert [clock.now_ms - 1000 * n for n in (3, 2, 1, 0)] == [
        change.at_ms for change in history[2:]
    ]


async def test_a_party_of_another_store(record: Record, store: Store) -> None:
    """A host of one store cannot touch, or learn about, another store's party."""
    other = Store(id="other", title="Other", types=store.types)
    await record.add_store(other)
    party = await arrive(record)
    wrong: list[Any] = [party.id + 1, 0, -1, 2**63, 2**200, "1", None, True]
    for store_id, party_id in [("other", party.id), *[(STORE, wrong_id) for wrong_id in wrong]]:
        for asked in (
            record.party(store_id, party_id),
            record.act(store_id, party_id, Action.SEAT, by=HOST),
            record.history(store_id, party_id),
            record.erase(store_id, party_id, by=HOST),
            record.show_phone(store_id, party_id, by=HOST),
        ):
            with pytest.raises(UnknownParty):
                await asked
    with pytest.raises(UnknownStore):
        await record.party("nowhere", party.id)
    unknown: Any = "dance"
    with pytest.raises(InvalidInput, match="action"):
        await do(record, party, unknown)
