"""Sign-outs of hosts: in the record for all processes, for as long as a cookie would be valid."""

from __future__ import annotations

import time

import pytest
from sqlalchemy import func, insert, select

from waitroom.desk.record.database import Database
from waitroom.desk.record.sign_outs import HostSignOuts
from waitroom.desk.record.tables import sign_outs

SESSION = "0123456789abcdef"


@pytest.mark.attack
async def test_every_process_refuses_the_session(database: Database) -> None:
    """Here and elsewhere; signing out twice is no error, and other sessions continue."""
    here, elsewhere = HostSignOuts(database), HostSignOuts(database)
    assert not await here.has(SESSION)
    for _ in range(2):
        await here.add(SESSION, int(time.time()) + 60)
    assert await here.has(SESSION)
    assert await elsewhere.has(SESSION)
    assert not await elsewhere.has("f" * 16)


async def test_sign_outs_of_sessions_that_are_over_are_forgotten(database: Database) -> None:
    """With the next sign-out: the table holds only sessions that could still be valid."""
    old = [{"session": f"{number:016x}", "ends_s": 1_000} for number in range(50)]
    async with database.change() as connection:
        await connection.execute(insert(sign_outs), old)
    await HostSignOuts(database).add(SESSION, int(time.time()) + 60)
    async with database.look() as connection:
        count = await connection.execute(select(func.count()).select_from(sign_outs))
        assert 1 == count.scalar_one()
