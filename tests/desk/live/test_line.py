"""The live line follows the record, in whatever order its changes arrive."""

from __future__ import annotations

import dataclasses
import random
import secrets
from datetime import date
from itertools import permutations
from pathlib import Path

import pytest

from tests.support.clock import Clock, open_engine
from tests.support.servers import Server, start_cluster
from waitroom.desk.live.line import POLICY, STATES, LiveLines, agrees, room_of, settled
from waitroom.desk.models import Party, Source, Status
from waitroom.engine import Engine, keys
from waitroom.errors import RoomClosed
from waitroom.models import State

SIX_HOURS = 21_600
NOW_US = 1_800_000_000_000_000


def party(number: int = 1, status: Status = Status.WAITING, revision: int = 1) -> Party:
    """Return a party of a store that no other test has."""
    return Party(
        id=number,
        store="store",
        line_name="dine-in",
        ticket=f"{number:016}",
        day=date(2027, 1, 15),
        number=number,
        size=2,
        name=None,
        phone=None,
        note=None,
        source=Source.ON_SITE,
        status=status,
        sort_key=NOW_US + 8 * number,
        teams_ahead=0,
        defers=0,
        revision=revision,
        registered_ms=NOW_US // 1000,
    )


@pytest.fixture
def line() -> str:
    """Return the room name of a line that no other test has."""
    return room_of(f"s-{secrets.token_hex(6)}", "dine-in")


@pytest.fixture
def lines(engine: Engine) -> LiveLines:
    """Return the lines of one process."""
    return LiveLines(engine)


async def positions(lines: LiveLines, line: str, parties: list[Party]) -> list[int | None]:
    """Return where parties are."""
    spots = [await lines.engine.spot(line, member.ticket) for member in parties]
    return [spot.position for spot in spots]


def test_every_status_has_its_state() -> None:
    """The line knows every status of the record."""
    assert set(Status) == set(STATES)


def test_the_longest_names_fit() -> None:
    """The longest store and type still fit into a room name, and into a guest's token."""
    assert len(room_of("s" * 30, "t" * 20)) <= 62


async def test_order_is_the_records(lines: LiveLines, line: str) -> None:
    """Parties are ordered by their place, in whichever order they arrive here."""
    parties = [party(number) for number in range(1, 41)]
    shuffled = random.Random(7).sample(parties, len(parties))
    for member in shuffled:
        await lines.settle(line, [settled(member)])
    contents = await lines.engine.line(line)
    assert {member.ticket: member.sort_key for member in parties} == contents.waiting
    assert [*range(1, 41)] == await positions(lines, line, parties)
    assert all(agrees(contents, member) for member in parties)


async def test_late_revisions_change_nothing(lines: LiveLines, line: str) -> None:
    """The changes of one party, in all orders and each of them twice, end at the newest."""
    story = [
        party(revision=1),
        party(status=Status.CALLED, revision=2),
        party(status=Status.SEATED, revision=3),
        dataclasses.replace(party(revision=4), sort_key=NOW_US + 99),
    ]
    for number, order in enumerate(permutations(story)):
        room = f"{line}{number}"
        for change in (*order, *order[:3]):
            await lines.settle(room, [settled(change)])
        contents = await lines.engine.line(room)
        assert {story[-1].ticket: NOW_US + 99} == contents.waiting
        assert frozenset() == contents.called
        assert {story[-1].ticket: 4} == contents.revisions


@pytest.mark.parametrize("ends", [Status.SEATED, Status.CANCELLED, Status.NO_SHOW])
@pytest.mark.parametrize("called", [False, True])
async def test_undo_gives_the_place_back(
    lines: LiveLines, line: str, ends: Status, called: bool
) -> None:
    """A party that comes back has its old place, because that never changed."""
    parties = [party(number) for number in (1, 2, 3)]
    await lines.settle(line, [settled(member) for member in parties])
    changes = [Status.CALLED] * called + [ends]
    for revision, status in enumerate(changes, 2):
        await lines.settle(line, [settled(party(2, status, revision))])
    assert [1, None, 2] == [(await lines.engine.spot(line, p.ticket)).position for p in parties]
    await lines.settle(line, [settled(party(2, Status.WAITING, 4))])
    assert [1, 2, 3] == [(await lines.engine.spot(line, p.ticket)).position for p in parties]


async def test_whole_and_lost(lines: LiveLines, line: str, server: Server, clock: Clock) -> None:
    """A line whose keys are gone is reported as incomplete to each process's next change, once."""
    async with open_engine(server.url, clock) as engine:
        other = LiveLines(engine)
        assert not (await lines.settle(line, [settled(party(1))])).whole  # new
        assert (await lines.settle(line, [settled(party(2))])).whole
        assert not (await other.settle(line, [settled(party(3))])).whole  # new to them
        assert (await other.settle(line, [settled(party(4))])).whole
        names = [keys.room_key(line, name) for name in keys.ROOM_KEYS]
        await engine.backend.client.delete(*names)
        assert not (await lines.settle(line, [settled(party(5))])).whole
        assert not (await other.settle(line, [settled(party(6))])).whole
        assert (await lines.settle(line, [settled(party(7))])).whole
        assert (await other.settle(line, [settled(party(8))])).whole


async def test_dropped_by_an_operator(lines: LiveLines, line: str) -> None:
    """A room that an operator dropped is recreated, and the line reports that it is incomplete."""
    await lines.settle(line, [settled(party(1))])
    await lines.engine.drop(line)
    assert not (await lines.engine.line(line)).there
    assert not (await lines.settle(line, [settled(party(2))])).whole
    assert {party(2).ticket} == (await lines.engine.line(line)).tickets


async def test_nobody_joins_past_the_desk(lines: LiveLines, line: str, engine: Engine) -> None:
    """Visitors cannot put themselves into a line through the engine."""
    await lines.settle(line, [settled(party())])
    with pytest.raises(RoomClosed):
        await engine.join(line)
    assert POLICY == (await engine.room(line)).policy


async def test_called_for_ever(lines: LiveLines, line: str, clock: Clock, engine: Engine) -> None:
    """Neither waiting nor called parties are dropped for silence."""
    await lines.settle(line, [settled(party(1)), settled(party(2, Status.CALLED))])
    for _ in range(48):
        clock.step(3_600)
        await engine.advance(line)
    assert State.WAITING is (await engine.spot(line, party(1).ticket)).state
    assert State.CALLED is (await engine.spot(line, party(2).ticket)).state


async def test_idle(lines: LiveLines, line: str, clock: Clock, engine: Engine) -> None:
    """Six hours after the last party left, only policy and turnover of the line are left."""
    await lines.settle(line, [settled(party(1))], turnover="12:3.5")
    clock.step(2 * SIX_HOURS)
    await engine.advance(line)
    assert {party(1).ticket} == (await lines.engine.line(line)).tickets
    await lines.settle(line, [settled(party(1, Status.SEATED, 2))])
    live = [keys.room_key(line, name) for name in keys.ROOM_KEYS if name not in ("config", "meta")]
    clock.step(SIX_HOURS - 1)
    await engine.advance(line)
    assert 0 < await engine.backend.client.exists(*live)
    clock.step(1)
    await engine.advance(line)
    assert 0 == await engine.backend.client.exists(*live)
    assert "12:3.5" == (await lines.engine.line(line)).turnover
    await lines.settle(line, [settled(party(3))])
    assert {party(3).ticket: party(3).sort_key} == (await lines.engine.line(line)).waiting


async def test_counts(lines: LiveLines, line: str) -> None:
    """The lengths of many lines take one query; a line that does not exist has none."""
    await lines.settle(line, [settled(party(n)) for n in range(3)], turnover="1:2")
    await lines.settle(line, [settled(party(0, Status.CALLED, 2))])
    rooms = [line, room_of("nowhere", "dine-in")]
    assert [(2, 1, "1:2"), (0, 0, "")] == await lines.engine.line_counts(rooms)
    assert [] == await lines.engine.line_counts([])


async def test_on_a_cluster(tmp_path: Path, clock: Clock) -> None:
    """Lines on several nodes are settled, read and counted like those on one."""
    rooms = [room_of(f"store-{number}", "dine-in") for number in range(12)]
    with start_cluster(tmp_path) as cluster:
        async with open_engine(cluster.url, clock) as engine:
            lines = LiveLines(engine)
            for room in rooms:
                await lines.settle(room, [settled(party(n)) for n in (1, 2)], turnover="1:2")
                await lines.settle(room, [settled(party(1, Status.CALLED, 2))])
            assert [(1, 1, "1:2")] * 12 == await lines.engine.line_counts(rooms)
            for room in rooms:
                contents = await lines.engine.line(room)
                assert {party(2).ticket: party(2).sort_key} == contents.waiting
                assert {party(1).ticket} == contents.called
                assert {party(1).ticket: 2, party(2).ticket: 1} == contents.revisions
