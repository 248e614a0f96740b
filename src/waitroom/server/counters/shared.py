"""The counters of all workers of a server: a scrape reaches any of them and sees the sum.

Workers share one port, and nobody can choose which of them answers. Each writes its numbers once a
second to a folder of its server:

    <name>.json   the numbers of one worker, replaced as a whole
        <name>.live   locked as long as that worker lives; the kernel releases it when it dies
    past.json     the sum of workers that are gone, and their names
        lock          held while a worker starts, reads or folds

A reader first folds dead workers into `past.json`. The names in it make that safe to repeat: if a
worker is killed between writing `past.json` and removing the file, nothing is counted twice. So
counters never decrease, and the folder does not grow.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import logging
import os
import resource
import secrets
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Self

import msgspec

from waitroom.server.counters.worker import Counters, Snapshot, add

log = logging.getLogger("waitroom.metrics")

WRITE_EVERY_S = 1.0
_ONLY_NOW = ("gauges",)
"""Families that mean nothing once their worker has ended."""


class _Past(msgspec.Struct):
    """What `past.json` holds."""

    numbers: Snapshot = {}
    names: list[str] = []


@dataclass(frozen=True, slots=True)
class Sum:
    """The numbers of all workers together, and how many of them are alive."""

    numbers: Snapshot
    workers: int
    loop_lag_s: float
    open_files: int
    """Of the worker that has most; each has the limit `most_files`."""

    most_files: int
    started_s: float
    """When the oldest worker started, as Unix time."""


def folder_of(data_dir: Path, port: int) -> Path:
    """Return where the workers of the server on `port` share their numbers."""
    return data_dir / "run" / str(port)


class SharedCounters:
    """Shares one worker's counters: `async with SharedCounters(folder, counters) as shared`.

    If the folder cannot be written, it says so once, and `read` answers for this worker alone.
    """

    def __init__(self, folder: Path, counters: Counters, *, every_s: float = WRITE_EVERY_S) -> None:
        self._folder = folder
        self._counters = counters
        self._every_s = every_s
        self._name = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._live: BinaryIO | None = None
        self._writer: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()
        self._stopping = asyncio.Event()
        self._late_s = 0.0
        self._started_s = time.time()
        self._open_files = 0

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Begin to write, once a second."""
        try:
            await asyncio.to_thread(self._open)
        except OSError as error:
            log.warning(
                "metrics are of one worker only: %s cannot be used: %s", self._folder, error
            )
        self._writer = asyncio.create_task(self._write_often())

    async def stop(self) -> None:
        """Write one last time, and release the lock, so that the others fold these counters."""
        self._stopping.set()
        if self._writer is not None:
            await self._writer
        if self._live is not None:
            await self.write()
            self._live.close()
            self._live = None

    async def write(self) -> None:
        """Write the current numbers."""
        async with self._writing:  # scrapes that come together would take each other's file away
            self._open_files = await asyncio.to_thread(open_files)
            if self._live is not None:
                path = self._folder / f"{self._name}.json"
                await asyncio.to_thread(_replace, path, self._mine())

    async def read(self) -> Sum:
        """Add up all workers, the dead included; this one as it is now."""
        try:
            await self.write()
            if self._live is None:
                return _sum([self._mine()])
            return await asyncio.to_thread(self._read)
        except (OSError, msgspec.MsgspecError) as error:
            log.warning("metrics are of one worker only: %s", error)
            return _sum([self._mine()])

    def _open(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _locked(self._folder / "lock"):  # else a reader might think us dead before we lock
            live = (self._folder / f"{self._name}.live").open("wb")
            fcntl.flock(live, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _replace(self._folder / f"{self._name}.json", self._mine())
        self._live = live

    async def _write_often(self) -> None:
        due = time.monotonic()
        while not self._stopping.is_set():
            due += self._every_s
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, due - time.monotonic())):
                    await self._stopping.wait()
                    return
            # How late a timer fires is how long a visitor's answer waits for the loop.
            self._late_s = max(0.0, time.monotonic() - due)
            due = max(due, time.monotonic() - self._every_s)
            try:
                await self.write()
            except OSError as error:  # a full disk must not end the loop
                log.warning("metrics were not written, trying again: %s", error)

    def _mine(self) -> Snapshot:
        numbers = self._counters.snapshot()
        numbers["gauges"]["loop_lag_s"] = [self._late_s]
        numbers["gauges"]["resident_bytes"] = [resident_bytes()]
        numbers["gauges"]["open_files"] = [self._open_files]
        numbers["gauges"]["most_files"] = [resource.getrlimit(resource.RLIMIT_NOFILE)[0]]
        numbers["gauges"]["started_s"] = [self._started_s]
        numbers["counters"]["cpu_s"] = [sum(os.times()[:2])]
        return numbers

    def _read(self) -> Sum:
        with _locked(self._folder / "lock"):
            past = self._fold()
            alive = [
                msgspec.json.decode(live.with_suffix(".json").read_bytes(), type=Snapshot)
                for live in self._folder.glob("*.live")
            ]
        return _sum(alive, past.numbers)

    def _fold(self) -> _Past:
        """Add dead workers to the past and remove their files; the caller holds the lock."""
        path = self._folder / "past.json"
        past = _Past()
        with contextlib.suppress(FileNotFoundError, msgspec.MsgspecError):
            past = msgspec.json.decode(path.read_bytes(), type=_Past)
        dead = [live.stem for live in self._folder.glob("*.live") if not _alive(live)]
        new = [name for name in dead if name not in past.names]
        for name in new:
            with contextlib.suppress(FileNotFoundError):  # died before it wrote anything
                numbers = (self._folder / f"{name}.json").read_bytes()
                add(past.numbers, msgspec.json.decode(numbers, type=Snapshot), skip=_ONLY_NOW)
        if new or past.names:
            past.names = dead
            _replace(path, past)
        for name in dead:
            for suffix in (
                ".json",
                ".new",
                ".live",
            ):  # `.live` last: without it the state is unknown
                (self._folder / f"{name}{suffix}").unlink(missing_ok=True)
        return past


def resident_bytes() -> int:
    """Return the memory that this process uses; 0 if the system does not say."""
    if sys.platform != "linux":
        return 0
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def open_files() -> int:
    """Return how many files, sockets and pipes this process has open; 0 where nobody says."""
    folder = Path("/proc/self/fd")
    if not folder.exists():
        return 0
    # Since Linux 6.2 the folder's size is their number; to list 20,000 takes a while.
    return folder.stat().st_size or sum(1 for _ in folder.iterdir())


def _sum(alive: list[Snapshot], past: Snapshot | None = None) -> Sum:
    total: Snapshot = {}
    add(total, past or {})
    for numbers in alive:
        add(total, numbers)

    def each(gauge: str) -> list[float]:
        # A worker of the version before, during a rolling restart, has not all of them.
        return [row[0] for numbers in alive if (row := numbers["gauges"].get(gauge))]

    return Sum(
        total,
        len(alive),
        loop_lag_s=max(each("loop_lag_s"), default=0.0),
        open_files=int(max(each("open_files"), default=0)),
        most_files=int(min(each("most_files"), default=0)),
        started_s=min(each("started_s"), default=0.0),
    )


def _replace(path: Path, content: object) -> None:
    """Write a file so that a reader sees either all of it or the previous one."""
    new = path.with_suffix(".new")
    new.write_bytes(msgspec.json.encode(content))
    new.replace(path)


def _alive(live: Path) -> bool:
    with contextlib.suppress(FileNotFoundError), live.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
