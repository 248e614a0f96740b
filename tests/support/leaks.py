"""What a test leaves behind: processes, threads, tasks. A leak fails the test that caused it.

Fixtures that live longer than one test may start things; those are known and exempt.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

_KEPT = ("resource_tracker", "forkserver")
"""Helpers of multiprocessing that stay by design, one per process."""

_EXECUTORS = ("asyncio_", "AnyIO worker")
"""Threads of an event loop, which ends them; the loop of the browser tests lives long."""


def children() -> set[int]:
    """Return the pids of our children, including those that ended but were not waited for."""
    tasks = Path("/proc/self/task")
    if not tasks.exists():  # not Linux
        return set()
    pids: set[int] = set()
    for task in tasks.iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended
            pids.update(map(int, (task / "children").read_text().split()))
    return pids


def command_of(pid: int) -> str:
    """Return the command line of a process; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


class Watch:
    """Knows what existed before a test, and what fixtures with a wider scope have started."""

    def __init__(self) -> None:
        self._known_children = children()
        self._known_threads = set(threading.enumerate())

    def accept(self) -> None:
        """Accept everything that exists now."""
        self._known_children |= children()
        self._known_threads |= set(threading.enumerate())

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object]
    ) -> Generator[None, object, object]:
        """Accept what a fixture starts if it outlives a test."""
        value = yield
        if fixturedef.scope != "function":
            self.accept()
        return value

    def hand_on(self, old: int, new: int) -> None:
        """Accept a process if the one that it replaces was accepted."""
        if old in self._known_children:
            self._known_children.add(new)

    def left(self) -> list[str]:
        """Return what is new, in words."""
        processes = {pid: command_of(pid) for pid in children() - self._known_children}
        threads = set(threading.enumerate()) - self._known_threads
        return [
            f"process {pid}: {command or 'ended, but nobody waited for it'}"
            for pid, command in processes.items()
            if not any(word in command for word in _KEPT)
        ] + [
            f"thread {thread.name}"
            for thread in threads
            if not thread.daemon and not thread.name.startswith(_EXECUTORS)
        ]


WATCH = Watch()
"""The leak detector of this process."""
