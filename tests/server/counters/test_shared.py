"""Counters of several workers: summed whoever is asked, and never going back."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from waitroom.server.counters.shared import SharedCounters, folder_of
from waitroom.server.counters.worker import Counters

Workers = Sequence[multiprocessing.process.BaseProcess]
_SPAWN = multiprocessing.get_context("spawn")


def _work(folder: Path, requests: int, ready: str) -> None:
    """Be a worker that counts some requests and lives until it is killed."""

    async def run() -> None:
        counters = Counters()
        async with SharedCounters(folder, counters, every_s=0.02) as shared:
            for _ in range(requests):
                counters.request("x", 200, 0.001)
            counters.streams_open = 1
            await shared.write()
            await asyncio.to_thread(Path(ready).touch)
            await asyncio.Event().wait()

    asyncio.run(run())


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Workers]:
    """Run three workers beside the test, which counted 10, 20 and 30 requests."""
    processes = []
    for n in (1, 2, 3):
        ready = str(tmp_path / f"ready{n}")
        processes.append(_SPAWN.Process(target=_work, args=(tmp_path / "run", 10 * n, ready)))
        processes[-1].start()
    deadline = time.monotonic() + 20
    while len([*tmp_path.glob("ready*")]) < 3:
        assert time.monotonic() < deadline, "workers did not start"
        time.sleep(0.01)
    yield processes
    for process in processes:
        process.kill()
        process.join()


async def _total(shared: SharedCounters) -> tuple[float, float, int]:
    total = await shared.read()
    requests = total.numbers["requests"].get("x 200", [0])
    return sum(requests[:-1]), total.numbers["gauges"]["streams_open"][0], total.workers


async def test_dead_workers_stay_counted(tmp_path: Path, workers: Workers) -> None:
    """A scrape sums all workers; of those killed the counters stay and the gauges go."""
    folder = tmp_path / "run"
    async with SharedCounters(folder, Counters()) as shared:
        assert (60, 3, 4) == await _total(shared)
        for left in (3, 2, 1):
            workers[left - 1].kill()
            workers[left - 1].join()
            assert (60, left - 1, left) == await _total(shared)
        assert (60, 0, 1) == await _total(shared)
    assert 1 == len([*folder.glob("*.live")])  # nobody reads any more, so the last one stays


async def test_a_kill_while_folding_counts_nobody_twice(tmp_path: Path, workers: Workers) -> None:
    """Files of the dead that are in `past.json` already are not added again."""
    folder = tmp_path / "run"
    workers[2].kill()
    workers[2].join()
    kept = {path: path.read_bytes() for path in folder.glob(f"{workers[2].pid}-*")}
    async with SharedCounters(folder, Counters()) as shared:
        assert 60 == (await _total(shared))[0]
        for path, content in kept.items():  # as if the one that folded had died before removing
            path.write_bytes(content)
        past = json.loads((folder / "past.json").read_bytes())
        assert [next(iter(kept)).stem] == past["names"]
        assert 60 == (await _total(shared))[0]
        assert 60 == (await _total(shared))[0]
        assert [] == [*folder.glob(f"{workers[2].pid}-*")]


async def test_a_stopped_worker_is_not_taken_for_dead(tmp_path: Path, workers: Workers) -> None:
    """A worker that hangs still holds its lock, so it is counted once and as alive."""
    pid = workers[0].pid
    assert pid
    os.kill(pid, signal.SIGSTOP)
    async with SharedCounters(tmp_path / "run", Counters()) as shared:
        assert (60, 3, 4) == await _total(shared)
    os.kill(pid, signal.SIGCONT)


async def test_concurrent_scrapes_agree_while_workers_die(tmp_path: Path, workers: Workers) -> None:
    """However scrapes and deaths fall together, the sum never goes back."""
    folder = tmp_path / "run"
    first, second = SharedCounters(folder, Counters()), SharedCounters(folder, Counters())
    async with first, second:
        for worker in (*workers, None):
            totals = await asyncio.gather(*(_total(shared) for shared in (first, second) * 20))
            assert {60} == {requests for requests, _, _ in totals}
            if worker:
                worker.kill()


async def test_a_folder_that_cannot_be_used_costs_only_the_sum(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Where nothing can be written, a worker says so and shows its own numbers."""
    (tmp_path / "file").touch()
    counters = Counters()
    counters.request("x", 200, 0.1)
    async with SharedCounters(tmp_path / "file" / "run", counters) as shared:
        assert (1, 0, 1) == await _total(shared)
    assert "one worker only" in caplog.text


def test_two_servers_in_one_folder_do_not_mix() -> None:
    """The folder is that of a port, so that two servers which share their data stay apart."""
    assert folder_of(Path("d"), 1) != folder_of(Path("d"), 2)
