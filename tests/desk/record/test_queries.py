"""What is read from the record: lists, who left, the turnover, and that reading stays cheap."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from sqlalchemy import event

from tests.desk.guests import DINE_IN, STORE, TAKEOUT, arrive, do, evening
from tests.support.clock import Clock
from waitroom.desk.models import Action, Status, Turnover
from waitroom.desk.record.record import Record
from waitroom.errors import InvalidInput

pytestmark = pytest.mark.usefixtures("store")


async def test_parties_are_listed(record: Record, clock: Clock) -> None:
    """Live parties, or all of a day, or by status; in order, and page by page."""
    parties = await evening(record, clock, 4)
    takeout = await arrive(record, TAKEOUT)
    await do(record, parties[0], Action.SEAT)
    await do(record, parties[1], Action.CALL)

    async def ids(**asked: Any) -> list[int]:
        return [party.id for party in await record.parties(STORE, **asked)]

    every = [party.id for party in (*parties, takeout)]
    assert every[1:] == await ids()
    assert every[1:4] == await ids(line_name=DINE_IN)
    assert every == await ids(day=date(2026, 5, 8))
    assert [] == await ids(day=date(2026, 5, 9))
    assert every[:1] == await ids(statuses=[Status.SEATED])
    assert [] == await ids(statuses=[])
    assert every[1:3] == await ids(limit=2)
    assert every[3:] == await ids(after=every[2], limit=2)
    assert {(STORE, DINE_IN): (2, 1), (STORE, TAKEOUT): (1, 0)} == await record.lengths()
    with pytest.raises(InvalidInput):
        await ids(limit=0)


async def test_who_has_left_since(record: Record, clock: Clock) -> None:
    """This includes parties that an undo ended again, long after they first ended."""
    first, second, third = await evening(record, clock, 3)
    await do(record, first, Action.NO_SHOW)
    await do(record, second, Action.SEAT)
    clock.step(60)
    since = clock.now_ms
    await do(record, third, Action.CANCEL)
    await do(record, first, Action.RESTORE)
    clock.step(1)
    await do(record, first, Action.UNDO)
    left = await record.ended_since(STORE, DINE_IN, since)
    assert [third.id, first.id] == [party.id for party in left]


async def test_the_pace_is_of_seatings(record: Record, clock: Clock) -> None:
    """Minutes waited per team, including oneself; an undone seating does not count."""
    assert Turnover(0, 0.0) == await record.turnover(STORE, DINE_IN)
    assert 15 == (await record.turnover(STORE, DINE_IN)).wait_minutes(1)
    parties = [await arrive(record) for _ in range(3)]
    for party in parties:
        clock.step(600)
        await do(record, party, Action.SEAT)
    # 10 ÷ 1, 20 ÷ 2 and 30 ÷ 3
    turnover = await record.turnover(STORE, DINE_IN)
    assert 3 == turnover.samples
    assert abs(turnover.mean_minutes - 10.0) < 1e-9
    await do(record, parties[0], Action.UNDO)
    assert 2 == (await record.turnover(STORE, DINE_IN)).samples
    assert Turnover(0, 0.0) == await record.turnover(STORE, TAKEOUT)


async def test_the_last_150_seatings_count(record: Record, clock: Clock) -> None:
    """The oldest go, not the shortest."""
    for number in range(155):
        party = await arrive(record)
        # The first five took an hour, all others a minute.
        clock.step(3600 if number < 5 else 60)
        await do(record, party, Action.SEAT)
    turnover = await record.turnover(STORE, DINE_IN)
    assert 150 == turnover.samples
    assert abs(turnover.mean_minutes - 1.0) < 1e-9


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_no_read_walks_through_all_that_ever_was(record: Record) -> None:
    """On SQLite every query about parties uses an index, and live lines use the live one."""
    party = await arrive(record, op_id="join")
    asked: dict[str, Any] = {}

    def note(_: Any, __: Any, statement: str, values: Any, *___: Any) -> None:
        asked.setdefault(statement, values)

    event.listen(record.database.engine.sync_engine, "before_cursor_execute", note)
    await record.live(STORE, DINE_IN)
    await record.lengths()
    live = [statement for statement in asked if "parties" in statement]
    for read in (
        record.parties(STORE),
        record.parties(STORE, day=party.day),
        record.turnover(STORE, DINE_IN),
        record.ended_since(STORE, DINE_IN, 0),
        record.history(STORE, party.id),
        record.by_ticket(STORE, DINE_IN, party.ticket),
        record.call_next(STORE, DINE_IN, fits=2, by="host", op_id="call"),
        record.forget_phones(),
    ):
        await read
    event.remove(record.database.engine.sync_engine, "before_cursor_execute", note)
    async with record.database.look() as connection:
        for statement, values in asked.items():
            if "parties" not in statement or not statement.startswith(("SELECT", "UPDATE")):
                continue
            rows = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
            plan = [str(detail) for *_, detail in rows if " parties" in detail]
            assert all("USING" in step for step in plan), (statement, plan)
            assert statement not in live or "ix_parties_live" in plan[0], (statement, plan)
