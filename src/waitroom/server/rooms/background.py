"""What runs beside the requests of a process, from its start to its end."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod


class Background(ABC):
    """A loop that begins with `start` and ends with `stop`."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.create_task(self.run())

    async def stop(self) -> None:
        """Stop; give up on what is under way."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=1)

    @abstractmethod
    async def run(self) -> None:
        """Run until it is cancelled."""
