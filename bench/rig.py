"""The measured server and engine, and the server's own figures."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from waitroom.engine import Engine
from waitroom.engine.connection.embedded import EmbeddedServer
from waitroom.tickets import KeyRing


@dataclass(slots=True)
class Rig:
    """An engine on a private server, and a second client that may wait for long commands."""

    engine: Engine
    admin: Redis

    async def usec(self, *commands: str) -> int:
        """Return the server's microseconds in `commands` so far.

        A script's time includes the commands inside it, which are also counted under their own
        names: never add the two.
        """
        stats = await self.admin.info("commandstats")
        return sum(int(stats.get(f"cmdstat_{name}", {}).get("usec", 0)) for name in commands)

    async def memory(self) -> tuple[int, int]:
        """Return used_memory and its resident size, in bytes."""
        info = await self.admin.info("memory")
        return int(info["used_memory"]), int(info["used_memory_rss"])

    async def configure(self, **options: str | int) -> None:
        """Set options of the server, with `_` for `-`."""
        for name, value in options.items():
            await self.admin.config_set(name.replace("_", "-"), value)


@asynccontextmanager
async def rig() -> AsyncIterator[Rig]:
    """Run a server with its append-only file in a temporary folder, like an embedded one."""
    with tempfile.TemporaryDirectory(prefix="waitroom-bench-") as folder:
        async with EmbeddedServer(Path(folder)) as server:
            ring = KeyRing([secrets.token_bytes(32)])
            admin = Redis.from_url(server.url, socket_timeout=None, protocol=2)
            try:
                async with await Engine.connect(server.url, Path(folder), ring) as engine:
                    made = Rig(engine, admin)
                    # A rewrite of the file would happen at a different moment in every run.
                    await made.configure(auto_aof_rewrite_percentage=0)
                    yield made
            finally:
                await admin.aclose()


async def versions(rig: Rig) -> dict[str, Any]:
    """Return what was measured, with its version."""
    facts = rig.engine.backend.facts
    info = await rig.admin.info("memory")
    return {
        "server": f"{facts.flavour} {'.'.join(map(str, facts.version))}",
        "allocator": str(info.get("mem_allocator", "unknown")),
    }


def lua(name: str) -> str:
    """Return a script of this folder."""
    return (resources.files(__package__) / "lua" / f"{name}.lua").read_text("utf-8")
