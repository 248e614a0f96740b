"""The pipelined connection of a rehearsal: answers in order, read as the engine reads them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.clock import SECRET
from waitroom.engine import Engine, EnteredTicket, JoinedTicket, Pipeline, Polled
from waitroom.engine.connection.embedded import EmbeddedServer
from waitroom.errors import BackendUnavailable
from waitroom.models import Mode, Policy
from waitroom.tickets import KeyRing

ROOM = "rehearsal"
IDS = [f"{number:016d}" for number in range(1_200)]


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[EmbeddedServer]:
    """Run a private server without persistence."""
    async with EmbeddedServer(tmp_path, durable=False) as server:
        yield server


@pytest.fixture
async def engine(server: EmbeddedServer) -> AsyncIterator[Engine]:
    """Connect, and make a room in which nobody is called automatically."""
    async with await Engine.connect(server.url, server.data_dir, KeyRing([SECRET])) as engine:
        await engine.create(ROOM, Policy(mode=Mode.MANUAL))
        yield engine


@pytest.fixture
async def pipeline(engine: Engine, server: EmbeddedServer) -> AsyncIterator[Pipeline]:
    """Open a pipeline."""
    async with engine.pipeline(ROOM, server.socket) as pipeline:
        yield pipeline


async def joined(pipeline: Pipeline, ids: list[str], *, restore: bool = False) -> list[int]:
    """Join tickets; return their places."""
    tickets: list[JoinedTicket] = []
    await pipeline.join([(ticket_id, 0) for ticket_id in ids], tickets.extend, restore=restore)
    await pipeline.settle()
    return [ticket.place for ticket in tickets]


async def test_a_visit(engine: Engine, pipeline: Pipeline, server: EmbeddedServer) -> None:
    """People join, poll, enter and finish; the engine sees the same room, nothing is on disk."""
    places = await joined(pipeline, IDS[:3])
    polls: list[list[int]] = []
    await pipeline.poll(IDS[:3], places, lambda reply: polls.append([*reply.positions]))
    await pipeline.settle()
    assert [[1, 2, 3]] == polls
    assert 1 == await engine.admit(ROOM, 1)
    words: list[str] = []
    elsewhere: list[str] = []

    def heard(reply: Polled) -> None:
        elsewhere.extend(ticket.word for ticket in reply.elsewhere)

    def went(tickets: object) -> None:
        assert isinstance(tickets, list)
        assert all(isinstance(ticket, EnteredTicket) for ticket in tickets)
        words.extend(ticket.word for ticket in tickets)

    await pipeline.poll(IDS[:3], places, heard)
    await pipeline.enter([*zip(IDS[:2], places, strict=False)], went)
    await pipeline.finish(IDS[:2], words.extend)
    await pipeline.leave([(IDS[2], places[2])])
    await pipeline.settle()
    assert (["called"], ["inside", "waiting", "finished", "session_over"]) == (elsewhere, words[:4])
    stats = await engine.stats(ROOM)
    assert (1, 0, 1) == (stats.waiting, stats.inside, stats.counters["left"])
    assert not (server.data_dir / "appendonlydir").exists()


async def test_answers_come_in_order(engine: Engine, pipeline: Pipeline) -> None:
    """However many calls are packed together, each answer belongs to its own ticket."""
    places = await joined(pipeline, IDS[:300])
    assert sorted(places) == places
    assert 300 == await engine.admit(ROOM, 300)
    words: list[str] = []
    inside = [*zip(IDS[:300], places, strict=True)]
    await pipeline.enter(inside[::2], lambda _: None)
    await pipeline.finish(IDS, words.extend)
    await pipeline.settle()
    assert [0] * 150 == [number % 2 for number, word in enumerate(words) if word == "finished"]
    assert len(IDS) == len(words)


async def test_a_loss(engine: Engine, pipeline: Pipeline) -> None:
    """After a flush the tickets bring people back to their places."""
    places = await joined(pipeline, IDS[:2])
    await pipeline.flush()
    await engine.advance(ROOM)
    tickets: list[JoinedTicket] = []
    back = [*zip(IDS[:2], places, strict=True)]
    await pipeline.join(back[1:], tickets.extend, restore=True)
    await pipeline.join(back[:1], tickets.extend, restore=True)
    await pipeline.settle()
    assert [places[1], places[0]] == [ticket.place for ticket in tickets]


async def test_the_end_of_the_server(pipeline: Pipeline, server: EmbeddedServer) -> None:
    """A rehearsal whose server ends has failed, and says so."""
    await server.stop()
    with pytest.raises((BackendUnavailable, ConnectionError)):
        async with asyncio.timeout(10):
            await joined(pipeline, IDS[:1])
