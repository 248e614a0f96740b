"""Several hosts at the same moment: each with its own open database, or a whole process."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from itertools import chain
from pathlib import Path

import pytest

from tests.desk.guests import DINE_IN, HOST, STORE, TAKEOUT, arrive, do, order
from waitroom.desk.inputs import Wish
from waitroom.desk.models import Action, Party
from waitroom.desk.record.database import open_database
from waitroom.desk.record.record import Record
from waitroom.errors import InvalidInput, PartyMoved, WrongStatus

pytestmark = pytest.mark.usefixtures("store")
PEOPLE = 60
AT_DOOR = """
import asyncio, json, pathlib, sys
from waitroom.desk.record.record import Record
from waitroom.desk.record.database import open_database

async def main():
    url, folder, host = sys.argv[1:]
    async with open_database(url, pathlib.Path(folder)) as database:
        record, called = Record(database), []
        print("ready", flush=True)
        sys.stdin.readline()
        while party := await record.call_next("han-river", "dine-in", by=host):
            called.append(party.number)
        print(json.dumps(called))

asyncio.run(main())
"""


@pytest.fixture
async def records(record: Record, database_url: str, tmp_path: Path) -> AsyncIterator[list[Record]]:
    """Open the record three times, as three processes would."""
    async with AsyncExitStack() as stack:
        others = [
            await stack.enter_async_context(open_database(database_url, tmp_path)) for _ in range(2)
        ]
        yield [record, *(Record(database, now_us=record._now_us) for database in others)]


async def test_joins_at_once_get_a_number_each(records: list[Record]) -> None:
    """No number and no place is used twice or left out, in every line."""
    joins = [
        arrive(records[n % 3], DINE_IN if n % 4 else TAKEOUT, op_id=f"join-{n}")
        for n in range(PEOPLE)
    ]
    parties = await asyncio.gather(*joins)
    for line_name in (DINE_IN, TAKEOUT):
        mine = [party for party in parties if party.line_name == line_name]
        mine.sort(key=lambda party: party.sort_key)
        assert list(range(1, len(mine) + 1)) == [party.number for party in mine]
        assert list(range(len(mine))) == [party.teams_ahead for party in mine]


async def test_next_at_once_is_somebody_else(records: list[Record]) -> None:
    """Every party is called once, whoever calls."""
    await asyncio.gather(*(arrive(records[0]) for _ in range(PEOPLE)))
    calls = [records[n % 3].call_next(STORE, DINE_IN, by=f"host {n}") for n in range(PEOPLE + 3)]
    called = await asyncio.gather(*calls)
    numbers = Counter(party.number for party in called if party is not None)
    assert Counter(range(1, PEOPLE + 1)) == numbers


async def test_processes_call_everybody_once(
    record: Record, database_url: str, tmp_path: Path
) -> None:
    """Three processes call next until nobody is left: nobody twice, nobody skipped, in order."""
    for _ in range(PEOPLE):
        await arrive(record)
    words = [sys.executable, "-W", "error", "-c", AT_DOOR, database_url, str(tmp_path)]
    pipe = asyncio.subprocess.PIPE
    hosts = [
        await asyncio.create_subprocess_exec(*words, f"host {n}", stdin=pipe, stdout=pipe)
        for n in range(3)
    ]
    for host in hosts:
        assert host.stdout is not None
        assert b"ready\n" == await host.stdout.readline()
    outputs = await asyncio.gather(*(host.communicate(b"go\n") for host in hosts))
    called: list[list[int]] = [json.loads(out) for out, _ in outputs]
    assert list(range(1, PEOPLE + 1)) == sorted(chain.from_iterable(called))
    assert called == [sorted(numbers) for numbers in called]


async def test_one_tap_sent_often_at_once(records: list[Record]) -> None:
    """The same id from everywhere at once: one party is called, and all get it as the answer."""
    await asyncio.gather(*(arrive(records[0]) for _ in range(3)))
    taps = [records[n % 3].call_next(STORE, DINE_IN, by=HOST, op_id="tap") for n in range(12)]
    answers = await asyncio.gather(*taps)
    assert {1} == {party.number for party in answers if party is not None}
    assert 2 == len(await records[0].history(STORE, answers[0].id if answers[0] else 0))


async def test_one_join_sent_often_at_once(records: list[Record]) -> None:
    """The same id from everywhere at once is one party."""
    joins = [arrive(records[n % 3], op_id="join") for n in range(12)]
    assert 1 == len({party.id for party in await asyncio.gather(*joins)})
    assert [1] == await order(records[0])


async def test_one_id_in_two_lines_at_once(records: list[Record]) -> None:
    """Lines do not wait for each other; one of the two calls is told to use another id."""
    for _ in range(10):
        joins = (
            arrive(records[0], DINE_IN, op_id=f"{_}"),
            arrive(records[1], TAKEOUT, op_id=f"{_}"),
        )
        done = await asyncio.gather(*joins, return_exceptions=True)
        assert 1 == len([answer for answer in done if isinstance(answer, Party)])
        assert 1 == len([answer for answer in done if isinstance(answer, InvalidInput)])


async def test_one_party_is_decided_on_once(records: list[Record]) -> None:
    """Hosts seat, cancel and call the same party: the first decides, the others are told."""
    actions = [Action.SEAT, Action.CANCEL, Action.NO_SHOW] * 3
    for _ in range(5):
        party = await arrive(records[0])
        tries = [
            do(records[n % 3], party, action, revision=party.revision)
            for n, action in enumerate(actions)
        ]
        done = await asyncio.gather(*tries, return_exceptions=True)
        assert 1 == len([answer for answer in done if isinstance(answer, Party)])
        assert 8 == len([answer for answer in done if isinstance(answer, PartyMoved)])
        again = [do(records[n % 3], party, action) for n, action in enumerate(actions)]
        late = await asyncio.gather(*again, return_exceptions=True)
        assert {WrongStatus} == {type(error) for error in late}
        assert 2 == len(await records[0].history(STORE, party.id))


async def test_a_line_that_goes_while_somebody_joins(records: list[Record]) -> None:
    """Either the line stays because they are in it, or they are told that it does not exist."""
    first, second = (await records[0].store(STORE)).types
    for _ in range(10):
        await records[0].change_store(STORE, types=(first, second))
        wish, ticket = Wish(size=2), f"t-{_}"
        done = await asyncio.gather(
            records[1].register(STORE, TAKEOUT, wish, ticket),
            records[2].change_store(STORE, types=(first,)),
            return_exceptions=True,
        )
        live = await records[0].live(STORE, TAKEOUT)
        listed = (STORE, TAKEOUT) in await records[0].open_lines()
        assert bool(live) == listed == isinstance(done[0], Party)
        for party in live:
            await do(records[0], party, Action.CANCEL)


async def test_defers_at_once_keep_the_line_whole(records: list[Record]) -> None:
    """However many parties go back at once, nobody is lost and no place is used twice."""
    parties = [await arrive(records[0]) for _ in range(12)]
    await asyncio.gather(
        *(do(records[n % 3], party, Action.DEFER, places=3) for n, party in enumerate(parties))
    )
    live = await records[0].live(STORE, DINE_IN)
    assert {party.id for party in parties} == {party.id for party in live}
    assert 12 == len({party.sort_key for party in live})
