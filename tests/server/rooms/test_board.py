"""Boards: what a process knows about its rooms, read once for many, and renewed."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator

import pytest

from tests.support.clock import Clock, crowd, open_engine
from tests.support.servers import Server as Backend
from waitroom.engine import Engine
from waitroom.errors import UnknownRoom
from waitroom.models import Policy
from waitroom.server.rooms import board as module
from waitroom.server.rooms.board import Boards


@pytest.fixture
async def engine(valkey: Backend, clock: Clock) -> AsyncIterator[Engine]:
    """Connect an engine whose time is the test's."""
    async with open_engine(valkey.url, clock) as engine:
        yield engine


@pytest.fixture
def room() -> str:
    """Return a room name that no other test has."""
    return f"board-{secrets.token_hex(6)}"


async def test_many_share_the_making(engine: Engine, room: str) -> None:
    """A hundred concurrent requests for a new room get one board, from one query."""
    await engine.create(room, Policy(capacity=2))
    asked: list[str] = []
    engine.on_script(lambda verb, _seconds, _items: asked.append(verb))
    boards = Boards(engine)
    made = await asyncio.gather(*(boards.get(room) for _ in range(100)))
    assert {id(boards.known[room])} == {id(board) for board in made}
    assert 1 == asked.count("stats")


async def test_a_renewed_board_says_what_changed(engine: Engine, room: str) -> None:
    """It has the current counts and policy, and when the policy was changed."""
    await engine.create(room, Policy(mode="paused"))  # type: ignore[arg-type]
    boards = Boards(engine)
    board = await boards.get(room)
    assert (0, None) == (board.stats.waiting, board.changed_at_ms)
    await crowd(engine, room, 3)
    await engine.configure(room, title="Concert")
    assert board is await boards.renew(room)
    assert (3, "Concert") == (board.stats.waiting, board.policy.title)
    assert board.stats.now_ms == board.changed_at_ms


async def test_what_happened_while_nobody_looked(engine: Engine, room: str, clock: Clock) -> None:
    """A board that was not renewed for long reads the samples that it missed."""
    await engine.create(room, Policy(mode="paused"))  # type: ignore[arg-type]
    boards = Boards(engine)
    board = await boards.get(room)
    await crowd(engine, room, 3)
    for _ in range(3):
        clock.step(60)
        await engine.sample(room)
    board.fresh_at -= 2 * module.FORGET_S
    await boards.renew(room)
    assert [3, 3, 3] == [sample.waiting for sample in board.samples]


async def test_a_room_that_is_not_there(engine: Engine, room: str) -> None:
    """A room that does not exist has no board, and a dropped room loses its own."""
    boards = Boards(engine)
    with pytest.raises(UnknownRoom):
        await boards.get(room)
    assert {} == boards.known
    await engine.create(room, Policy(capacity=2))
    await boards.get(room)
    boards.forget(room)
    assert {} == boards.known


async def test_the_longest_unused_makes_way(
    engine: Engine, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many rooms are asked for, a process keeps a bounded number of boards."""
    monkeypatch.setattr(module, "_MOST_BOARDS", 2)
    boards, names = Boards(engine), [f"{room}-{n}" for n in range(3)]
    for name in names:
        await engine.create(name, Policy(capacity=2))
    await boards.get(names[0])
    await boards.get(names[1])
    boards.want(names[0])
    await boards.get(names[2])
    assert {names[0], names[2]} == set(boards.known)


async def test_what_newcomers_are_told(engine: Engine, room: str) -> None:
    """History records what the board says; if nobody waits, no estimate is asked for."""
    await engine.create(room, Policy(batch=1, every_s=60, eta="batch"))  # type: ignore[arg-type]
    boards = Boards(engine)
    assert None is await boards.told_s(room, 0)
    assert {} == boards.known
    await crowd(engine, room, 4)
    told_s = await boards.told_s(room, 3)
    wait = (await boards.get(room)).wait(4)
    assert wait is not None
    assert wait.likely == told_s
    await engine.configure(room, mode="paused")
    await boards.renew(room)
    assert None is await boards.told_s(room, 3)
