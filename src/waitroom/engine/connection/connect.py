"""From a URL (or none) to a client of a server that is fit for Waitroom.

redis-py with hiredis is the client, and its own retries are off everywhere: it would repeat a
script whose reply was lost, and `admit(50)` would move 100. Only the engine knows what may be
repeated. Redirections of a Cluster (MOVED, ASK) are followed, because such a call did nothing yet.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redis import exceptions as redis_errors
from redis.asyncio import BlockingConnectionPool, Redis, RedisCluster, Sentinel, SSLConnection
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.connection import Connection, UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import SentinelConnectionPool
from redis.backoff import NoBackoff

from waitroom.engine.connection.address import Address, parse_url
from waitroom.engine.connection.embedded import HANDOVER_S, EmbeddedServer, owner, running
from waitroom.errors import BackendFull, BackendUnavailable, BackendUnfit, Unavailable

OLDEST_REDIS = (6, 2)
CONNECTIONS = 16
"""Per process: calls are micro-batched, so more connections would only wait in the server."""

Client = Redis | RedisCluster


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What the server is; `eviction` is None where a managed service hides it."""

    flavour: str
    version: tuple[int, ...]
    scripts_take_flags: bool
    eviction: str | None
    role: str
    cluster: bool


@dataclass(slots=True)
class Backend:
    """A connected server: close it with `aclose()`, which ends an embedded server we started."""

    client: Any
    """A `Client`, only for the engine. redis-py's types do not say that commands are awaited."""

    where: str
    facts: ServerFacts
    embedded: EmbeddedServer | None = None
    _sentinels: tuple[Redis, ...] = ()

    async def aclose(self) -> None:
        """Close the connections, then the embedded server if it is ours."""
        await _close(self.client, self._sentinels)
        if self.embedded is not None:
            await self.embedded.stop()


async def connect(
    url: str | None,
    data_dir: Path,
    timeout_s: float = 2.0,
    *,
    connect_timeout_s: float | None = None,
) -> Backend:
    """Connect to `url`, or to the embedded server of `data_dir`, and check that it is fit.

    The checks may take `connect_timeout_s`, and every later call `timeout_s`.
    """
    first_s = timeout_s if connect_timeout_s is None else connect_timeout_s
    embedded = None
    if not url:
        url, embedded = await _embedded(data_dir)
    try:
        address = parse_url(url)
        client, sentinels = _client(address, first_s)
        try:
            facts = await _checked(client, address, first_s)
        except BaseException:
            await _close(client, sentinels)
            raise
        if first_s != timeout_s:
            await _close(client, sentinels)
            client, sentinels = _client(address, timeout_s)
    except BaseException:
        if embedded is not None:
            await embedded.stop()
        raise
    return Backend(client, address.where, facts, embedded, sentinels)


async def _embedded(data_dir: Path) -> tuple[str, EmbeddedServer | None]:
    """Attach to the folder's server or start it; workers that start together share one."""
    deadline = time.monotonic() + HANDOVER_S
    while True:
        if url := await asyncio.to_thread(running, data_dir):
            return url, None
        server = EmbeddedServer(data_dir)
        try:
            await server.start()
        except BackendUnfit:
            # Another process owns the folder and has not answered yet: probably it is starting.
            if owner(data_dir) is None or time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.05)
        else:
            return server.url, server


async def _close(client: Client, sentinels: tuple[Redis, ...]) -> None:
    for opened in (client, *sentinels):
        await opened.aclose()


class _SentinelPool(SentinelConnectionPool, BlockingConnectionPool):
    """The primary that the sentinels name, with a burst of calls waiting for a connection."""


class _Cluster(RedisCluster):
    """A Cluster client whose bursts wait; redis-py's own fails once its connections are used."""

    def __init__(self, *, at_once: int, **options: Any) -> None:
        super().__init__(**options)
        self._turns = asyncio.Semaphore(at_once)

    async def execute_command(self, *args: Any, **kwargs: Any) -> Any:
        """Wait for a turn, then run the command."""
        async with self._turns:
            return await super().execute_command(*args, **kwargs)


def _client(address: Address, timeout_s: float) -> tuple[Client, tuple[Redis, ...]]:
    """Make the client, and the clients of the sentinels that must be closed with it."""
    never = Retry(NoBackoff(), 0)
    options: dict[str, Any] = {
        "socket_timeout": timeout_s,
        "socket_connect_timeout": timeout_s,
        "client_name": "waitroom",
        "protocol": 2,  # replies are the same in every redis-py, and no server pushes
        "retry": never,
        **address.options,
    }
    sentinel_auth = {key: options.pop(f"sentinel_{key}", None) for key in ("username", "password")}
    at_once = options.pop("max_connections", CONNECTIONS)
    patient = {"max_connections": at_once, "timeout": timeout_s}
    if address.kind == "unix":
        kind = UnixDomainSocketConnection
        pool = BlockingConnectionPool(
            connection_class=kind, path=address.path, **patient, **options
        )
        return Redis.from_pool(pool), ()
    options["socket_keepalive"] = True
    tls = {"ssl": True} if address.tls else {}
    if address.kind == "cluster":
        nodes = [ClusterNode(host, port) for host, port in address.hosts]
        # `reinitialize_steps` would close every connection after some MOVED, and with them the
        # replies that other calls wait for. Twice the connections: discovery takes no turn.
        cluster = _Cluster(
            at_once=at_once,
            startup_nodes=nodes,
            max_connections=2 * at_once,
            reinitialize_steps=0,
            **tls,
            **options,
        )
        return cluster, ()
    if address.kind == "sentinel":
        asked = {key: value for key, value in options.items() if key.startswith(("socket_", "ssl"))}
        asked |= {**tls, **sentinel_auth, "retry": never}
        sentinel: Any = Sentinel(address.hosts, sentinel_kwargs=asked)  # type: ignore[no-untyped-call]
        patient |= {**tls, **options}
        managed = _SentinelPool(address.service, sentinel, **patient)  # type: ignore[no-untyped-call]
        return Redis.from_pool(managed), tuple(sentinel.sentinels)
    ((host, port),) = address.hosts
    connection = SSLConnection if address.tls else Connection
    pool = BlockingConnectionPool(
        connection_class=connection, host=host, port=port, **patient, **options
    )
    return Redis.from_pool(pool), ()


async def _checked(client: Client, address: Address, timeout_s: float) -> ServerFacts:
    """Return the facts of a fit server, or raise why it must not be used."""
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            infos = await _infos(client)
            await client.eval("return 1", 0)
            break
        except redis_errors.BusyLoadingError as error:
            if time.monotonic() > deadline:
                raise BackendUnavailable(
                    f"{address.where} is still loading its data; wait for it and try again"
                ) from error
            await asyncio.sleep(0.05)
        except Exception as error:
            raise (backend_error(error, address.where) or error) from error
    servers = [_facts(info) for info in infos]
    for info, facts in zip(infos, servers, strict=True):
        _refuse_unfit(facts, int(info.get("maxmemory", 0)), address)
    return servers[0]


async def _infos(client: Client) -> list[dict[str, Any]]:
    """Ask the server, or every primary of a Cluster, what it is."""
    if not isinstance(client, RedisCluster):
        return [await client.info()]
    await client.initialize()
    return [await client.info(target_nodes=node) for node in client.get_primaries()]


def _facts(info: dict[str, Any]) -> ServerFacts:
    valkey = "valkey_version" in info
    text = str(info.get("valkey_version") or info.get("redis_version", "0"))
    version = tuple(int(part) for part in text.split(".") if part.isdigit())
    policy = info.get("maxmemory_policy")
    return ServerFacts(
        flavour="valkey" if valkey else "redis",
        version=version,
        scripts_take_flags=valkey or version >= (7, 0),
        eviction=None if policy is None else str(policy),
        role="primary" if info.get("role") == "master" else "replica",
        cluster=bool(info.get("cluster_enabled")),
    )


def _refuse_unfit(facts: ServerFacts, maxmemory: int, address: Address) -> None:
    where = address.where
    if facts.flavour == "redis" and facts.version < OLDEST_REDIS:
        version = ".".join(map(str, facts.version))
        raise BackendUnfit(f"{where} is Redis {version}; use Redis 6.2 or newer, or Valkey")
    if facts.role != "primary":
        raise BackendUnfit(f"{where} is a read-only replica; give the URL of its primary")
    if facts.cluster and address.kind != "cluster":
        raise BackendUnfit(f"{where} is part of a Cluster; use a URL of redis+cluster://")
    if maxmemory > 0 and facts.eviction not in (None, "noeviction"):
        raise BackendUnfit(
            f"{where} evicts keys when full (maxmemory-policy {facts.eviction}), which would lose "
            "people; set maxmemory-policy to noeviction"
        )


_UNAVAILABLE = (
    redis_errors.ConnectionError,
    redis_errors.TimeoutError,
    redis_errors.ReadOnlyError,
    redis_errors.ClusterError,
    redis_errors.TryAgainError,
    redis_errors.RedisClusterException,
    OSError,
)
_AUTH = (
    redis_errors.AuthenticationError,
    redis_errors.AuthorizationError,
    redis_errors.NoPermissionError,
    redis_errors.AuthenticationWrongNumberOfArgsError,
)
# Codes without a redis-py class. MISCONF: the disk is full; BUSY: another client's script runs.
_UNAVAILABLE_CODES = ("BUSY", "CLUSTERDOWN", "MASTERDOWN", "MISCONF", "NOREPLICAS", "TRYAGAIN")
_AUTH_CODES = ("NOAUTH", "WRONGPASS", "NOPERM")


def backend_error(error: Exception, where: str = "the server") -> Unavailable | None:
    """Return our error for an exception of redis-py; None if it is no fault of a server.

    After BackendUnavailable a call may or may not have run: its reply may have been lost.
    """
    text = str(error)
    cause = error.__cause__
    if isinstance(error, redis_errors.RedisClusterException) and isinstance(cause, Exception):
        return backend_error(cause, where)
    # A script error of Redis 6.2 has the code in the middle of its text.
    if isinstance(error, redis_errors.OutOfMemoryError) or "-OOM command not allowed" in text:
        return BackendFull()
    if isinstance(error, _AUTH) or text.startswith(_AUTH_CODES):
        return BackendUnfit(
            f"{where} refuses us ({text}); correct user and password in the URL, "
            "or the rights of that user"
        )
    if isinstance(error, redis_errors.AskError) or "Cluster mode is not enabled" in text:
        return BackendUnfit(f"{where} and the URL disagree about Cluster ({text}); correct the URL")
    if isinstance(error, redis_errors.TimeoutError | TimeoutError):
        return BackendUnavailable(
            f"{where} did not answer in time; check that it runs and its load"
        )
    if isinstance(error, _UNAVAILABLE) or text.startswith(_UNAVAILABLE_CODES):
        return BackendUnavailable(f"{where} cannot be used now ({text}); check that it runs")
    return None
