"""The servers of the tests do what the tests rely on."""

from __future__ import annotations

from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from tests.support.servers import Kind, fault_proxy, start_replica, start_server, wait_for


@pytest.mark.every_kind
@pytest.mark.parametrize("kind", ["valkey", "redis"])
def test_a_killed_server_restarts_with_its_data(kind: Kind, tmp_path: Path) -> None:
    """With its append-only file on, a server keeps its data and its port after `kill -9`."""
    with start_server(kind, tmp_path / "s", aof=True) as server:
        before = (server.pid, server.url)
        server.command("SET", "k", "v")
        server.kill()
        assert server.command("PING") == b""
        server.restart()
        assert server.command("GET", "k") == b"$1\r\nv\r\n"
        assert before[0] != server.pid
        assert before[1] == server.url
    assert server.command("PING") == b""


def test_a_replica_follows(tmp_path: Path) -> None:
    """The replica receives what the primary writes."""
    with (
        start_server("valkey", tmp_path / "p") as primary,
        start_replica(primary, tmp_path / "r") as replica,
    ):
        primary.command("SET", "k", "v")
        wait_for(lambda: replica.command("GET", "k") == b"$1\r\nv\r\n", "the key at the replica")


async def test_the_proxy_loses_one_reply(tmp_path: Path) -> None:
    """The request reaches the server, its reply is swallowed once, and other replies pass."""
    with start_server("valkey", tmp_path / "s") as server:
        async with fault_proxy(server) as proxy:
            async with Redis(port=proxy.port, retry=None) as client:  # type: ignore[arg-type]
                await client.set("k", 1)
                proxy.drop_next_reply(b"INCR")
                with pytest.raises(RedisConnectionError):
                    await client.incr("k")
                assert await client.get("k") == b"2"
            assert (proxy.dropped, proxy.requests) == (1, 1)
            assert proxy.connections >= 2
