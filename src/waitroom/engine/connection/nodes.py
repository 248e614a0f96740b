"""The servers behind a connection, and what `waitroom doctor` asks each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from redis.asyncio import RedisCluster
from redis.exceptions import RedisError

from waitroom.engine.connection.connect import Backend


@dataclass(frozen=True, slots=True)
class Node:
    """A single server, whose name is empty, or one primary of a Cluster."""

    name: str
    info: Mapping[str, Any]
    _client: Any
    _target: dict[str, Any] = field(default_factory=dict)

    async def ping(self) -> None:
        """Make a round trip."""
        await self._command("PING")

    async def clock_s(self) -> float:
        """Return the time by the server's clock."""
        seconds, micros = await self._command("TIME")
        return int(seconds) + int(micros) / 1e6

    async def needs_all_slots(self) -> bool | None:
        """Return whether a node refuses its own rooms while another is away; None if hidden."""
        try:
            reply = await self._command("CONFIG", "GET", "cluster-require-full-coverage")
        except RedisError:  # managed services forbid CONFIG
            return None
        values = reply[1::2] if isinstance(reply, list) else [*reply.values()]
        return b"yes" in values or "yes" in values

    async def saves(self) -> bool | None:
        """Return whether it writes snapshots; None if a managed service hides it."""
        try:
            reply = await self._command("CONFIG", "GET", "save")
        except RedisError:  # managed services forbid CONFIG
            return None
        return bool(b"".join(reply[1::2]) if isinstance(reply, list) else reply.get("save"))

    async def _command(self, *words: str) -> Any:
        return await self._client.execute_command(*words, **self._target)


async def nodes(backend: Backend) -> list[Node]:
    """Return the server, or every primary of a Cluster."""
    client = backend.client
    if not isinstance(client, RedisCluster):
        return [Node("", await client.info(), client)]
    return [
        Node(node.name, await client.info(target_nodes=node), client, {"target_nodes": node})
        for node in client.get_primaries()
    ]
