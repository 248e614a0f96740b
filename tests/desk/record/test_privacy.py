"""Personal data of guests: forgotten in time, erased on request, and only in their own row."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from tests.desk.guests import DINE_IN, HOST, STORE, arrive, do
from tests.support.clock import Clock
from waitroom.desk.models import Action, Party
from waitroom.desk.record.record import Record
from waitroom.desk.record.tables import metadata

pytestmark = pytest.mark.usefixtures("store")
NAME, PHONE, NOTE = "김민지", "+821012345678", "휠체어 한 대"


async def guest(record: Record) -> Party:
    """Make somebody join who gives all their data."""
    return await arrive(record, name=NAME, phone=PHONE, note=NOTE)


async def tables_with(record: Record, text: str) -> set[str]:
    """Return the tables that contain a text anywhere."""
    tables = set()
    async with record.database.look() as connection:
        for name, table in metadata.tables.items():
            rows = (await connection.execute(select(table))).all()
            tables |= {name} if any(text in str(tuple(row)) for row in rows) else set()
    return tables


def files_with(folder: Path, text: str) -> list[str]:
    """Return the files of the database that contain a text."""
    files = folder.glob("desk.db*")
    return [file.name for file in files if text.encode() in file.read_bytes()]


async def test_only_the_party_says_who_it_is(record: Record) -> None:
    """Histories, notices and everything else know an id, nothing more."""
    party = await guest(record)
    for action in (Action.CALL, Action.SEAT, Action.UNDO, Action.DEFER):
        await do(record, party, action)
    await record.show_phone(STORE, party.id, by=HOST)
    for text in (NAME, PHONE, NOTE):
        assert {"parties"} == await tables_with(record, text)
    assert PHONE not in repr(party)


async def test_erased_is_gone_for_ever(record: Record, tmp_path: Path) -> None:
    """From the record and, on SQLite, from the bytes of its files."""
    party = await guest(record)
    await do(record, party, Action.CALL)
    if record.database.sqlite:
        assert files_with(tmp_path, PHONE), "the test would see it"
    erased = await record.erase(STORE, party.id, by="guest")
    assert (None, None, None) == (erased.name, erased.phone, erased.note)
    assert party.revision + 2 == erased.revision
    assert erased == await record.erase(STORE, party.id, by="guest")
    assert ["join", "call", "erase"] == [
        change.action for change in await record.history(STORE, party.id)
    ]
    for text in (NAME, PHONE, NOTE):
        assert set() == await tables_with(record, text)
        assert [] == files_with(tmp_path, text)


async def test_phones_are_forgotten_in_time(record: Record, clock: Clock) -> None:
    """After the store's days; a party that still waits is forgotten a day later."""
    await record.change_store(STORE, keep_phones_days=2)
    seated = await guest(record)
    await do(record, seated, Action.SEAT)
    waiting = await guest(record)
    clock.step(2 * 86_400)
    assert 0 == await record.forget_phones()
    clock.step(1)
    assert 1 == await record.forget_phones()
    assert (None, None, None) == _who(await record.party(STORE, seated.id))
    assert (NAME, PHONE, NOTE) == _who(await record.party(STORE, waiting.id))
    clock.step(86_400)
    assert 1 == await record.forget_phones()
    assert 0 == await record.forget_phones()
    assert [waiting.id] == [party.id for party in await record.live(STORE, DINE_IN)]
    assert set() == await tables_with(record, PHONE)


def _who(party: Party) -> tuple[str | None, ...]:
    return party.name, party.phone, party.note


async def test_whoever_sees_a_phone_is_noted(record: Record) -> None:
    """The history says who looked; without a phone there was nothing to see."""
    party, silent = await guest(record), await arrive(record)
    assert PHONE == (await record.show_phone(STORE, party.id, by=HOST)).phone
    assert party == await record.party(STORE, party.id)
    seen = (await record.history(STORE, party.id))[-1]
    assert ("show_phone", HOST) == (seen.action, seen.by)
    await record.show_phone(STORE, silent.id, by=HOST)
    assert 1 == len(await record.history(STORE, silent.id))
    await do(record, party, Action.CALL)
    # Having looked cannot be undone.
    await record.show_phone(STORE, party.id, by=HOST)
    assert "WAITING" == (await do(record, party, Action.UNDO)).status
