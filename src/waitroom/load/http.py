"""HTTP/1.1 on one persistent connection, with nothing hidden: each reply and failure is seen once.

`waitroom.client` retries by itself, which would hide what a load test has to count. A general HTTP
library costs several times the processor time that the server needs for its reply.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
import time
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from waitroom.load.target import Target

_MOST_BODY = 1 << 22


class Failed(Exception):
    """No reply came; the message is one word for the reason."""


class Reply(NamedTuple):
    """A reply, with the times of sending and arrival by the monotonic clock."""

    status: int
    body: bytes
    retry_after_s: float
    sent: float
    came: float

    def json(self) -> dict[str, Any]:
        """Return the JSON object in the body; empty if there is none."""
        try:
            document = json.loads(self.body)
        except ValueError:
            return {}
        return document if isinstance(document, dict) else {}


class Wire:
    """A connection that is opened when needed and kept as long as the server wants."""

    def __init__(self, target: Target, timeout_s: float = 10.0) -> None:
        self._target = target
        self._timeout_s = timeout_s
        self._base = f" {target.path}"
        self._host = f" HTTP/1.1\r\nhost: {target.authority}\r\naccept: application/json\r\n"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> Reply:
        """Send a request, and return its reply or raise `Failed`."""
        lines = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
        if body is not None:
            lines += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
        elif method == "POST":
            lines += "content-length: 0\r\n"
        data = f"{method}{self._base}{path}{self._host}{lines}\r\n".encode("latin-1")
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._exchange(data + (body or b""))
        except (TimeoutError, OSError, EOFError, ValueError, asyncio.LimitOverrunError) as error:
            self.close()
            raise Failed(_word(error)) from None
        except asyncio.CancelledError:
            self.close()  # the rest of the reply would be read as the next one
            raise

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def aclose(self) -> None:
        """Close the connection, and wait until it is closed."""
        if self._streams is not None:
            writer = self._streams[1]
            self.close()
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(1):
                    await writer.wait_closed()

    async def _exchange(self, data: bytes) -> Reply:
        kept = self._streams is not None
        sent = time.monotonic()
        try:
            return await self._read(sent, data)
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            # A server may close an idle connection just as we write: that is not a failure.
            partial = isinstance(error, asyncio.IncompleteReadError) and error.partial
            if not kept or partial:
                raise
            self.close()
            return await self._read(sent, data)

    async def _read(self, sent: float, data: bytes) -> Reply:
        if self._streams is None:
            self._streams = await self._open()
        reader, writer = self._streams
        writer.write(data)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        first, *lines = head[:-4].split("\r\n")
        headers = dict(line.partition(":")[::2] for line in lines)
        status = int(first.partition(" ")[2][:3])
        body = await self._body(reader, status, headers)
        came = time.monotonic()
        if "close" in headers.get("connection", ""):
            self.close()
        after = headers.get("retry-after", "").strip()
        return Reply(status, body, float(after) if after.isdecimal() else 0.0, sent, came)

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        target = self._target
        if not target.tls:
            return await asyncio.open_connection(target.address, target.port)
        return await asyncio.open_connection(
            target.address, target.port, ssl=_tls(), server_hostname=target.host
        )

    async def _body(
        self, reader: asyncio.StreamReader, status: int, headers: Mapping[str, str]
    ) -> bytes:
        if status in (204, 304):
            return b""
        if "chunked" in headers.get("transfer-encoding", ""):
            return await _chunks(reader)
        length = headers.get("content-length")
        if length is None:  # the body ends with the connection
            body = await reader.read(_MOST_BODY)
            self.close()
            return body
        return await reader.readexactly(_sized(int(length)))


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16):
        body += (await reader.readexactly(_sized(len(body) + size) - len(body) + 2))[:-2]
    await reader.readuntil(b"\r\n")
    return body


def _sized(length: int) -> int:
    if not 0 <= length <= _MOST_BODY:
        raise ValueError("the answer is too long")
    return length


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _word(error: Exception) -> str:
    """Return why there is no reply, in a word that can be counted."""
    if isinstance(error, TimeoutError):
        return "timeout"
    if isinstance(error, ssl.SSLError):
        return "tls"
    if isinstance(error, ConnectionRefusedError):
        return "refused"
    if isinstance(error, OSError | EOFError):
        return "connection_lost"
    return "no_http"
