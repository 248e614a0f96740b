"""The audit log: newest first, paged, by room, capped."""

from __future__ import annotations

from typing import Any

import pytest

from waitroom.engine import Engine, keys
from waitroom.engine.audit import KEPT, Entry
from waitroom.errors import InvalidInput


def entry(room: str, number: int = 0, **detail: Any) -> Entry:
    """Make an entry that can be told from others."""
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
    """Pages follow each other without a gap or a repeat, newest first, of one room only."""
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


async def test_it_is_capped(engine: Engine, room: str) -> None:
    """It stays near its limit, however much is done; an entry of ours never grows large."""
    audit = engine.audit
    pipe = engine.backend.client.pipeline(transaction=False)
    for _ in range(KEPT + 500):
        pipe.xadd(keys.AUDIT, {"other": "x"})
    await pipe.execute()
    await audit.append(entry(room, text="x" * 20_000))
    assert KEPT + 200 >= await engine._runner.command("XLEN", keys.AUDIT)
    (read,) = (await audit.page(room=room)).entries
    assert ["cut"] == list(read.detail)


@pytest.mark.parametrize("before", ["", "x", "1-", "-1", "1-1\n", "(1-1"])
async def test_bad_cursors(engine: Engine, before: str) -> None:
    """Only what an earlier page gave is a cursor."""
    with pytest.raises(InvalidInput, match="before"):
        await engine.audit.page(before=before)


@pytest.mark.parametrize("limit", [0, 501, -1])
async def test_bad_limits(engine: Engine, limit: int) -> None:
    """A page has 1 to 500 entries."""
    with pytest.raises(InvalidInput, match="limit"):
        await engine.audit.page(limit=limit)
