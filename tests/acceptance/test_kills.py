"""Processes and servers die by `kill -9` during admission: nobody is worse off."""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance import checks
from tests.acceptance.tools import Log, everybody, finished, read_notes, start_worker, workers
from tests.acceptance.visitors import READY, Plan, start_signal, visit
from tests.support.clock import open_engine
from tests.support.counts import count
from tests.support.figures import say
from tests.support.servers import start_server
from waitroom.engine import Engine
from waitroom.engine.keys import room_key
from waitroom.errors import Unavailable
from waitroom.models import Policy

ROOM = "killed"
POLICY = Policy(capacity=150, session_s=0.3, enter_within_s=0.4)


@pytest.fixture
def in_memory(tmp_path: Path) -> Iterator[Path]:
    """A folder with immediate fsync: a slow disk may hold back an acknowledged write."""
    shm = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
    if not shm.is_dir():
        yield tmp_path / "s"
        return
    with tempfile.TemporaryDirectory(dir=shm) as folder:
        yield Path(folder)


def _plan(url: str, folder: Path, number: int, seconds: float, outages: bool = False) -> Plan:
    return Plan(
        url=url,
        room=ROOM,
        notes=folder / f"{number:03}.notes",
        seed=number,
        seconds=seconds,
        crowd=80,
        enter_within_s=0.4,
        stay_s=0.1,
        outages=outages,
    )


def _in_flight(notes: Path) -> int:
    """Return how many calls a worker had under way when it died."""
    rounds = [note for note in _read(notes) if note["op"] in ("round", "rest")]
    return int(rounds[-1].get("in_flight", 0)) if rounds else 0


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


async def _judge(engine: Engine, log: Log, folder: Path) -> tuple[int, int]:
    """Nobody is lost, called twice or doubled, nothing torn; return the joins and calls judged."""
    client: Any = engine.backend.client
    states = await everybody(client, ROOM)
    await log.catch_up()
    joins = [note for note in read_notes(folder) if note["op"] == "join"]
    places = {note["id"]: note["place"] for note in joins}
    called = checks.called_ids(log.events)
    result = checks.replay(log.events, 300, 400)
    assert [] == checks.lost(places, log.events, *states.values())
    assert [] == checks.twice(called)
    assert [] == result.wrong
    assert result.peak <= 150
    assert [] == checks.in_two_states(**states)
    # A join whose process died before acknowledging it has a place too; only the room knows.
    assert [] == checks.overtaken(
        [ticket_id for ticket_id in called if ticket_id in places], places
    )
    torn = {ticket_id.decode() for ticket_id in await client.hkeys(room_key(ROOM, "sids"))}
    assert torn == set(states["inside"])
    torn = {ticket_id.decode() for ticket_id in await client.hkeys(room_key(ROOM, "seen"))}
    assert torn == set(states["waiting"])
    return len(joins), len(called)


async def _ready(client: Any, running: list[BaseProcess], workers: int) -> None:
    """Wait until the newest worker is working."""
    for _ in range(12_000):
        assert running[-1].is_alive(), f"a worker ended with {running[-1].exitcode}"
        if int(await client.get(READY)) >= workers:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("a worker did not start")


async def test_workers_killed_during_admission(tmp_path: Path) -> None:
    """Worker `kill -9` during admission: 0 lost, 0 twice."""
    kills, hits, in_flight = count("worker_kills"), 0, 0
    draw = random.Random(5)
    with start_server("valkey", tmp_path / "s") as server:
        async with open_engine(server.url) as engine:
            client: Any = engine.backend.client
            await engine.create(ROOM, POLICY)
            log = Log(client, ROOM)
            plans = [_plan(server.url, tmp_path, number, 600) for number in range(kills + 2)]
            with workers(visit, (plans[0],), (plans[1],)) as running:
                await start_signal(client, 2)
                async with log.follow():
                    for kill in range(kills):
                        running.append(start_worker(visit, plans[kill + 2]))
                        await _ready(client, running, kill + 3)
                        await asyncio.sleep(0.05 + 0.2 * draw.random())
                        running[kill].kill()
                        running[kill].join()
                        lost = _in_flight(plans[kill].notes)
                        hits, in_flight = hits + (lost > 0), in_flight + lost
                    for process in running:
                        process.kill()
                        process.join()
            joined, called = await _judge(engine, log, tmp_path)
    say(f"{kills} kills, {hits} hit {in_flight} calls in flight; {joined} joins, {called} calls")
    assert hits > 0
    assert called > kills


async def test_server_killed_under_load(in_memory: Path, tmp_path: Path) -> None:
    """Server `kill -9` with AOF: acknowledged joins are there, nothing is torn, it comes back."""
    kills, slowest, hit = count("server_kills"), 0.0, 0
    with start_server("valkey", in_memory, aof=True, appendfsync="everysec") as server:
        async with open_engine(server.url) as engine:
            client: Any = engine.backend.client
            await engine.create(ROOM, POLICY)
            log = Log(client, ROOM)
            plans = [(_plan(server.url, tmp_path, n, kills * 0.9 + 0.5, True),) for n in range(3)]
            with workers(visit, *plans) as running:
                await start_signal(client, 3)
                for _ in range(kills):
                    await asyncio.sleep(0.5)
                    await log.catch_up()
                    acknowledged = [n["id"] for n in read_notes(tmp_path) if n["op"] == "join"]
                    server.kill()
                    hit += sum(_in_flight(plan.notes) for (plan,) in plans)
                    began = time.monotonic()
                    server.restart()
                    await _answers(engine)
                    slowest = max(slowest, time.monotonic() - began)
                    states = await everybody(client, ROOM)
                    await log.catch_up()
                    assert [] == checks.lost(acknowledged, log.events, *states.values())
                await finished(running, 60)
            joined, called = await _judge(engine, log, tmp_path)
    ends = [note for note in read_notes(tmp_path) if note["op"] == "end"]
    seen = sum(note["unavailable"] for note in ends)
    say(
        f"{kills} kills of the server hit {hit} calls in flight, {seen} got an error, the others "
        f"were repeated; back after {slowest:.2f} s; {joined} joins, {called} calls judged"
    )
    assert hit > 0
    assert called > kills


async def _answers(engine: Engine) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            await engine.advance(ROOM)
            return
        except Unavailable:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.02)
