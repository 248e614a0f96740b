"""Who may join: a limited number per address and hour, and one place per number and line."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from tests.desk.guests import DINE_IN, HOST, STORE, TAKEOUT, arrive, do, order
from tests.support.clock import Clock
from waitroom.desk.models import Action, Source
from waitroom.desk.record.database import Database
from waitroom.desk.record.record import Record
from waitroom.desk.record.tables import joins
from waitroom.errors import PhoneInLine, TooMany

pytestmark = pytest.mark.usefixtures("store")
PHONE, SAME_PHONE = "010-1234-5678", "+82 10 1234 5678"
HERE, ELSEWHERE = "here", "elsewhere"


@pytest.mark.attack
async def test_one_address_cannot_bury_a_store(record: Record, clock: Clock) -> None:
    """Counted over all lines; another address and a host still can, and after an hour it can."""
    await record.change_store(STORE, joins_per_hour=3)
    for line_name in (DINE_IN, TAKEOUT, DINE_IN):
        await arrive(record, line_name, address=HERE)
        clock.step(60)
    with pytest.raises(TooMany) as refused:
        await arrive(record, address=HERE)
    assert 3600 - 180 == refused.value.retry_after_s
    await arrive(record, address=ELSEWHERE)
    await arrive(record, by=HOST, force=True)
    assert [1, 2, 3, 4] == await order(record)
    clock.step(3600 - 180)
    await arrive(record, address=HERE)
    with pytest.raises(TooMany):
        await arrive(record, address=HERE)


async def test_a_repeated_join_is_counted_once(record: Record) -> None:
    """A lost answer does not cost a second join."""
    await record.change_store(STORE, joins_per_hour=2)
    for _ in range(3):
        await arrive(record, op_id="a", address=HERE)
    await arrive(record, address=HERE)
    assert [1, 2] == await order(record)


async def test_a_repeated_join_whose_code_has_ended(record: Record) -> None:
    """It gets the same place, and the guest still counts as on site."""
    first = await arrive(record, op_id="a", phone=PHONE, source=Source.ON_SITE)
    again = await arrive(record, op_id="a", phone=PHONE, source=Source.REMOTE)
    assert (first, Source.ON_SITE) == (again, again.source)


async def test_a_store_may_have_no_limit(record: Record) -> None:
    """This is for stores where all guests share one address."""
    await record.change_store(STORE, joins_per_hour=None)
    for _ in range(25):
        await arrive(record, address=HERE)
    assert 25 == len(await order(record))


@pytest.mark.attack
async def test_a_number_has_one_place_in_a_line(record: Record) -> None:
    """However it is written. It may have one in another line, and again when the first is over."""
    first = await arrive(record, phone=PHONE)
    with pytest.raises(PhoneInLine) as refused:
        await arrive(record, phone=SAME_PHONE)
    assert str(first.number) not in str(refused.value)
    await arrive(record, TAKEOUT, phone=PHONE)
    await do(record, first, Action.CALL)
    with pytest.raises(PhoneInLine):
        await arrive(record, phone=PHONE)
    await do(record, first, Action.CANCEL)
    await arrive(record, phone=PHONE)
    assert [2] == await order(record)


async def test_a_host_may_add_the_number_again(record: Record) -> None:
    """Somebody else may have used it, while the real guest is standing in front of the host."""
    await arrive(record, phone=PHONE)
    await arrive(record, phone=PHONE, by=HOST, force=True)
    assert [1, 2] == await order(record)


@pytest.mark.attack
async def test_numbers_cannot_be_tried_without_end(record: Record) -> None:
    """A refused number counts as a join, so an address can only ask about a few of them."""
    await record.change_store(STORE, joins_per_hour=3)
    await arrive(record, phone=PHONE)
    for _ in range(3):
        with pytest.raises(PhoneInLine):
            await arrive(record, phone=PHONE, address=HERE)
    with pytest.raises(TooMany):
        await arrive(record, phone=PHONE, address=HERE)
    assert [1] == await order(record)


async def test_addresses_are_forgotten(record: Record, database: Database, clock: Clock) -> None:
    """They go with the phones, once they no longer count."""

    async def kept() -> int:
        async with database.look() as connection:
            count = await connection.execute(select(func.count()).select_from(joins))
            return count.scalar_one()

    await arrive(record, address=HERE)
    await record.forget_phones()
    assert 1 == await kept()
    clock.step(3600)
    await record.forget_phones()
    assert 0 == await kept()
