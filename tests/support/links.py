"""A TCP link to a server that can be slowed, cut and mended while something uses it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.support.clients import HOST


@dataclass(slots=True)
class Link:
    """Carries connections to a port; `hangs` holds back replies, `gone` closes everything.

    Replies arrive `delay_s` late. `asked` counts the requests, or the connections while nobody
    listens. It runs in its own thread.
    """

    target: int
    port: int = 0
    delay_s: float = 0.0
    hangs: bool = False
    gone: bool = False
    asked: int = 0
    ready: threading.Event = field(default_factory=threading.Event)
    _open: set[asyncio.StreamWriter] = field(default_factory=set)
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _end: asyncio.Event = field(default_factory=asyncio.Event)

    def cut(self, *, hangs: bool) -> None:
        """Cut the link: replies no longer arrive, or nobody listens."""
        self.hangs, self.gone = hangs, not hangs
        if self.gone:
            self._loop.call_soon_threadsafe(self._drop)

    def mend(self) -> None:
        """Undo the cut; what was held back is lost."""
        self.hangs = self.gone = False
        self._loop.call_soon_threadsafe(self._drop)

    def _drop(self) -> None:
        for writer in self._open:
            writer.transport.abort()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends = [writer]
        try:
            if self.gone:
                self.asked += 1
                return
            upstream, ahead = await asyncio.open_connection(HOST, self.target)
            ends.append(ahead)
            self._open.update(ends)
            await asyncio.gather(self._copy(reader, ahead), self._copy(upstream, writer, back=True))
        except OSError:  # nobody listens there
            return
        finally:  # even if the link itself ends
            for end in ends:
                end.transport.abort()
                self._open.discard(end)

    async def _copy(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, back: bool = False
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                self.asked += not back
                if back and self.delay_s:
                    await asyncio.sleep(self.delay_s)
                if not (back and self.hangs):
                    writer.write(data)
                    await writer.drain()
        if not (back and self.hangs):  # the end of an answer is held back too
            writer.transport.abort()

    async def _run(self) -> None:
        listener = await asyncio.start_server(self._carry, HOST, 0)
        self.port = int(listener.sockets[0].getsockname()[1])
        self.ready.set()
        await self._end.wait()
        listener.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


@contextlib.contextmanager
def linked(target: int) -> Iterator[Link]:
    """Run a link to a port."""
    link = Link(target)
    thread = threading.Thread(
        target=link._loop.run_until_complete, args=(link._run(),), daemon=True
    )
    thread.start()
    assert link.ready.wait(5)
    try:
        yield link
    finally:
        link._loop.call_soon_threadsafe(link._end.set)
        thread.join(8)
        link._loop.close()
