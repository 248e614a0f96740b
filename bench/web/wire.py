"""The least that an HTTP answer costs in Python: uvloop, httptools, one constant body.

It takes its port as the argument and its body from `WIRE_BODY`; it checks and limits nothing.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import cast

import httptools
import uvloop

BODY = os.environ.get("WIRE_BODY", "{}").encode()
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (
    len(BODY),
    BODY,
)


class Wire(asyncio.Protocol):
    """One connection: parses requests, and answers each with the same bytes."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass
        self._parser: httptools.HttpRequestParser | None = httptools.HttpRequestParser(self)

    def data_received(self, data: bytes) -> None:
        """Read requests."""
        if self._parser is not None:
            self._parser.feed_data(data)

    def on_message_complete(self) -> None:
        """Answer a request."""
        self._transport.write(ANSWER)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Break the reference cycle with the parser, which holds our methods."""
        self._parser = None


async def serve(port: int) -> None:
    """Answer anything until the process is ended."""
    server = await asyncio.get_running_loop().create_server(Wire, "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1])))
