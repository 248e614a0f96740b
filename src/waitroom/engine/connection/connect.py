"""Gives a client of a server that is fit for Waitroom, from a URL or none.

The client is redis-py with hiredis. Its own retries are off everywhere: it would repeat a script
whose reply was lost, and `admit(50)` would move 100. Only the engine knows what may be repeated.
Cluster redirections (MOVED, ASK) are followed, because such a call has done nothing yet.
"""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redis import exceptions as redis_errors
from redis.asyncio import RedisCluster

from waitroom.engine.connection.address import Address, parse_url
from waitroom.engine.connection.clients import Client, Clients, Probe
from waitroom.engine.connection.embedded import HANDOVER_S, EmbeddedServer, owner, running
from waitroom.engine.connection.faults import backend_error
from waitroom.errors import BackendUnavailable, BackendUnfit, InvalidInput

OLDEST_REDIS = (6, 2)


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What the server is; `eviction` is None if a managed service hides it."""

    flavour: str
    version: tuple[int, ...]
    scripts_take_flags: bool
    eviction: str | None
    role: str
    cluster: bool


@dataclass(slots=True)
class Backend:
    """A connected server; `aclose()` closes it, and ends an embedded server that we started."""

    clients: Clients
    where: str
    facts: ServerFacts
    embedded: EmbeddedServer | None = None

    @property
    def client(self) -> Any:
        """A `Client`, for the engine only; redis-py's types do not say what is awaited."""
        return self.clients.operators

    @property
    def probe(self) -> Probe:
        """Finds out whether each node is reachable."""
        return self.clients.probe

    async def aclose(self) -> None:
        """Close the connections, then the embedded server if we started it."""
        await self.clients.aclose()
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
        _check_files(address)
        clients = Clients(address, first_s)
        try:
            facts = await _checked(clients.operators, address, first_s)
        except BaseException:
            await clients.aclose()
            raise
        if first_s != timeout_s:
            await clients.aclose()
            clients = Clients(address, timeout_s)
    except BaseException:
        if embedded is not None:
            await embedded.stop()
        raise
    return Backend(clients, address.where, facts, embedded)


def _check_files(address: Address) -> None:
    """Refuse certificate files that cannot be read: they would look like a server that is away."""
    for name in ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile"):
        path = address.options.get(name)
        if path is not None and not os.access(path, os.R_OK):
            raise InvalidInput("redis_url", f"{name}: the file {path!r} cannot be read")


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


async def _checked(client: Client, address: Address, timeout_s: float) -> ServerFacts:
    """Return the facts of a fit server, or raise the reason why it must not be used."""
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
