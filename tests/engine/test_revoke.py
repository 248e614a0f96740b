"""revoke: nobody joins any more with the codes of a batch; whoever has a place keeps it."""

from __future__ import annotations

import pytest

from tests.support.clock import Clock
from waitroom.engine import Engine, keys
from waitroom.errors import CodeRefused, InvalidInput, UnknownBatch, UnknownRoom
from waitroom.models import Mode, Needs, Policy, State

pytestmark = pytest.mark.every_kind


async def test_revoked(engine: Engine, clock: Clock, room: str) -> None:
    """Codes of a revoked batch give no place; those of another batch still do."""
    await engine.create(room, Policy(mode=Mode.PAUSED, needs=Needs.CODE))
    bad, good = [await engine.issue(room, 1) for _ in range(2)]
    clock.step(5)
    revoked = await engine.revoke(room, bad.batch)
    assert clock.now_us // 1000 == revoked.revoked_ms
    with pytest.raises(CodeRefused) as refusal:
        await engine.join(room, code=next(engine.codes(room, bad)))
    assert "revoked" == refusal.value.reason
    assert 1 == (await engine.join(room, code=next(engine.codes(room, good)))).position


async def test_places_stay(engine: Engine, room: str) -> None:
    """Whoever joined with the code before keeps their place, and may repeat the join."""
    await engine.create(room, Policy(mode=Mode.PAUSED, needs=Needs.CODE))
    batch = await engine.issue(room, 1)
    code = next(engine.codes(room, batch))
    person = await engine.join(room, visitor="kim", code=code)
    await engine.revoke(room, batch.batch)
    assert 1 == (await engine.poll(room, person.ticket)).position
    assert 1 == (await engine.join(room, visitor="kim", code=code)).position


async def test_restored_place(engine: Engine, clock: Clock, room: str) -> None:
    """Nobody who was dropped for silence loses their place by a revocation."""
    await engine.create(room, Policy(mode=Mode.PAUSED, needs=Needs.CODE, presence_s=10))
    batch = await engine.issue(room, 1)
    person = await engine.join(room, code=next(engine.codes(room, batch)))
    for _ in range(4):
        clock.step(4)
        await engine.advance(room)
    assert 0 == (await engine.stats(room)).waiting
    await engine.revoke(room, batch.batch)
    assert State.WAITING is (await engine.poll(room, person.ticket)).state


async def test_twice(engine: Engine, clock: Clock, room: str) -> None:
    """The first revocation counts; a second changes nothing."""
    await engine.create(room, Policy())
    batch = await engine.issue(room, 1)
    first = await engine.revoke(room, batch.batch.lower())
    rev = engine._runner.memory(room).rev
    clock.step(5)
    assert (first, rev) == (
        await engine.revoke(room, batch.batch),
        engine._runner.memory(room).rev,
    )


async def test_unknown(engine: Engine, room: str) -> None:
    """An unknown batch is an error, unless it is forced: a loss may have forgotten it."""
    with pytest.raises(UnknownRoom):
        await engine.revoke(room, "K7Q2")
    await engine.create(room, Policy())
    with pytest.raises(UnknownBatch):
        await engine.revoke(room, "K7Q2")
    assert 0 == await engine.backend.client.exists(keys.room_key(room, "batches"))
    batch = await engine.revoke(room, "K7Q2", force=True)
    assert ("K7Q2", 0, None) == (batch.batch, batch.count, batch.made_ms)
    assert (batch,) == await engine.batches(room)


@pytest.mark.parametrize("bad", ["", "K7Q", "K7Q2A", "K7U2", "코드코드"])
async def test_bad_input(engine: Engine, room: str, bad: str) -> None:
    """What cannot be a batch is refused before the server is asked."""
    await engine.create(room, Policy())
    with pytest.raises(InvalidInput):
        await engine.revoke(room, bad)
