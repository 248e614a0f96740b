"""Background tasks start once and end with the process."""

from __future__ import annotations

import asyncio

from waitroom.server.rooms.background import Background


class Counting(Background):
    """Counts its turns."""

    turns = 0
    ended = False

    async def run(self) -> None:
        """Count until it is stopped."""
        try:
            while True:
                self.turns += 1
                await asyncio.sleep(0)
        finally:
            self.ended = True


async def test_it_runs_from_start_to_stop() -> None:
    """It continues by itself until its end; stopping what never started does nothing."""
    counting = Counting()
    await counting.stop()
    counting.start()
    for _ in range(5):
        await asyncio.sleep(0)
    await counting.stop()
    turns = counting.turns
    assert turns >= 3
    await asyncio.sleep(0)
    assert (True, turns) == (counting.ended, counting.turns)
