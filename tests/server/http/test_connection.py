"""A connection over real sockets: what counts as a request, in which order, size and speed."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.support.odd_requests import MALFORMED, ODD, PATH
from tests.support.servers import wait_for
from waitroom.server.http import answers
from waitroom.server.http.answers import Answer
from waitroom.server.http.bodies import Receive, Send
from waitroom.server.http.bridge import HttpRequest
from waitroom.server.http.connection import HEAD_S, TURN, UNREAD_S, Connection
from waitroom.server.http.connections import Connections

HOST = b"Host: x\r\n"
GET, POST = b"GET /lane HTTP/1.1\r\n" + HOST, b"POST /plain HTTP/1.1\r\n" + HOST
LANE = b"GET /lane HTTP/1.1\r\n" + HOST + b"\r\n"
PLAIN = b"GET /plain HTTP/1.1\r\n" + HOST + b"\r\n"
LARGE = 20_000_000  # more than the system buffers
LAST = b"GET /lane HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"


@dataclass
class Site:
    """A lane that answers `/lane`, and an app that answers the rest; both record what they saw."""

    port: int = 0
    seen: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    clients: list[Connection] = field(default_factory=list)
    connections: Connections = field(init=False)

    def lane(self, client: Connection, request: HttpRequest) -> bool:
        """Answer a little later, as for polls."""
        self.clients.append(client)
        if request.target == b"/fault":
            raise RuntimeError("on purpose")
        if request.target == b"/now":
            client.answer(Answer(200, answers.JSON, b'"now"'))
            return True
        if request.target == b"/large":
            client.answer(Answer(200, answers.JSON, b"x" * LARGE))
            return True
        if request.path_and_query()[0] != "/lane":
            return False
        self.seen.append("lane")
        answer = Answer(200, answers.JSON, b'"lane"')
        asyncio.get_running_loop().call_later(0.01, client.answer, answer)
        return True

    async def app(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer as the path says."""
        path = scope["path"]
        self.seen.append(f"{scope['method']} {path}")
        body = (await receive())["body"]
        self.bodies.append(body)
        if path == "/error":
            raise RuntimeError("on purpose")
        status = 204 if path == "/none" else 200
        headers = [(b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        if path == "/half":
            await send({"type": "http.response.body", "body": b"half", "more_body": True})
            raise RuntimeError("on purpose")
        if path == "/stream":
            for _ in range(3):
                await send({"type": "http.response.body", "body": b"part", "more_body": True})
        if path == "/endless":
            while not self.clients[-1].transport.is_closing():
                await send({"type": "http.response.body", "body": b"x" * 65_536, "more_body": True})
            self.gone.set()
            return
        if path == "/wait":
            assert "http.disconnect" == (await receive())["type"]
            self.gone.set()
        await send({"type": "http.response.body", "body": body or b"plain"})

    async def ask(self, *data: bytes) -> bytes:
        """Send, and return everything received until the end."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            for part in data:
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(0.005)
            async with asyncio.timeout(20):
                return await reader.read()
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """Serve, with one address allowed half of 40 connections."""
    made = Site()
    made.connections = Connections(made.app, made.lane, most=40)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(made.connections), "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    yield made
    server.close()
    await made.connections.finish(0, 5)
    await server.wait_closed()


def statuses(data: bytes) -> list[int]:
    """Return the status of each answer."""
    return [int(part[:3]) for part in data.split(b"HTTP/1.1 ")[1:]]


def bodies(data: bytes) -> list[bytes]:
    """Return the body of each answer."""
    return [part.partition(b"\r\n\r\n")[2] for part in data.split(b"HTTP/1.1 ")[1:]]


async def test_pipelined_requests_are_answered_in_order(site: Site) -> None:
    """Lane and app alternate, on one connection, in one packet."""
    data = await site.ask(LANE + PLAIN + LANE + PLAIN + PLAIN + LAST)
    assert [b'"lane"', b"plain", b'"lane"', b"plain", b"plain", b'"lane"'] == bodies(data)


async def test_thousands_in_one_packet(site: Site) -> None:
    """No recursion, no lost answer."""
    data = await site.ask(PLAIN * 2_000 + LAST)
    assert [200] * 2_001 == statuses(data)


async def test_requests_after_pipelined_ones(site: Site) -> None:
    """Reading resumes once no request has to wait."""
    reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
    for _ in range(3):
        writer.write(PLAIN + LANE)
        async with asyncio.timeout(20):
            await reader.readuntil(b'"lane"')
    writer.close()


async def test_a_head_that_begins_after_thousands(site: Site) -> None:
    """Bytes before it in the same packet do not count towards its size."""
    data = await site.ask(PLAIN * 3_000 + LAST[:20], LAST[20:])
    assert [200] * 3_001 == statuses(data)


async def test_byte_by_byte(site: Site) -> None:
    """It works however the network splits a request."""
    data = await site.ask(*(bytes([byte]) for byte in LAST))
    assert [200] == statuses(data)


GOOD = {
    "head only": (b"HEAD /plain HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", b""),
    "1.0": (b"GET /plain HTTP/1.0\r\n\r\n", b"plain"),
    "1.0 in parts": (b"GET /stream HTTP/1.0\r\n\r\n", b"partpartpartplain"),
    "1.0 by lane": (b"GET /lane HTTP/1.0\r\n\r\n", b'"lane"'),
    "no content": (b"GET /none HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", b""),
    "odd case": (b"GET /lane HTTP/1.1\r\nhOsT: x\r\ncONNECTION: cLOSE\r\n\r\n", b'"lane"'),
    "absolute": (b"GET http://x/lane HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", b'"lane"'),
    "percent": (b"GET /l%61ne HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", b'"lane"'),
    "length": (
        POST + b"Connection: close\r\nContent-Length: 3\r\n\r\nabc",
        b"abc",
    ),
    "chunked": (
        POST + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
        b"abc",
    ),
    "upgrade": (
        GET + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n" + PLAIN,
        b'"lane"',
    ),
}


@pytest.mark.parametrize("name", GOOD)
async def test_good_requests(site: Site, name: str) -> None:
    """One answer each, and then the end."""
    data, body = GOOD[name]
    reply = await site.ask(data)
    assert (1, [body]) == (len(statuses(reply)), bodies(reply)), reply
    if name == "no content":
        assert b"content-length" not in reply


@pytest.mark.attack
@pytest.mark.parametrize("name", MALFORMED)
async def test_malformed_requests(site: Site, name: str) -> None:
    """A problem and the end; neither it nor a request hidden in it is answered."""
    data, status = MALFORMED[name]
    reply = await site.ask(data)
    assert [status] == statuses(reply), reply
    assert b"connection: close" in reply
    assert [] == site.seen


@pytest.mark.attack
@pytest.mark.parametrize("name", ODD)
async def test_odd_requests(site: Site, name: str) -> None:
    """Each is one request, and nothing hidden in it counts as another."""
    reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
    writer.write(ODD[name])
    writer.write_eof()
    async with asyncio.timeout(20):
        reply = await reader.read()
    writer.close()
    await writer.wait_closed()
    assert 1 == statuses(reply).count(200), reply
    assert [PATH] == [seen.partition(" ")[2] for seen in site.seen]


@pytest.mark.attack
async def test_a_bad_request_behind_good_ones(site: Site) -> None:
    """Earlier requests are answered first."""
    assert [200, 200, 400] == statuses(await site.ask(LANE + PLAIN + b"nonsense\r\n\r\n" + LANE))


async def test_expect_continue(site: Site) -> None:
    """The client is told to continue before it sends its body."""
    head = POST + b"Expect: 100-continue\r\nConnection: close\r\n"
    reply = await site.ask(head + b"Content-Length: 3\r\n\r\n", b"abc")
    assert ([100, 200], b"abc") == (statuses(reply), bodies(reply)[-1])


async def test_errors_of_the_app(site: Site) -> None:
    """A complete problem, or an answer that breaks off: the client can tell."""
    assert [500] == statuses(await site.ask(PLAIN.replace(b"plain", b"error") + LAST))[:1]
    reply = await site.ask(PLAIN.replace(b"plain", b"half"))
    assert reply.endswith(b"4\r\nhalf\r\n")


async def test_a_fault_of_the_lane(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    """It is logged, ends its own connection, and no other."""
    with contextlib.suppress(ConnectionResetError):
        assert b"" == await site.ask(PLAIN.replace(b"plain", b"fault"))
    assert "could not be begun" in caplog.text
    assert [200] == statuses(await site.ask(LAST))


async def test_a_client_that_has_said_all(site: Site) -> None:
    """A client that closes its side still gets the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
    writer.write(LANE)
    writer.write_eof()
    assert [200] == statuses(await reader.read())
    writer.close()


async def test_a_client_that_hangs_up(site: Site) -> None:
    """An answer that nobody receives is no error; a waiting app is told."""
    _, writer = await asyncio.open_connection("127.0.0.1", site.port)
    writer.write(LANE)
    await writer.drain()
    writer.transport.abort()
    _, writer = await asyncio.open_connection("127.0.0.1", site.port)
    writer.write(PLAIN.replace(b"plain", b"wait"))
    await asyncio.to_thread(wait_for, lambda: "GET /wait" in site.seen, "the request")
    writer.close()
    async with asyncio.timeout(10):
        await site.gone.wait()
    assert [200] == statuses(await site.ask(LAST))


async def test_a_client_that_does_not_read(site: Site) -> None:
    """Little is buffered for it, and in the end it is cut off."""
    _, writer = await asyncio.open_connection("127.0.0.1", site.port, limit=1024)
    writer.write(PLAIN.replace(b"plain", b"endless"))
    await asyncio.to_thread(
        wait_for, lambda: bool(site.clients) and not site.clients[-1].writable, "a full buffer"
    )
    client = site.clients[-1]
    assert client.transport.get_write_buffer_size() < 1_000_000
    late(site, UNREAD_S)
    async with asyncio.timeout(20):
        await site.gone.wait()
    writer.transport.abort()


async def test_one_connection_leaves_others_their_turn(site: Site) -> None:
    """Of thousands of requests in one packet a few are answered, then those of other clients."""
    _, many = await asyncio.open_connection("127.0.0.1", site.port)
    reader, other = await asyncio.open_connection("127.0.0.1", site.port)
    await asyncio.to_thread(wait_for, lambda: len(site.connections.open) == 2, "both")
    at_once = LANE.replace(b"lane", b"now")
    many.write(at_once * 5_000)
    other.write(at_once)
    async with asyncio.timeout(20):
        await reader.readuntil(b'"now"')
    first = next(client for client in site.clients if client.client == peer_of(other))
    assert site.clients.index(first) <= 2 * TURN
    for writer in (many, other):
        writer.transport.abort()


def peer_of(writer: asyncio.StreamWriter) -> tuple[str, int]:
    """Return what the server identifies a client by."""
    host, port = writer.get_extra_info("sockname")
    return host, port


@pytest.mark.attack
@pytest.mark.parametrize("times", [1, 1_000])
async def test_a_client_that_asks_and_does_not_read(site: Site, times: int) -> None:
    """However much it asks for, one answer is kept for it, and it is cut off just as soon."""
    asked = LANE.replace(b"lane", b"large")
    _, writer = await asyncio.open_connection("127.0.0.1", site.port, limit=1024)
    writer.write(asked * times)
    await asyncio.to_thread(
        wait_for, lambda: bool(site.clients) and not site.clients[-1].writable, "a full buffer"
    )
    assert 1 == len(site.clients)
    late(site, UNREAD_S)
    await asyncio.to_thread(wait_for, lambda: not site.connections.open, "the end")
    assert 1 == len(site.clients)
    writer.transport.abort()


def late(site: Site, seconds: float) -> None:
    """Pass time for everything that is already waiting."""
    for client in [*site.connections.open]:
        client.deadline -= seconds
    site.connections.sweep(time.monotonic())


@pytest.mark.attack
@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"", []),
        (b"GET /la", [408]),
        (POST + b"Content-Length: 3\r\n\r\na", [408]),
        (LANE, [200]),
    ],
    ids=["silent", "head", "body", "idle"],
)
async def test_slow_clients_are_cut(site: Site, sent: bytes, status: list[int]) -> None:
    """Each part of a request has its time limit; an idle connection has longer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
    writer.write(sent)
    answer = await reader.readuntil(b'"lane"') if status == [200] else b""
    while not site.connections.open:  # noqa: ASYNC110 - nothing else says so
        await asyncio.sleep(0)
    for _ in range(10):  # what was sent is there, and read in one of the next turns
        await asyncio.sleep(0.005)
    late(site, 2 * HEAD_S if status != [200] else 0)
    if status == [200]:
        assert not reader.at_eof()
        late(site, site.connections.idle_s + 1)
    async with asyncio.timeout(10):
        answer += await reader.read()
    assert status == statuses(answer)
    writer.close()


@pytest.mark.attack
async def test_one_address_gets_half(site: Site) -> None:
    """The 21st connection of an address is refused with a reason; nearly full, idle ones go."""
    opened = [await asyncio.open_connection("127.0.0.1", site.port) for _ in range(21)]
    async with asyncio.timeout(10):
        assert b"HTTP/1.1 429" == await opened[-1][0].read(12)
    for _, writer in opened:
        writer.close()
