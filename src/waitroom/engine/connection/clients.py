"""The clients of a server. Visitors, operators and the probe have separate connections.

So a crowd cannot keep an operator or the ticker from the server, and our own congestion never looks
like a server that is away. A call waits for a free connection as long as its caller does.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from redis import exceptions as redis_errors
from redis.asyncio import BlockingConnectionPool, Redis, RedisCluster, Sentinel, SSLConnection
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.connection import Connection, UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import SentinelConnectionPool
from redis.backoff import NoBackoff

from waitroom.engine.connection.address import Address
from waitroom.engine.connection.faults import FAULTS, backend_error
from waitroom.engine.connection.script_client import ScriptClient
from waitroom.errors import BackendUnavailable

CONNECTIONS = 16
"""For visitors, and the same number for operators: calls are micro-batched, so more would only wait
in the server."""

CLIENT_NAME = "waitroom"
Client = Redis | RedisCluster
_MOST_KEYS_TRIED = 10_000
_PROBED = "wr:probe:{}"
"""A key that never exists. Deleting it is a write, which a replica or a full disk refuses; but it
changes nothing, and a server whose memory is full allows it."""


class Probe(Protocol):
    """Finds out whether each node accepts writes, on a connection that nobody else uses."""

    def nodes(self) -> Sequence[str]:
        """Return the names of the nodes; a single server is one node with an empty name."""

    def node_of(self, key: str) -> str:
        """Return the node that holds a key; an empty name if that is not known."""

    async def ask(self, node: str) -> None:
        """Raise BackendUnavailable if the node cannot be used."""

    async def aclose(self) -> None:
        """Close the connections."""


class _SentinelPool(SentinelConnectionPool, BlockingConnectionPool):
    """The primary that the sentinels name; calls in a burst wait for a connection."""


class _Cluster(RedisCluster):
    """A Cluster client in which bursts wait; redis-py's own fails when all connections are in use.

    Calls wait per node: calls to a node that hangs must not hold up calls to the others.
    """

    def __init__(self, *, at_once: int, **options: Any) -> None:
        super().__init__(**options)
        self._turns = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(at_once))

    async def execute_command(self, *args: Any, **kwargs: Any) -> Any:
        """Wait for a turn, then run the command."""
        key = args[3] if args[0] in ("EVALSHA", "EVAL") and args[2] else args[min(1, len(args) - 1)]
        async with self._turns[node_name(self, str(key))]:
            try:
                return await super().execute_command(*args, **kwargs)
            except (AttributeError, RuntimeError) as error:
                # When a node dies, redis-py closes connections that other calls are about to use;
                # those calls then find no writer, or one that uvloop has closed.
                raise redis_errors.ConnectionError(f"closed meanwhile: {error}") from error


def node_name(cluster: RedisCluster, key: str) -> str:
    """Return the name of the node that holds a key; an empty name if that is not known."""
    try:
        node = cluster.get_node_from_key(key)
    except redis_errors.RedisClusterException:  # not connected yet, or a slot without a node
        return ""
    return node.name if node is not None else ""


class Clients:
    """The clients of one server; close them with `aclose`."""

    def __init__(self, address: Address, timeout_s: float) -> None:
        self._sentinels: list[Redis] = []
        self.operators = self._client(address, timeout_s)
        # Any: redis-py's clients, or our own, which only runs scripts.
        self.visitors: Any = (
            ScriptClient(address, timeout_s, CLIENT_NAME)
            if ScriptClient.suits(address)
            else self._client(address, timeout_s)
        )
        self.probe: Probe
        if isinstance(self.operators, RedisCluster):
            self.probe = _ClusterProbe(self.operators, address, timeout_s)
        else:
            self.probe = _ServerProbe(self._client(address, timeout_s, at_once=1))

    async def aclose(self) -> None:
        """Close all connections."""
        await self.probe.aclose()
        for client in (self.operators, self.visitors, *self._sentinels):
            await client.aclose()

    def _client(self, address: Address, timeout_s: float, at_once: int | None = None) -> Any:
        options = _options(address, timeout_s)
        at_once = at_once or options.pop("max_connections", CONNECTIONS)
        options.pop("max_connections", None)
        tls = {"ssl": True} if address.tls else {}
        if address.kind == "cluster":
            return _cluster(address, at_once, tls | options)
        if address.kind != "sentinel":
            return _server(address, at_once, options)
        auth = {key: options.pop(f"sentinel_{key}", None) for key in ("username", "password")}
        kept = {key: value for key, value in options.items() if key.startswith(("socket_", "ssl"))}
        asked = {**kept, **tls, **auth, "retry": options["retry"]}
        sentinel: Any = Sentinel(address.hosts, sentinel_kwargs=asked)  # type: ignore[no-untyped-call]
        self._sentinels += sentinel.sentinels
        bounds = {"max_connections": at_once, "timeout": None}
        pool: Any = _SentinelPool(address.service, sentinel, **bounds, **tls, **options)  # type: ignore[no-untyped-call]
        return Redis.from_pool(pool)


def _options(address: Address, timeout_s: float) -> dict[str, Any]:
    options: dict[str, Any] = {
        "socket_timeout": timeout_s,
        "socket_connect_timeout": timeout_s,
        "client_name": CLIENT_NAME,
        "protocol": 2,  # replies are the same in every redis-py, and no server pushes
        "retry": Retry(NoBackoff(), 0),
        **address.options,
    }
    if address.kind != "unix":
        options["socket_keepalive"] = True
    return options


def _cluster(address: Address, at_once: int, options: dict[str, Any]) -> _Cluster:
    # `reinitialize_steps` would close every connection after some MOVED, and lose the replies that
    # other calls wait for. Twice the connections: discovery does not wait its turn.
    return _Cluster(
        at_once=at_once,
        startup_nodes=[ClusterNode(host, port) for host, port in address.hosts],
        max_connections=2 * at_once,
        reinitialize_steps=0,
        **options,
    )


def _server(address: Address, at_once: int, options: dict[str, Any]) -> Redis:
    if address.kind == "unix":
        options |= {"connection_class": UnixDomainSocketConnection, "path": address.path}
    else:
        ((host, port),) = address.hosts
        kind = SSLConnection if address.tls else Connection
        options |= {"connection_class": kind, "host": host, "port": port}
    return Redis.from_pool(BlockingConnectionPool(at_once, None, **options))


class _ServerProbe:
    """The probe of one server, or of the primary that sentinels name."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def nodes(self) -> Sequence[str]:
        return ("",)

    def node_of(self, key: str) -> str:
        del key
        return ""

    async def ask(self, node: str) -> None:
        del node
        await _ask(self._client, _PROBED.format(0))

    async def aclose(self) -> None:
        await self._client.aclose()


class _ClusterProbe:
    """A probe of each primary of a Cluster, using a key that lives there."""

    def __init__(self, cluster: RedisCluster, address: Address, timeout_s: float) -> None:
        self._cluster = cluster
        self._address = address
        self._timeout_s = timeout_s
        self._clients: dict[str, Redis] = {}

    def nodes(self) -> Sequence[str]:
        return [node.name for node in self._cluster.get_primaries()]

    def node_of(self, key: str) -> str:
        return node_name(self._cluster, key)

    async def ask(self, node: str) -> None:
        client = self._clients.get(node)
        if client is None:
            host, _, port = node.rpartition(":")
            address = replace(self._address, kind="single", hosts=((host, int(port)),))
            client = _server(address, 1, _options(address, self._timeout_s))
            self._clients[node] = client
        keys = map(_PROBED.format, range(_MOST_KEYS_TRIED))
        key = next((key for key in keys if self.node_of(key) == node), None)
        if key is not None:  # otherwise it has no slots, and so no room
            await _ask(client, key)

    async def aclose(self) -> None:
        for client in self._clients.values():
            await client.aclose()


async def _ask(client: Redis, key: str) -> None:
    try:
        await client.delete(key)
    except FAULTS as error:
        unavailable = backend_error(error)
        if isinstance(unavailable, BackendUnavailable):
            raise unavailable from error
        # Any other error is an answer too: the node is there.
