"""Clients for tests of the server: HTTP over a plain socket, and live events.

Nothing stands between the test and the wire. Some of these tests are about exactly what a client
library would correct, hide or refuse to send.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer as received: headers in lower case, in order; the client measures `took_s`."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    took_s: float = 0.0

    def header(self, name: str) -> str | None:
        """Return the first header with a name."""
        return next((value for key, value in self.headers if key == name), None)

    def all(self, name: str) -> list[str]:
        """Return all headers with a name."""
        return [value for key, value in self.headers if key == name]

    def json(self) -> Any:
        """Return the body, decoded."""
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The error code of a problem document."""
        assert "application/problem+json" == self.header("content-type"), self
        body = self.json()
        assert (self.status, f"/docs/errors#{body['code']}") == (body["status"], body["type"])
        return str(body["code"])


def request(
    method: str,
    path: str | bytes,
    headers: Mapping[str, str | bytes] | None = None,
    body: bytes | None = None,
    *,
    close: bool = True,
) -> bytes:
    """Return a request as bytes, without checking or quoting anything."""
    lines = [method.encode() + b" " + _raw(path) + b" HTTP/1.1", b"Host: waitroom.test"]
    lines += [name.encode() + b": " + _raw(value) for name, value in (headers or {}).items()]
    if close:
        lines.append(b"Connection: close")
    if body is not None:
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + (body or b"")


def ask(port: int, data: bytes, timeout_s: float = 60.0) -> Reply:
    """Send bytes on a new connection, and read the answer until the server closes it."""
    began = time.monotonic()
    with socket.create_connection((HOST, port), timeout_s) as connection:
        with contextlib.suppress(ConnectionError):  # it may refuse before everything is sent
            connection.sendall(data)
        got = bytearray()
        with contextlib.suppress(ConnectionError):
            while more := connection.recv(65_536):
                got += more
    return parse(bytes(got), time.monotonic() - began)


def parse(data: bytes, took_s: float = 0.0) -> Reply:
    """Read one complete answer."""
    head, separator, body = data.partition(b"\r\n\r\n")
    assert separator, f"no answer: {data[:200]!r}"
    status, headers = _head(head)
    if ("transfer-encoding", "chunked") in headers:
        body = _unchunked(body)
    length = next((value for name, value in headers if name == "content-length"), None)
    if length is not None:
        body = body[: int(length)]  # an answer to a second request may follow
    return Reply(status, headers, body, took_s)


class Wire:
    """A single keep-alive connection: the fastest honest client in Python."""

    def __init__(self, port: int, source: str = HOST) -> None:
        self.port = port
        self._source = source
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str | bytes] | None = None,
        body: bytes | None = None,
    ) -> Reply:
        """Send a request and return its answer; reconnect if the connection was cut."""
        began = time.monotonic()
        if self._streams is None:
            source = (self._source, 0)
            self._streams = await asyncio.open_connection(HOST, self.port, local_addr=source)
        reader, writer = self._streams
        writer.write(request(method, path, headers, body, close=False))
        status, found = _head((await reader.readuntil(b"\r\n\r\n"))[:-4])
        length = int(next((value for key, value in found if key == "content-length"), "0"))
        content = await reader.readexactly(length) if length and method != "HEAD" else b""
        if ("connection", "close") in found:
            await self.aclose()
        return Reply(status, found, content, time.monotonic() - began)

    async def aclose(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            self._streams[1].close()
            with contextlib.suppress(ConnectionError):
                await self._streams[1].wait_closed()
            self._streams = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream, and when it arrived."""

    kind: str
    data: Any
    at: float
    retry_ms: int | None = None


@dataclass(slots=True)
class Live:
    """An open event stream, read in the background."""

    status: int
    headers: tuple[tuple[str, str], ...]
    comments: int = 0
    ended: bool = False
    _events: asyncio.Queue[Event | None] = field(default_factory=asyncio.Queue)

    async def next(self, within_s: float = 60.0) -> Event | None:
        """Return the next event; None at the end of the stream."""
        async with asyncio.timeout(within_s):
            return await self._events.get()

    async def until(self, kind: str, within_s: float = 60.0, **fields: Any) -> Event:
        """Return the next event of a kind whose data has these fields; skip all others."""
        async with asyncio.timeout(within_s):
            while (event := await self._events.get()) is not None:
                if event.kind == kind and fields.items() <= dict(event.data).items():
                    return event
        raise AssertionError(f"the stream ended before {kind} {fields}")

    async def _read(self, reader: asyncio.StreamReader) -> None:
        text = b""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while size := int(await reader.readuntil(b"\r\n"), 16):
                text += (await reader.readexactly(size + 2))[:-2]
                *whole, text = text.split(b"\n\n")
                for block in whole:
                    self._take(block.decode())
        self.ended = True
        self._events.put_nowait(None)

    def _take(self, block: str) -> None:
        fields = dict(line.partition(": ")[::2] for line in block.split("\n"))
        if "event" in fields:
            retry = int(fields["retry"]) if "retry" in fields else None
            data = json.loads(fields["data"])
            self._events.put_nowait(Event(fields["event"], data, time.monotonic(), retry))
        elif block.startswith(":"):
            self.comments += 1


@contextlib.asynccontextmanager
async def live(
    port: int, path: str, headers: Mapping[str, str | bytes] | None = None
) -> AsyncIterator[Live]:
    """Open an event stream."""
    reader, writer = await asyncio.open_connection(HOST, port)
    task = None
    try:
        writer.write(request("GET", path, headers, close=False))
        status, found = _head((await reader.readuntil(b"\r\n\r\n"))[:-4])
        stream = Live(status, found)
        if status == 200:
            task = asyncio.create_task(stream._read(reader))
        yield stream
    finally:
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


def scrape(port: int) -> str:
    """Return the current metrics."""
    return ask(port, request("GET", "/metrics")).body.decode()


def metric(text: str, name: str, **labels: str) -> float:
    """Return the sum of a metric's samples with these labels; 0 if there are none."""
    wanted = [f'{key}="{value}"' for key, value in labels.items()]
    samples = re.findall(rf"^{name}(?:{{(.*)}})? (\S+)$", text, re.M)
    return sum(float(value) for given, value in samples if all(label in given for label in wanted))


def rss_bytes(pid: int) -> int:
    """Return the resident memory of a process."""
    match = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert match is not None
    return int(match[1]) * 1024


def _raw(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("latin-1")


def _head(head: bytes) -> tuple[int, tuple[tuple[str, str], ...]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":")[::2] for line in lines)
    return int(first.split()[1]), tuple((name.lower(), value.strip()) for name, value in pairs)


def _unchunked(data: bytes) -> bytes:
    body = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        body, data = body + data[: int(size, 16)], data[int(size, 16) + 2 :]
    return body
