"""Scripts on our own connection: in order, with name and password, and again after a loss."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from redis import exceptions as redis_errors
from redis.asyncio import Redis

from tests.support.servers import HOST, Server, fault_proxy, start_server
from waitroom.engine.connection.address import parse_url
from waitroom.engine.connection.faults import backend_error
from waitroom.engine.connection.script_client import ScriptClient
from waitroom.errors import BackendFull, BackendUnavailable, BackendUnfit

COUNT = "return redis.call('INCR', KEYS[1])"
SAY = "return ARGV[1]"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run one server for all tests that leave it unchanged."""
    with start_server("valkey", tmp_path_factory.mktemp("scripts")) as server:
        yield server


@asynccontextmanager
async def client(url: str, timeout_s: float = 10.0) -> AsyncIterator[ScriptClient]:
    """Make a client, and close it."""
    made = ScriptClient(parse_url(url), timeout_s, "waitroom")
    try:
        yield made
    finally:
        await made.aclose()


async def raised(call: Awaitable[object]) -> Exception:
    """Return what a call raises."""
    (result,) = await asyncio.gather(call, return_exceptions=True)
    assert isinstance(result, Exception), f"it answered {result!r:.80}"
    return result


@pytest.mark.parametrize("way", ["url", "unix_url"])
async def test_replies_come_in_order(server: Server, way: str) -> None:
    """Hundreds of concurrent calls each get their own reply; calls that gave up shift no other."""
    async with client(getattr(server, way)) as scripts:
        calls = [asyncio.create_task(scripts.eval(SAY, 0, str(n))) for n in range(300)]
        await asyncio.sleep(0)
        for impatient in calls[::7]:
            impatient.cancel()
        answers = await asyncio.gather(*calls, return_exceptions=True)
    for n, answer in enumerate(answers):
        assert isinstance(answer, asyncio.CancelledError) if n % 7 == 0 else b"%d" % n == answer


async def test_first_here_is_first_there(server: Server) -> None:
    """The server runs calls in the order in which they were made."""
    async with client(server.url) as scripts:
        counts = await asyncio.gather(*(scripts.eval(COUNT, 1, "order") for _ in range(200)))
    assert [*range(1, 201)] == counts


async def test_name_user_and_database(tmp_path: Path) -> None:
    """Both forms of AUTH, the URL's database, and a name for anybody who looks."""
    with start_server("valkey", tmp_path / "s", requirepass="s3cret") as server:
        where = f"{HOST}:{server.port}"
        async with client(f"redis://:s3cret@{where}/3") as scripts:
            await scripts.eval("return redis.call('SET', KEYS[1], 'here')", 1, "place")
            async with Redis.from_url(f"{server.url}/3", password="s3cret") as looker:
                clients = await looker.client_list()
                await looker.acl_setuser(
                    "ann", enabled=True, passwords="+pw", keys="*", categories=["+@all"]
                )
        assert ("waitroom", "3") in {(each["name"], each["db"]) for each in clients}
        async with client(f"redis://ann:pw@{where}/3") as scripts:
            assert b"here" == await scripts.eval("return redis.call('GET', KEYS[1])", 1, "place")
        for url in (f"redis://:wrong@{where}", f"redis://{where}"):
            async with client(url) as scripts:
                assert isinstance(backend_error(await raised(scripts.eval(SAY, 0))), BackendUnfit)


async def test_an_error_is_that_of_its_call(server: Server) -> None:
    """An unknown script is recognised, and then sent in full; other calls get their replies."""
    async with client(server.url) as scripts:
        answers = await asyncio.gather(
            scripts.evalsha("0" * 40, 0), scripts.eval(SAY, 0, "x"), return_exceptions=True
        )
    assert [redis_errors.NoScriptError, bytes] == [type(answer) for answer in answers]


async def test_a_lost_connection_fails_what_was_under_way(tmp_path: Path) -> None:
    """Nothing is resent by itself, because the call may have run. The next one reconnects."""
    with start_server("valkey", tmp_path / "s") as server:
        async with fault_proxy(server) as proxy, client(proxy.url) as scripts:
            assert 1 == await scripts.eval(COUNT, 1, "n")
            proxy.drop_next_reply(b"INCR")
            errors = await asyncio.gather(
                *(scripts.eval(COUNT, 1, "n") for _ in range(2)), return_exceptions=True
            )
            assert [BackendUnavailable] * 2 == [
                type(backend_error(error)) for error in errors if isinstance(error, Exception)
            ]
            assert (1, 2) == (proxy.dropped, proxy.requests)
            assert 4 == await scripts.eval(COUNT, 1, "n"), "each ran once, and its reply was lost"


async def test_a_server_that_is_late(tmp_path: Path) -> None:
    """After the timeout all calls on the connection fail; the next call opens a new one."""
    with start_server("valkey", tmp_path / "s") as server:
        async with client(server.url, 2.0) as scripts:  # a busy machine answers within this
            assert b"a" == await scripts.eval(SAY, 0, "a")
            os.kill(server.pid, signal.SIGSTOP)
            try:
                errors = await asyncio.gather(
                    *(scripts.eval(SAY, 0, "x") for _ in range(3)), return_exceptions=True
                )
            finally:
                os.kill(server.pid, signal.SIGCONT)
            assert [BackendUnavailable] * 3 == [
                type(backend_error(error)) for error in errors if isinstance(error, Exception)
            ]
        async with client(server.url) as scripts:
            assert b"b" == await scripts.eval(SAY, 0, "b")


async def test_a_full_server_and_one_that_is_gone(tmp_path: Path) -> None:
    """It raises what redis-py would raise, and a server that is back is used again."""
    fill = "return redis.call('SET', ARGV[1], string.rep('x', 100000))"
    with start_server("valkey", tmp_path / "s", maxmemory="4mb") as server:
        async with client(server.url) as scripts:
            answers = await asyncio.gather(
                *(scripts.eval(fill, 0, str(n)) for n in range(60)), return_exceptions=True
            )
            assert isinstance(answers[-1], Exception)
            assert isinstance(backend_error(answers[-1]), BackendFull)
            server.kill()
            for _ in range(2):
                error = await raised(scripts.eval(SAY, 0))
                assert isinstance(backend_error(error), BackendUnavailable)
            server.start()
            assert b"back" == await scripts.eval(SAY, 0, "back")


async def test_a_primary_that_became_a_replica(tmp_path: Path) -> None:
    """READONLY ends the connection, because the name may lead to the new primary by now."""
    with (
        start_server("valkey", tmp_path / "a") as other,
        start_server("valkey", tmp_path / "b") as server,
    ):
        async with client(server.url) as scripts:
            assert 1 == await scripts.eval(COUNT, 1, "n")
            first = server.command("CLIENT", "LIST")
            server.command("REPLICAOF", HOST, other.port)
            error = await raised(scripts.eval(COUNT, 1, "n"))
            assert isinstance(error, redis_errors.ReadOnlyError)
            server.command("REPLICAOF", "NO", "ONE")
            await scripts.eval(COUNT, 1, "n")
            assert _ids(first).isdisjoint(_ids(server.command("CLIENT", "LIST")))


def _ids(clients: bytes) -> set[bytes]:
    """Return the ids of our own clients."""
    return set(re.findall(rb"id=(\d+) [^\n]*name=waitroom ", clients))


@pytest.mark.parametrize(
    ("url", "suits"),
    [
        ("redis://h", True),
        ("unix:///run/s", True),
        ("rediss://h", False),
        ("redis+sentinel://h/room", False),
        ("redis+cluster://h", False),
    ],
)
def test_only_for_one_server_in_plain_text(url: str, suits: bool) -> None:
    """TLS, Sentinel and Cluster stay with redis-py."""
    assert suits is ScriptClient.suits(parse_url(url))
