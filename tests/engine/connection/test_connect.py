"""Connecting: every kind of URL, every reason to refuse, and no call sent twice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from redis import exceptions as redis_errors
from redis.asyncio import Redis, RedisCluster

from tests.support.servers import (
    HOST,
    LONGEST_S,
    Cluster,
    FaultProxy,
    Server,
    fault_proxy,
    free_port,
    start_cluster,
    start_replica,
    start_sentinel,
    start_server,
    wait_for,
)
from waitroom.engine.connection.connect import Backend, connect
from waitroom.engine.connection.faults import backend_error
from waitroom.errors import (
    BackendFull,
    BackendUnavailable,
    BackendUnfit,
    Unavailable,
)

COUNT = "return redis.call('INCR', KEYS[1])"


@asynccontextmanager
async def connected(
    url: str | None, folder: Path, timeout_s: float = 20.0
) -> AsyncIterator[Backend]:
    """Connect and close."""
    backend = await connect(url, folder, timeout_s)
    try:
        yield backend
    finally:
        await backend.aclose()


async def refused(url: str, folder: Path, error: type[Unavailable], timeout_s: float = 20.0) -> str:
    """Return the sentence with which `url` is refused."""
    with pytest.raises(error) as caught:
        await connect(url, folder, timeout_s)
    assert error is type(caught.value)
    assert not (folder / "lock").exists()
    return str(caught.value)


async def count(backend: Backend, key: str = "n") -> Any:
    """Run a script that must not run twice."""
    return await backend.client.eval(COUNT, 1, key)


# --- what it connects to ---------------------------------------------------------------------


async def test_without_a_url_it_starts_a_server_and_others_attach(tmp_path: Path) -> None:
    """The first connect starts the folder's server, the second uses it, and the first stops it."""
    async with connected(None, tmp_path) as first:
        assert first.embedded is not None
        async with connected(None, tmp_path) as second:
            assert second.embedded is None
            assert [await count(first), await count(second)] == [1, 2]
        assert await count(first) == 3
        assert first.facts.scripts_take_flags
    async with connected(None, tmp_path) as third:
        assert await count(third) == 4


async def test_workers_that_start_together_share_one_server(tmp_path: Path) -> None:
    """Out of four connects at once, one starts the server and three attach."""
    backends = await asyncio.gather(*(connect(None, tmp_path) for _ in range(4)))
    assert sum(backend.embedded is not None for backend in backends) == 1
    for backend in sorted(backends, key=lambda backend: backend.embedded is not None):
        await backend.aclose()


@pytest.mark.every_kind
@pytest.mark.parametrize("kind", ["valkey", "redis"])
async def test_single_servers(kind: Any, tmp_path: Path) -> None:
    """Over TCP and over a socket, the facts are right and the client has a name."""
    with start_server(kind, tmp_path / "s") as server:
        for url in (server.url + "/1", server.unix_url):
            async with connected(url, tmp_path) as backend:
                assert await count(backend) == 1
                assert await backend.client.client_getname() == "waitroom"
                facts = backend.facts
            assert (kind, "noeviction", "primary", False) == (
                (facts.flavour, facts.eviction, facts.role, facts.cluster)
            )
            assert facts.version >= (7, 0)
            assert facts.scripts_take_flags
            assert url == backend.where


async def test_a_burst_waits_for_a_connection(tmp_path: Path) -> None:
    """More concurrent calls than connections all succeed: single, Cluster and Sentinel alike."""
    with (
        start_server("valkey", tmp_path / "s") as server,
        start_sentinel(server, tmp_path / "t") as sentinel,
        start_cluster(tmp_path / "c") as cluster,
    ):
        sentinels = f"redis+sentinel://{HOST}:{sentinel.port}/room"
        for url in (server.url, sentinels, cluster.url):
            async with connected(url + "?max_connections=2", tmp_path) as backend:
                counts = await asyncio.gather(*(count(backend, url) for _ in range(200)))
            assert set(range(1, 201)) == set(counts)


async def test_a_cluster(tmp_path: Path) -> None:
    """Scripts run on every primary; a moving slot (ASK) or a moved one (MOVED) is followed."""
    with start_cluster(tmp_path / "c") as cluster:
        async with connected(cluster.url, tmp_path) as backend:
            assert isinstance(backend.client, RedisCluster)
            assert backend.facts.cluster
            for number in range(30):
                assert await count(backend, f"k{number}") == 1
            slot = backend.client.keyslot("{far}")
            home = backend.client.get_node_from_key("{far}")
            assert home is not None
            source = next(node for node in cluster.nodes if node.port == home.port)
            target = next(node for node in cluster.nodes if node is not source)
            _slot(target, slot, "IMPORTING", source)
            _slot(source, slot, "MIGRATING", target)
            assert await count(backend, "{far}asked") == 1
            assert target.command("CLUSTER", "COUNTKEYSINSLOT", slot) == b":1\r\n"
            _slot(target, slot, "NODE", target)
            _slot(source, slot, "NODE", target)
            assert await count(backend, "{far}asked") == 2
            assert await count(backend, "{far}moved") == 1


def _slot(node: Server, slot: int, word: str, other: Server) -> None:
    """Tell a node what happens to a slot."""
    other_id = other.command("CLUSTER", "MYID").split(b"\r\n")[1].decode()
    assert node.command("CLUSTER", "SETSLOT", slot, word, other_id) == b"+OK\r\n"


async def test_a_sentinel_and_its_failover(tmp_path: Path) -> None:
    """A sentinel URL leads to the primary, and after a failover to the new one."""
    with (
        start_server("valkey", tmp_path / "p") as primary,
        start_replica(primary, tmp_path / "r") as replica,
        start_sentinel(primary, tmp_path / "s") as sentinel,
    ):
        await _knows_replica(sentinel)
        url = f"valkey+sentinel://{HOST}:{sentinel.port}/room"
        async with connected(url, tmp_path) as backend:
            assert await count(backend) == 1
            wait_for(lambda: replica.command("GET", "n") == b"$1\r\n1\r\n", "the replica's key")
            primary.kill()
            # After a stall of two seconds a sentinel changes nothing for half a minute.
            assert await _count_again(backend, LONGEST_S) == 2


async def _knows_replica(sentinel: Server) -> None:
    deadline = time.monotonic() + LONGEST_S
    while b"num-slaves\r\n$1\r\n1" not in sentinel.command("SENTINEL", "MASTER", "room"):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)


async def _count_again(backend: Backend, within_s: float) -> Any:
    deadline = time.monotonic() + within_s
    while True:
        try:
            return await count(backend)
        except redis_errors.RedisError as error:
            if time.monotonic() > deadline or type(backend_error(error)) is not BackendUnavailable:
                raise
            await asyncio.sleep(0.05)


# --- no call is sent twice -------------------------------------------------------------------


async def lose_a_reply(backend: Backend, proxy: FaultProxy) -> None:
    """Lose the reply to one script, and prove that it was sent once and ran once."""
    assert await count(backend) == 1
    proxy.drop_next_reply(b"INCR")
    with pytest.raises(redis_errors.RedisError) as caught:
        await count(backend)
    assert isinstance(backend_error(caught.value), BackendUnavailable)
    assert (proxy.dropped, proxy.requests) == (1, 1)
    assert await count(backend) == 3


async def test_a_lost_reply_is_not_sent_again(tmp_path: Path) -> None:
    """A script whose reply was lost ran once: the client library did not send it again."""
    with start_server("valkey", tmp_path / "s") as server:
        async with fault_proxy(server) as proxy, connected(proxy.url, tmp_path) as backend:
            await lose_a_reply(backend, proxy)


async def test_redis_py_alone_would_send_it_again(tmp_path: Path) -> None:
    """The proxy test can fail: with redis-py's defaults the same script runs twice."""
    with start_server("valkey", tmp_path / "s") as server:
        async with fault_proxy(server) as proxy, Redis(host=HOST, port=proxy.port) as client:
            proxy.drop_next_reply(b"INCR")
            assert await client.eval(COUNT, 1, "n") == 2
            assert proxy.requests == 2


async def test_a_lost_reply_is_not_sent_again_in_a_cluster(tmp_path: Path) -> None:
    """The same in a Cluster whose nodes announce the proxy's address."""
    with start_cluster(tmp_path / "c") as cluster:
        async with (
            fault_proxy(cluster.nodes[0]) as a,
            fault_proxy(cluster.nodes[1]) as b,
            fault_proxy(cluster.nodes[2]) as c,
        ):
            for node, proxy in zip(cluster.nodes, (a, b, c), strict=True):
                node.command("CONFIG", "SET", "cluster-announce-port", proxy.port)
            await _announced(cluster, {proxy.port for proxy in (a, b, c)})
            async with connected(f"redis+cluster://{HOST}:{a.port}", tmp_path) as backend:
                assert isinstance(backend.client, RedisCluster)
                home = backend.client.get_node_from_key("n")
                assert home is not None
                await lose_a_reply(backend, next(p for p in (a, b, c) if p.port == home.port))


async def _announced(cluster: Cluster, ports: set[int]) -> None:
    deadline = time.monotonic() + LONGEST_S
    for node in cluster.nodes:
        while not all(
            f":{port}\r\n".encode() in node.command("CLUSTER", "SLOTS") for port in ports
        ):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)


async def test_a_lost_reply_is_not_sent_again_by_way_of_a_sentinel(tmp_path: Path) -> None:
    """The same with a sentinel that knows the primary by the proxy's address."""
    with start_server("valkey", tmp_path / "s") as server:
        async with fault_proxy(server) as proxy:
            front = Server("valkey", tmp_path, {}, port=proxy.port)
            with start_sentinel(front, tmp_path / "t") as sentinel:
                url = f"redis+sentinel://{HOST}:{sentinel.port}/room"
                async with connected(url, tmp_path) as backend:
                    await lose_a_reply(backend, proxy)


async def test_idle_connections_that_were_cut_do_no_harm(tmp_path: Path) -> None:
    """A call after all idle connections were cut works at once, without a retry."""
    with start_server("valkey", tmp_path / "s") as server:
        async with fault_proxy(server) as proxy, connected(proxy.url, tmp_path) as backend:
            await asyncio.gather(*(count(backend) for _ in range(5)))
            proxy.cut_all()
            for _ in range(10):  # turns of the loop, in which both ends learn of it
                await asyncio.sleep(0.01)
            assert await count(backend) == 6


# --- servers that are refused ----------------------------------------------------------------


async def test_nobody_listens(tmp_path: Path) -> None:
    """A refused connection, a missing socket and a dead Cluster or sentinel are unavailable."""
    port = free_port()
    for url in (
        f"redis://:secret@{HOST}:{port}",
        f"unix://{tmp_path}/none",
        f"redis+cluster://:secret@{HOST}:{port}",
        f"redis+sentinel://:secret@{HOST}:{port}/room",
    ):
        sentence = await refused(url, tmp_path, BackendUnavailable)
        assert sentence.startswith(url.replace(":secret@", "") + " cannot be used now (")
        assert sentence.endswith("; check that it runs")
        assert "secret" not in sentence


async def test_a_server_that_does_not_answer(tmp_path: Path) -> None:
    """A server that accepts a connection but stays silent is given up after the timeout."""

    async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    listener = await asyncio.start_server(silence, HOST, 0)
    async with listener:
        url = f"redis://{HOST}:{listener.sockets[0].getsockname()[1]}"
        sentence = await refused(url, tmp_path, BackendUnavailable, timeout_s=0.2)
    assert f"{url} did not answer in time; check that it runs and its load" == sentence


async def test_a_wrong_password(tmp_path: Path) -> None:
    """No password, a wrong one and a user without rights are unfit; the message names the fix."""
    with start_server("valkey", tmp_path / "s", requirepass="right") as server:
        async with connected(server.url.replace("//", "//:right@"), tmp_path) as backend:
            await backend.client.execute_command(
                "ACL", "SETUSER", "poor", "on", ">pw", "~*", "+@all", "-eval"
            )
        for login in ("", ":wrong@", "nobody:right@", "poor:pw@"):
            url = server.url.replace("//", f"//{login}")
            sentence = await refused(url, tmp_path, BackendUnfit)
            assert sentence.startswith(f"{server.url} refuses us (")
            assert sentence.endswith(
                "; correct user and password in the URL, or the rights of that user"
            )


async def test_a_cluster_with_a_wrong_password(tmp_path: Path) -> None:
    """A Cluster that refuses us is unfit, not unavailable."""
    with start_server(
        "valkey", tmp_path / "s", requirepass="right", cluster_enabled="yes"
    ) as server:
        url = server.url.replace("redis", "redis+cluster")
        assert "refuses us" in await refused(url, tmp_path, BackendUnfit)


async def test_a_server_that_is_too_old(tmp_path: Path) -> None:
    """Redis before 6.2 is refused with its version; a real server's INFO is made to look old."""
    with start_server("valkey", tmp_path / "s") as server:
        async with fault_proxy(server) as proxy:
            proxy.rewrite(b"valkey_version:", b"walkey_version:")
            proxy.rewrite(b"redis_version:7.2.4", b"redis_version:6.0.9")
            sentence = await refused(proxy.url, tmp_path, BackendUnfit)
            assert f"{proxy.url} is Redis 6.0.9; use Redis 6.2 or newer, or Valkey" == sentence
            proxy.rewrite(b"redis_version:6.0.9", b"redis_version:6.2.0")
            async with connected(proxy.url, tmp_path) as backend:
                assert not backend.facts.scripts_take_flags
                assert backend.facts.version == (6, 2, 0)


async def test_a_server_that_evicts(tmp_path: Path) -> None:
    """An eviction policy is refused as soon as it can take effect: when maxmemory is set."""
    with start_server("valkey", tmp_path / "s", maxmemory_policy="allkeys-lru") as server:
        async with connected(server.url, tmp_path) as backend:
            assert backend.facts.eviction == "allkeys-lru"
        server.command("CONFIG", "SET", "maxmemory", "100mb")
        sentence = await refused(server.url, tmp_path, BackendUnfit)
    expected = (
        f"{server.url} evicts keys when full (maxmemory-policy allkeys-lru), which would lose "
        "people; set maxmemory-policy to noeviction"
    )
    assert expected == sentence


async def test_a_service_without_config(tmp_path: Path) -> None:
    """CONFIG is not needed; if INFO hides the policy as well, eviction is unknown (None)."""
    with start_server("valkey", tmp_path / "s") as server:
        server.command("ACL", "SETUSER", "default", "-config")
        async with fault_proxy(server) as proxy:
            async with connected(proxy.url, tmp_path) as backend:
                assert backend.facts.eviction == "noeviction"
            proxy.rewrite(b"maxmemory_policy:", b"maxmemory_hidden:")
            async with connected(proxy.url, tmp_path) as backend:
                assert backend.facts.eviction is None


async def test_a_replica(tmp_path: Path) -> None:
    """A replica is refused, and the message names the fix."""
    with (
        start_server("valkey", tmp_path / "p") as primary,
        start_replica(primary, tmp_path / "r") as replica,
    ):
        sentence = await refused(replica.url, tmp_path, BackendUnfit)
    assert f"{replica.url} is a read-only replica; give the URL of its primary" == sentence


async def test_a_cluster_without_cluster_in_the_url(tmp_path: Path) -> None:
    """A Cluster node behind a plain URL, and a single server behind a Cluster URL, are refused."""
    with start_server("valkey", tmp_path / "c", cluster_enabled="yes") as node:
        sentence = await refused(node.url, tmp_path, BackendUnfit)
    assert f"{node.url} is part of a Cluster; use a URL of redis+cluster://" == sentence
    with start_server("valkey", tmp_path / "s") as single:
        url = single.url.replace("redis", "redis+cluster")
        assert "disagree about Cluster" in await refused(url, tmp_path, BackendUnfit)


async def test_a_server_that_loads(tmp_path: Path) -> None:
    """A loading server is waited for, up to the timeout; then the message says "loading"."""
    with start_server(
        "valkey", tmp_path / "s", loading_process_events_interval_bytes=1024
    ) as server:
        server.command("EVAL", "for i = 1, 15000 do redis.call('SET', i, i) end", 0)
        server.command("SAVE")
        # µs per key, so half a minute: a hidden setting for their own tests
        server.config["key-load-delay"] = 2_000
        server.restart(ready=False)
        sentence = await refused(server.url, tmp_path, BackendUnavailable, timeout_s=1.5)
        assert f"{server.url} is still loading its data; wait for it and try again" == sentence
        assert b"+OK\r\n" == server.command("CONFIG", "SET", "key-load-delay", 0)
        async with connected(server.url, tmp_path, timeout_s=60) as backend:
            assert await backend.client.get("7") == b"7"


# --- errors of later calls -------------------------------------------------------------------


async def test_a_full_server(tmp_path: Path) -> None:
    """Out of memory, even inside a script, is BackendFull."""
    with start_server("valkey", tmp_path / "s") as server:
        async with connected(server.url, tmp_path) as backend:
            server.command("CONFIG", "SET", "maxmemory", "1")
            for call in (backend.client.set("k", "v"), count(backend)):
                with pytest.raises(redis_errors.ResponseError) as caught:
                    await call
                assert isinstance(backend_error(caught.value), BackendFull)


async def test_a_primary_that_became_a_replica(tmp_path: Path) -> None:
    """READONLY during a call is BackendUnavailable: a failover is under way."""
    with (
        start_server("valkey", tmp_path / "a") as other,
        start_server("valkey", tmp_path / "b") as server,
    ):
        async with connected(server.url, tmp_path) as backend:
            server.command("REPLICAOF", HOST, other.port)
            with pytest.raises(redis_errors.ReadOnlyError) as caught:
                await count(backend)
            assert isinstance(backend_error(caught.value), BackendUnavailable)
