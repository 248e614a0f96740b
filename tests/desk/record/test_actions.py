"""What hosts and guests do to parties, and what is read of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.desk.guests import DINE_IN, HOST, STORE, TAKEOUT, arrive, do, evening, order
from tests.support.clock import Clock
from waitroom.desk.models import Action, Party, Status, Store
from waitroom.desk.record.record import Book
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


async def call(book: Book, **more: Any) -> Party | None:
    """Call the next one."""
    return await book.call_next(STORE, DINE_IN, by=HOST, **more)


async def test_next_is_the_first(book: Book, clock: Clock) -> None:
    """Parties are called in their order, and then nobody is left."""
    parties = await evening(book, clock, 3)
    clock.step(60)
    first = await call(book)
    assert first is not None
    assert (Status.CALLED, clock.now_ms, 2) == (first.status, first.called_ms, first.revision)
    assert parties[1:] == [one for one in await book.live(STORE, DINE_IN) if not one.called_ms]
    assert [2, 3] == [one.number for one in (await call(book), await call(book)) if one]
    assert None is await call(book)
    assert None is await book.call_next(STORE, TAKEOUT, by=HOST)


async def test_next_is_the_first_that_fits(book: Book) -> None:
    """A table for two is given to the first two; the others keep their places."""
    for size in (4, 6, 2, 1):
        await arrive(book, size=size)
    assert [3, 4] == [
        one.number for one in (await call(book, fits=2), await call(book, fits=2)) if one
    ]
    assert None is await call(book, fits=3)
    with pytest.raises(InvalidInput):
        await call(book, fits=0)
    assert [1] == [one.number for one in [await call(book)] if one]


async def test_next_is_whom_the_host_saw(book: Book, clock: Clock) -> None:
    """If another one is next by now, nobody is called."""
    one, two = await evening(book, clock, 2)
    with pytest.raises(PartyMoved):
        await call(book, expected=two.id)
    assert one == await book.party(STORE, one.id)
    called = await call(book, expected=one.id)
    assert called is not None
    assert one.id == called.id
    with pytest.raises(PartyMoved):
        await call(book, expected=one.id)


async def test_a_repeated_call_calls_once(book: Book, clock: Clock) -> None:
    """The same id answers the same party, however often it comes, and writes nothing."""
    await evening(book, clock, 2)
    first = await call(book, op_id="tap-1")
    assert first is not None
    assert [first, first] == [await call(book, op_id="tap-1") for _ in range(2)]
    second = await call(book, op_id="tap-2")
    assert second is not None
    assert second.id != first.id
    seated = await do(book, first, Action.SEAT, op_id="tap-3")
    assert seated == await do(book, first, Action.SEAT, op_id="tap-3", revision=first.revision)
    assert ["join", "call", "seat"] == [one.action for one in await book.history(STORE, first.id)]
    for wrong in (
        do(book, second, Action.SEAT, op_id="tap-3"),
        do(book, first, Action.UNDO, op_id="tap-3"),
        book.call_next(STORE, TAKEOUT, by=HOST, op_id="tap-2"),
        book.call_next(STORE, DINE_IN, by="another host", op_id="tap-2"),
    ):
        with pytest.raises(InvalidInput, match="op_id"):
            await wrong


async def test_every_action_has_its_statuses(book: Book) -> None:
    """What may be done is done, anything else is refused, says where the party is, changes none."""
    for status, way in WAYS.items():
        for action, allowed in ALLOWED.items():
            party = await arrive(book)
            party = await do(book, party, way) if way else party
            assert status == party.status
            if status in allowed:
                assert (
                    party.revision < (await do(book, party, action)).revision or action == "defer"
                )
                continue
            with pytest.raises(WrongStatus, match=status) as caught:
                await do(book, party, action)
            assert status == caught.value.status
            assert party == await book.party(STORE, party.id)


async def test_undo_gives_everything_back(book: Book, clock: Clock) -> None:
    """Place, status and times are as before, whatever it was that is taken back."""
    parties = await evening(book, clock, 5)
    for action in (Action.SEAT, Action.NO_SHOW, Action.CANCEL):
        for called in (False, True):
            party = await book.party(STORE, parties[2].id)
            clock.step(60)
            before = await do(book, party, Action.CALL) if called else party
            clock.step(60)
            await do(book, party, action)
            after = await do(book, party, Action.UNDO)
            assert _facts(before) == _facts(after)
            assert before.revision + 2 == after.revision
            if called:
                back = await do(book, party, Action.UNDO)
                assert _facts(party) == _facts(back)
            assert [1, 2, 3, 4, 5] == await order(book)
    with pytest.raises(WrongStatus, match="undo is not possible"):
        await do(book, parties[2], Action.UNDO)


def _facts(party: Party) -> tuple[Any, ...]:
    times = (party.called_ms, party.seated_ms, party.ended_ms)
    return (party.status, party.place, party.defers, *times)


async def test_restore_gives_the_old_place_back(book: Book, clock: Clock) -> None:
    """Who was cancelled or did not show up waits where they stood, also much later."""
    parties = await evening(book, clock, 3)
    await do(book, parties[0], Action.NO_SHOW)
    await do(book, parties[1], Action.CANCEL)
    clock.step(3600)
    await arrive(book)
    for party in parties[:2]:
        back = await do(book, party, Action.RESTORE)
        assert _facts(party) == _facts(back)
    assert [1, 2, 3, 4] == await order(book)
    # And a restore that was a mistake is taken back too.
    assert Status.CANCELLED == (await do(book, parties[1], Action.UNDO)).status


async def test_defer_goes_behind_so_many(book: Book, clock: Clock) -> None:
    """By n places, or to the end; those who are called or gone are no places."""
    parties = await evening(book, clock, 6)
    await do(book, parties[2], Action.CALL)
    await do(book, parties[3], Action.CANCEL)
    moved = await do(book, parties[0], Action.DEFER, places=2)
    assert [2, 3, 5, 1, 6] == await order(book)
    assert (parties[4].place + 1, 1) == (moved.place, moved.defers)
    await do(book, parties[1], Action.DEFER, places=10)
    assert [3, 5, 1, 6, 2] == await order(book)
    assert 7 == (await arrive(book)).number
    assert [3, 5, 1, 6, 2, 7] == await order(book)


async def test_places_between_two_run_out(book: Book, clock: Clock) -> None:
    """Seven fit behind a party; the eighth goes behind the next one, and so does the order say."""
    await book.change_store(STORE, max_defers=20)
    ahead = await evening(book, clock, 9)
    clock.step(60)
    anchor = await arrive(book)
    after = await arrive(book)
    assert anchor.place + 8 == after.place
    for party in reversed(ahead):  # each has only the anchor and those behind it after it
        live = await book.live(STORE, DINE_IN)
        behind = [one.id for one in live].index(anchor.id) - [one.id for one in live].index(
            party.id
        )
        await do(book, party, Action.DEFER, places=behind)
    live = await book.live(STORE, DINE_IN)
    gaps = [one.place - anchor.place for one in live]
    assert [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] == gaps
    assert after.id == live[8].id
    newest = await arrive(book)
    assert newest.id == (await book.live(STORE, DINE_IN))[-1].id


async def test_the_last_has_nobody_to_let_go_first(book: Book, clock: Clock) -> None:
    """It stays where it is, and that costs no defer; called, it waits again."""
    (party,) = await evening(book, clock, 1)
    assert party == await do(book, party, Action.DEFER)
    await do(book, party, Action.CALL)
    back = await do(book, party, Action.DEFER)
    assert (Status.WAITING, party.place, 1, None) == (
        back.status,
        back.place,
        back.defers,
        back.called_ms,
    )


async def test_defers_are_limited(book: Book, clock: Clock) -> None:
    """As often as the store allows, from the line or when called; nothing is undone past it."""
    first, *_ = await evening(book, clock, 8)
    await do(book, first, Action.CALL)
    moved = await do(book, first, Action.DEFER)
    assert Status.WAITING == moved.status
    with pytest.raises(WrongStatus):
        await do(book, first, Action.UNDO)
    await do(book, first, Action.DEFER)
    with pytest.raises(DefersUsedUp):
        await do(book, first, Action.DEFER)
    for places in (0, 11, -1, "1", True):
        with pytest.raises(InvalidInput, match="places"):
            await do(book, moved, Action.DEFER, places=places)


async def test_a_party_that_was_changed_meanwhile(book: Book, clock: Clock) -> None:
    """Who decides on what they read is told if it is not so any more."""
    (party,) = await evening(book, clock, 1)
    called = await do(book, party, Action.CALL, revision=party.revision)
    with pytest.raises(PartyMoved, match="CALLED"):
        await do(book, party, Action.CANCEL, revision=party.revision)
    assert called == await book.party(STORE, party.id)


async def test_every_change_is_in_the_history(book: Book, clock: Clock) -> None:
    """Who did what and when, from what to what."""
    (party,) = await evening(book, clock, 1)
    await arrive(book)
    await book.act(STORE, party.id, Action.DEFER, places=1, by="guest")
    for action in (Action.CALL, Action.NO_SHOW, Action.UNDO, Action.SEAT):
        clock.step(1)
        await do(book, party, action)
    history = await book.history(STORE, party.id)
    assert [
        (None, "WAITING", "join", "guest"),
        ("WAITING", "WAITING", "defer", "guest"),
        ("WAITING", "CALLED", "call", HOST),
        ("CALLED", "NO_SHOW", "no_show", HOST),
        ("NO_SHOW", "CALLED", "undo", HOST),
        ("CALLED", "SEATED", "seat", HOST),
    ] == [(one.before, one.after, one.action, one.by) for one in history]
    assert {"places": 1} == history[1].detail
    assert [clock.now_ms - 1000 * n for n in (3, 2, 1, 0)] == [one.at_ms for one in history[2:]]


async def test_a_party_of_another_store(book: Book, store: Store) -> None:
    """A host of one store cannot touch, nor learn of, a party of another one."""
    other = Store(id="other", title="Other", types=store.types)
    await book.add_store(other)
    party = await arrive(book)
    wrong: list[Any] = [party.id + 1, 0, -1, 2**63, 2**200, "1", None, True]
    for store_id, party_id in [("other", party.id), *[(STORE, one) for one in wrong]]:
        for asked in (
            book.party(store_id, party_id),
            book.act(store_id, party_id, Action.SEAT, by=HOST),
            book.history(store_id, party_id),
            book.erase(store_id, party_id, by=HOST),
            book.show_phone(store_id, party_id, by=HOST),
        ):
            with pytest.raises(UnknownParty):
                await asked
    with pytest.raises(UnknownStore):
        await book.party("nowhere", party.id)
    unknown: Any = "dance"
    with pytest.raises(InvalidInput, match="action"):
        await do(book, party, unknown)
