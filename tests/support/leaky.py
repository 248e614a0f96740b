"""Tests that leave something behind, each followed by one that must not be blamed for it.

Its name keeps this file out of a normal run; `test_leaks.py` runs it.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

PROCESSES: list[subprocess.Popen[bytes]] = []
TASKS: list[asyncio.Task[bool]] = []
OVER = threading.Event()


def teardown_module() -> None:
    """End everything, once it has been noticed."""
    OVER.set()
    for process in PROCESSES:
        process.communicate()


def test_a_process() -> None:
    """Start a process and forget it."""
    PROCESSES.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))


def test_a_thread() -> None:
    """Start a thread and forget it."""
    threading.Thread(target=OVER.wait, name="forgotten").start()


async def test_a_task() -> None:
    """Start a task and forget it."""
    TASKS.append(asyncio.create_task(asyncio.Event().wait()))


async def test_a_connection() -> None:
    """Open a connection, and drop it where only the garbage collector finds it."""
    listener = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    async with listener:
        cycle: list[object] = [await asyncio.open_connection(*listener.sockets[0].getsockname())]
        cycle.append(cycle)


def test_nothing() -> None:
    """Leave nothing."""
