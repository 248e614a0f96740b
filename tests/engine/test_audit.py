"""The audit log: newest first, paged, by room, kept for a number of days, capped."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from waitroom.engine import Engine, keys
from waitroom.engine import audit as audit_log
from waitroom.engine.audit import MOST, SIGN_IN, Audit, Entry, Log
from waitroom.errors import InvalidInput


def entry(room: str, number: int = 0, **detail: Any) -> Entry:
    """Make an entry that differs from the others."""
    return Entry(
        key_id="abc",
        key_name="박스 오피스",
        role="operator",
        action="room.change",
        room=room,
        detail={"number": number, **detail},
        address="192.0.2.7",
    )


async def test_what_was_written_is_read(engine: Engine, room: str) -> None:
    """Every field comes back, with the server's time as its id."""
    audit = engine.audit
    written = entry(room, changed={"capacity": {"old": 5, "new": None}})
    entry_id = await audit.append(written)
    (read,) = (await audit.page(room=room)).entries
    assert entry_id == read.id
    assert int(entry_id.split("-")[0]) == read.at_ms
    assert (written.key_name, written.detail, room) == (read.key_name, read.detail, read.room)
    assert ("abc", "operator", "192.0.2.7") == (read.key_id, read.role, read.address)


async def test_pages_go_back(engine: Engine, room: str) -> None:
    """Pages follow each other without a gap or a repeat, newest first, for one room only."""
    audit = engine.audit
    for number in range(7):
        await audit.append(entry(room, number))
        await audit.append(entry(f"{room}-other", number))
    seen, before = [], None
    while True:
        page = await audit.page(room=room, limit=3, before=before)
        seen += [entry.detail["number"] for entry in page.entries]
        before = page.before
        if before is None:
            break
    assert [6, 5, 4, 3, 2, 1, 0] == seen
    newest = await audit.page(limit=1)
    assert f"{room}-other" == newest.entries[0].room


async def test_it_is_capped(engine: Engine, room: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stays near its limit, however much happens."""
    monkeypatch.setitem(MOST, Log.ACTIONS, 1_000)
    pipe = engine.backend.client.pipeline(transaction=False)
    for _ in range(1_500):
        pipe.xadd(keys.AUDIT, {"other": "x"})
    await pipe.execute()
    await engine.audit.append(entry(room))
    assert 1_200 >= await engine._runner.command("XLEN", keys.AUDIT)
    (read,) = (await engine.audit.page(room=room)).entries
    assert {"number": 0} == read.detail


@pytest.mark.attack
async def test_long_entries_keep_every_field(engine: Engine, room: str) -> None:
    """No entry grows large, and nobody can hide one field behind the length of another."""
    await engine.audit.append(entry(room, text="x" * 20_000, many=["y"] * 9_000, capacity=7))
    (read,) = (await engine.audit.page(room=room)).entries
    shortened = {"number": 0, "text": "x" * 40 + "…", "many": ["y"] * 20, "capacity": 7}
    assert shortened | {"shortened": True} == read.detail
    await engine.audit.append(entry(room, **{f"field-{n}": n for n in range(1_000)}))
    assert ["cut"] == list((await engine.audit.page(room=room)).entries[0].detail)


@pytest.mark.attack
async def test_sign_ins_push_no_action_out(
    engine: Engine, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often somebody signs in, actions stay in the log, and sign-ins are limited."""
    monkeypatch.setitem(MOST, Log.SIGN_INS, 200)
    await engine.audit.append(entry(room))
    before = await engine._runner.command("XLEN", keys.AUDIT)
    for _ in range(450):
        await engine.audit.append(replace(entry(room), action=SIGN_IN))
    assert before == await engine._runner.command("XLEN", keys.AUDIT)
    assert ["room.change"] == [read.action for read in (await engine.audit.page(room=room)).entries]
    signed_in = (await engine.audit.page(room=room, limit=500, log=Log.SIGN_INS)).entries
    assert {SIGN_IN} == {read.action for read in signed_in}
    assert 300 >= len(signed_in)


async def test_old_entries_go(engine: Engine, room: str) -> None:
    """With `days`, older entries go with the next one; without, none goes because of its age."""
    for number in range(450):
        await engine.audit.append(entry(room, number))
    full = await engine._runner.command("XLEN", keys.AUDIT)
    await Audit(engine._runner, days=1).append(entry(room))
    assert full + 1 == await engine._runner.command("XLEN", keys.AUDIT)
    await Audit(engine._runner, days=0).append(entry(room))
    assert 200 >= await engine._runner.command("XLEN", keys.AUDIT)


async def test_a_room_without_entries_is_looked_for_within_bounds(
    engine: Engine, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One page reads a bounded part of the log; the cursor continues after it."""
    monkeypatch.setattr(audit_log, "_PAGES", 1)
    await engine.audit.append(entry(room))
    for number in range(510):
        await engine.audit.append(entry(f"{room}-other", number))
    page = await engine.audit.page(room=room)
    assert () == page.entries
    rest = await engine.audit.page(room=room, before=page.before)
    assert [room] == [read.room for read in rest.entries]


async def test_everything_since_a_moment(engine: Engine, room: str) -> None:
    """All entries come in batches, oldest first, each once."""
    first = await engine.audit.append(entry(room))
    for number in range(1, 520):
        await engine.audit.append(entry(room, number))
    numbers: list[int] = []
    async for batch in engine.audit.since(int(first.partition("-")[0])):
        assert 500 >= len(batch)
        numbers += [read.detail["number"] for read in batch if read.room == room]
    assert [*range(520)] == numbers


@pytest.mark.parametrize("before", ["", "x", "1-", "-1", "1-1\n", "(1-1"])
async def test_bad_cursors(engine: Engine, before: str) -> None:
    """Only what an earlier page returned is a cursor."""
    with pytest.raises(InvalidInput, match="before"):
        await engine.audit.page(before=before)


@pytest.mark.parametrize("limit", [0, 501, -1])
async def test_bad_limits(engine: Engine, limit: int) -> None:
    """A page has 1 to 500 entries."""
    with pytest.raises(InvalidInput, match="limit"):
        await engine.audit.page(limit=limit)
