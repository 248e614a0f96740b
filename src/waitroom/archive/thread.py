"""Reads archives for pages in a thread, one at a time, while visitors are served."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from waitroom.errors import Busy

_MOST_PENDING = 4
T = TypeVar("T")


class ArchiveThread:
    """Does one thing at a time; only a few may wait."""

    def __init__(self, name: str) -> None:
        self._threads = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._pending = 0

    async def run(self, work: Callable[[], T]) -> T:
        """Return what `work` returns in the thread; Busy if too many wait already."""
        if self._pending >= _MOST_PENDING:
            raise Busy
        self._pending += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._pending -= 1
