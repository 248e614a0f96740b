"""issue: a batch of entry codes is noted, and the codes are written from its name."""

from __future__ import annotations

import json

import pytest

from tests.support.clock import Clock
from waitroom import entry_codes
from waitroom.engine import Engine, keys
from waitroom.entry_codes import MOST_CODES, MOST_USES, code_of
from waitroom.errors import InvalidInput, TooManyBatches, UnknownRoom
from waitroom.models import LONGEST_CODE_NOTE, CodeBatch, Policy

pytestmark = pytest.mark.every_kind


async def test_a_batch(engine: Engine, clock: Clock, room: str) -> None:
    """A batch has its codes, uses, note, maker and time; the room keeps no code of it."""
    await engine.create(room, Policy())
    made = await engine.issue(room, 3, uses=2, note="팬클럽", by="key:ops")
    assert CodeBatch(made.batch, 3, 2, "팬클럽", "key:ops", clock.now_us // 1000) == made
    assert (made,) == await engine.batches(room)
    codes = list(engine.codes(room, made))
    read = [entry_codes.read(engine.ring, room, code) for code in codes]
    assert [code_of(made.batch, n, 2) for n in range(3)] == read
    noted = await engine.backend.client.hgetall(keys.room_key(room, "batches"))
    assert [made.batch.encode()] == list(noted)
    assert not any(code.replace("-", "").encode() in noted[made.batch.encode()] for code in codes)


async def test_in_order(engine: Engine, clock: Clock, room: str) -> None:
    """Batches are listed in the order in which they were made."""
    await engine.create(room, Policy())
    made = []
    for note in ("first", "second", "third"):
        clock.step(1)
        made.append(await engine.issue(room, 1, note=note))
    assert tuple(made) == await engine.batches(room)


async def test_repeat(engine: Engine, room: str) -> None:
    """A repeat of the same call gets the same batch, so the same codes."""
    await engine.create(room, Policy())
    first = await engine.issue(room, 5, op_id="one")
    assert first == await engine.issue(room, 5, op_id="one")
    assert (first,) == await engine.batches(room)


async def test_a_name_that_is_taken(
    engine: Engine, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two batches never share a name: their codes would be the same."""
    await engine.create(room, Policy())
    names = iter(["K7Q2", "K7Q2", "9ABC"])
    monkeypatch.setattr(entry_codes, "new_batch", lambda: next(names))
    made = [(await engine.issue(room, 1)).batch for _ in range(2)]
    assert ["K7Q2", "9ABC"] == made


async def test_most_batches(engine: Engine, room: str) -> None:
    """A room holds a bounded number of batches."""
    await engine.create(room, Policy())
    batches = keys.room_key(room, "batches")
    record = json.dumps({"count": 1, "uses": 1, "note": "", "by": "", "made_ms": "1"})
    await engine.backend.client.hset(batches, mapping={f"X{n:03}": record for n in range(399)})
    await engine.issue(room, 1)
    with pytest.raises(TooManyBatches):
        await engine.issue(room, 1)
    assert 400 == len(await engine.batches(room))


async def test_rooms(engine: Engine, room: str) -> None:
    """A room that does not exist has no batches and gets none."""
    with pytest.raises(UnknownRoom):
        await engine.issue(room, 1)
    with pytest.raises(UnknownRoom):
        await engine.batches(room)
    await engine.create(room, Policy())
    assert () == await engine.batches(room)


async def test_after_a_loss(engine: Engine, clock: Clock, room: str) -> None:
    """A process that knows the batches brings them back with the room, and revoked ones revoked."""
    await engine.create(room, Policy())
    first = await engine.issue(room, 2, note="a")
    clock.step(1)
    second = await engine.issue(room, 2, note="b")
    revoked = await engine.revoke(room, first.batch)
    names = [keys.room_key(room, name) for name in keys.ROOM_KEYS]
    await engine.backend.client.delete(*names)
    assert (revoked, second) == await engine.batches(room)


@pytest.mark.parametrize(
    "bad",
    [
        {"count": 0},
        {"count": MOST_CODES + 1},
        {"count": 1, "uses": 0},
        {"count": 1, "uses": MOST_USES + 1},
        {"count": 1, "note": "x" * (LONGEST_CODE_NOTE + 1)},
        {"count": 1, "note": "two\nlines"},
    ],
)
async def test_bad_input(engine: Engine, room: str, bad: dict[str, int]) -> None:
    """Numbers out of range, and a note that is no line, are refused before the server is asked."""
    await engine.create(room, Policy())
    with pytest.raises(InvalidInput):
        await engine.issue(room, **bad)  # type: ignore[arg-type]
    assert () == await engine.batches(room)
