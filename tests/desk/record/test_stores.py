"""Stores in the record."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.desk.guests import DINE_IN, HOST, STORE, TAKEOUT, arrive, do
from tests.support.clock import Clock
from waitroom.desk.models import Action, Store, StoreMode, WaitingType
from waitroom.desk.record.database import open_database
from waitroom.desk.record.record import Record
from waitroom.errors import InvalidInput, StoreExists, UnknownStore, UnknownType, VersionConflict

BAR = WaitingType(name="bar", title="Bar", queue_limit=5)


async def test_a_store_is_kept(record: Record, clock: Clock) -> None:
    """All its data is read back, its lines in their order."""
    given = Store(
        id="hanok",
        title="한옥 🍜",
        time_zone="Europe/Berlin",
        country="DE",
        mode=StoreMode.PAUSED,
        reason="잠시 쉬어요",
        closes_at="02:00",
        max_defers=0,
        remote=False,
        keep_phones_days=0,
        webhook_url="https://example.com/hook",
        webhook_secret="0123456789abcdef",
        types=(WaitingType(name="z", title="Z", largest_party=4), BAR),
    )
    made = await record.add_store(given)
    assert replace(given, created_ms=clock.now_ms) == made
    assert made == await record.store("hanok")
    assert "0123456789abcdef" not in repr(made)


async def test_stores_and_lines_are_listed(record: Record, store: Store) -> None:
    """Stores by their ids, and all lines."""
    other = await record.add_store(Store(id="b", title="B", types=(BAR,)))
    assert (other, store) == await record.stores()
    assert (("b", "bar"), (STORE, DINE_IN), (STORE, TAKEOUT)) == await record.open_lines()


async def test_an_id_is_taken_once(record: Record, store: Store, tmp_path: Path) -> None:
    """Even by two processes at the same moment."""
    with pytest.raises(StoreExists):
        await record.add_store(store)
    url = record.database.engine.url.render_as_string(hide_password=False)
    async with open_database(url, tmp_path) as elsewhere:
        new = Store(id="new", title="New", types=(BAR,))
        both = (record.add_store(new), Record(elsewhere).add_store(new))
        done = await asyncio.gather(*both, return_exceptions=True)
    assert ["Store", "StoreExists"] == sorted(type(result).__name__ for result in done)


async def test_no_such_store(record: Record) -> None:
    """Every call for a store that does not exist says so."""
    wrong: list[Any] = ["nowhere", "", "A", "a" * 99, "\x00", "\ud800", None, 7]
    for store_id in wrong:
        for call in (
            record.store(store_id),
            record.change_store(store_id, title="x"),
            record.call_next(store_id, DINE_IN, by=HOST),
            record.parties(store_id),
        ):
            with pytest.raises(UnknownStore):
                await call


async def test_a_store_is_changed(record: Record, store: Store) -> None:
    """Given fields are changed, the rest stays, and the version shows it."""
    changed = await record.change_store(STORE, mode="paused", reason="재료 소진", closes_at="21:30")
    expected = replace(
        store, mode=StoreMode.PAUSED, reason="재료 소진", closes_at="21:30", version=2
    )
    assert expected == changed
    assert expected == await record.store(STORE)
    assert expected == await record.change_store(STORE, version=2, mode="paused")


async def test_two_changes_do_not_overwrite_each_other(record: Record, store: Store) -> None:
    """Anybody with an older version gets an error, and nothing is changed."""
    await record.change_store(STORE, version=store.version, title="A")
    with pytest.raises(VersionConflict, match=r"store 'han-river' is at version 2"):
        await record.change_store(STORE, version=store.version, title="B")
    assert "A" == (await record.store(STORE)).title


async def test_a_wrong_change_is_refused(record: Record, store: Store) -> None:
    """The error names the field, and nothing is changed."""
    wrong: list[tuple[str, Any]] = [
        ("id", "x"),
        ("created_ms", 1),
        ("colour", "red"),
        ("mode", "away"),
        ("types", ()),
    ]
    for field, value in wrong:
        changes: dict[str, Any] = {"title": "x", field: value}
        with pytest.raises(InvalidInput) as caught:
            await record.change_store(STORE, **changes)
        assert field == caught.value.field
    assert store == await record.store(STORE)


async def test_lines_come_and_go(record: Record, store: Store) -> None:
    """A line can be added, changed and moved, and is only removed when it is empty."""
    dine_in, takeout = store.types
    party = await arrive(record, TAKEOUT)
    smaller = replace(dine_in, largest_party=2)
    changed = await record.change_store(STORE, types=(BAR, takeout, smaller))
    assert (BAR, takeout, smaller) == changed.types
    with pytest.raises(InvalidInput, match="takeout"):
        await record.change_store(STORE, types=(BAR,))
    assert changed == await record.store(STORE)
    await do(record, party, Action.SEAT)
    assert (BAR,) == (await record.change_store(STORE, types=(BAR,))).types
    assert ((STORE, "bar"),) == await record.open_lines()
    with pytest.raises(UnknownType):
        await arrive(record, TAKEOUT)
    with pytest.raises(UnknownType):
        await do(record, party, Action.UNDO)


async def test_a_line_that_comes_back_goes_on(record: Record, store: Store) -> None:
    """Its numbers and places do not restart, because the record still has the old ones."""
    first = await arrive(record, TAKEOUT)
    await do(record, first, Action.CANCEL)
    await record.change_store(STORE, types=(store.types[0],))
    await record.change_store(STORE, types=store.types)
    second = await arrive(record, TAKEOUT)
    assert 2 == second.number
    assert first.sort_key < second.sort_key
