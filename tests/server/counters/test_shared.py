"""Counters of several workers: summed whichever is asked, and never going back."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import multiprocessing
import os
import resource
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
    """Act as a worker that counts some requests and lives until it is killed."""

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
    """Run three workers beside the test, which have counted 10, 20 and 30 requests."""
    processes = []
    for n in (1, 2, 3):
        ready = str(tmp_path / f"ready{n}")
        processes.append(_SPAWN.Process(target=_work, args=(tmp_path / "run", 10 * n, ready)))
        processes[-1].start()
    deadline = time.monotonic() + 120
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
    """A scrape sums all workers; after a kill the counters stay and the gauges go."""
    folder = tmp_path / "run"
    async with SharedCounters(folder, Counters()) as shared:
        assert (60, 3, 4) == await _total(shared)
        for left in (3, 2, 1):
            workers[left - 1].kill()
            workers[left - 1].join()
            assert (60, left - 1, left) == await _total(shared)
        assert (60, 0, 1) == await _total(shared)
    assert 1 == len([*folder.glob("*.live")])  # nobody reads after it, so the last one stays


async def test_a_kill_while_folding_counts_nobody_twice(tmp_path: Path, workers: Workers) -> None:
    """Files of dead workers that are already in `past.json` are not added again."""
    folder = tmp_path / "run"
    workers[2].kill()
    workers[2].join()
    kept = {path: path.read_bytes() for path in folder.glob(f"{workers[2].pid}-*")}
    async with SharedCounters(folder, Counters()) as shared:
        assert 60 == (await _total(shared))[0]
        for path, content in kept.items():  # as if the folding worker had died before removing
            path.write_bytes(content)
        past = json.loads((folder / "past.json").read_bytes())
        assert [next(iter(kept)).stem] == past["names"]
        assert 60 == (await _total(shared))[0]
        assert 60 == (await _total(shared))[0]
        assert [] == [*folder.glob(f"{workers[2].pid}-*")]


async def test_a_stopped_worker_is_not_taken_for_dead(tmp_path: Path, workers: Workers) -> None:
    """A worker that hangs still holds its lock, so it is counted once, and as alive."""
    pid = workers[0].pid
    assert pid
    os.kill(pid, signal.SIGSTOP)
    async with SharedCounters(tmp_path / "run", Counters()) as shared:
        assert (60, 3, 4) == await _total(shared)
    os.kill(pid, signal.SIGCONT)


async def test_concurrent_scrapes_agree_while_workers_die(tmp_path: Path, workers: Workers) -> None:
    """However scrapes and deaths coincide, the sum never goes back."""
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
    """If nothing can be written, a worker says so and shows its own numbers."""
    (tmp_path / "file").touch()
    counters = Counters()
    counters.request("x", 200, 0.1)
    async with SharedCounters(tmp_path / "file" / "run", counters) as shared:
        assert (1, 0, 1) == await _total(shared)
    assert "one worker only" in caplog.text


def test_two_servers_in_one_folder_do_not_mix() -> None:
    """The folder belongs to a port, so that two servers that share their data stay apart."""
    assert folder_of(Path("d"), 1) != folder_of(Path("d"), 2)


@contextlib.contextmanager
def another(folder: Path, **gauges: list[float] | None) -> Iterator[None]:
    """Act as a second live worker: it wrote what the first did, except for some gauges."""
    numbers = json.loads(next(folder.glob("*-*.json")).read_bytes())
    numbers["gauges"] |= gauges
    numbers["gauges"] = {name: row for name, row in numbers["gauges"].items() if row is not None}
    (folder / "1-other.json").write_text(json.dumps(numbers), "utf-8")
    with (folder / "1-other.live").open("wb") as live:
        fcntl.flock(live, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def open_files(number: int) -> Iterator[None]:
    """Open this many more files."""
    with contextlib.ExitStack() as files:
        for _ in range(number):
            files.enter_context(Path(os.devnull).open("rb"))
        yield


async def test_the_files_of_the_busiest_worker_are_shown(tmp_path: Path) -> None:
    """Limits are per worker, so the worker with the most open files and the lowest limit count."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with SharedCounters(tmp_path, Counters()) as shared:
        before = await shared.read()
        with open_files(20):
            busy = await shared.read()
        with another(tmp_path, open_files=[10**6], most_files=[7], started_s=[5.0]):
            both = await shared.read()
    assert 20 == busy.open_files - before.open_files
    assert (soft, before.started_s) == (before.most_files, busy.started_s)
    assert (2, 10**6) == (both.workers, both.open_files)
    assert (7, 5.0) == (both.most_files, both.started_s)


async def test_a_worker_of_the_version_before_is_added_up(tmp_path: Path) -> None:
    """During a rolling restart, a worker that writes fewer numbers breaks no scrape."""
    async with SharedCounters(tmp_path, Counters()) as shared:
        with another(tmp_path, open_files=None, most_files=None, started_s=None):
            both = await shared.read()
    assert 2 == both.workers
    assert both.open_files > 0
