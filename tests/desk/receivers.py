"""A store's own webhook receiver, for tests: real HTTP on loopback, with the given answers."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError

from waitroom.desk.notify.webhook import standard


@dataclass
class Got:
    """One request, as received."""

    headers: dict[str, str]
    body: bytes

    @property
    def notice(self) -> dict[str, Any]:
        """The parsed body."""
        message: dict[str, Any] = json.loads(self.body)
        assert f"party.{message['data']['kind']}" == message["type"]
        notice: dict[str, Any] = message["data"]
        return notice

    def signed_with(self, secret: str) -> bool:
        """Tell whether the signature is valid."""
        try:
            Webhook(standard(secret)).verify(self.body, self.headers)
        except WebhookVerificationError:
            return False
        return True


@dataclass
class Receiver:
    """Takes notices. `answers` are statuses of the next ones; None hangs, then 200 for the rest."""

    port: int = 0
    answers: list[int | None] = field(default_factory=list)
    headers: str = ""
    got: list[Got] = field(default_factory=list)
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _hangs: set[asyncio.StreamWriter] = field(default_factory=set)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}/hook"

    def kinds(self) -> list[tuple[str, int]]:
        """Return what was told, as (kind, number)."""
        return [(delivery.notice["kind"], delivery.notice["number"]) for delivery in self.got]

    async def until(self, count: int, within_s: float = 60) -> list[Got]:
        """Wait until this many arrived."""
        async with asyncio.timeout(within_s):
            while len(self.got) < count:
                self._news.clear()
                await self._news.wait()
        return self.got

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take one request per connection."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        pairs = (line.split(": ", 1) for line in head[1:] if line)
        headers = {name.lower(): value for name, value in pairs}
        body = await reader.readexactly(int(headers["content-length"]))
        self.got.append(Got(headers, body))
        status = self.answers.pop(0) if self.answers else 200
        self._news.set()
        if status is None:
            self._hangs.add(writer)
            return
        writer.write(f"HTTP/1.1 {status} X\r\n{self.headers}content-length: 0\r\n\r\n".encode())
        await writer.drain()
        writer.close()


@asynccontextmanager
async def receiving(
    receiver: Receiver | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Receiver]:
    """Run a receiver, at its own port if it has one."""
    made = receiver or Receiver()
    server = await asyncio.start_server(made.serve, "127.0.0.1", made.port, ssl=tls)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        for writer in made._hangs:
            writer.close()
