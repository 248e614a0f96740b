"""How each peer is started: one server process, all on the same backend."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import httpx2

from bench.web.ask import ask
from bench.web.ground import BIG, Ground
from bench.web.peers import Peer, serving

# Options for the servers on Granian: those that matter for speed.
GRANIAN = (
    *("--interface", "asgi", "--http", "1", "--no-ws", "--loop", "uvloop"),
    *("--workers", "1", "--runtime-threads", "1", "--no-log"),
    *("--backlog", "4096", "--backpressure", "25000"),
    *("--http1-header-read-timeout", "8000", "--http1-buffer-size", "65536"),
)

ADMIN_KEY = "wr_" + secrets.token_hex(16)
"""The operators' key, for this run only."""


@dataclass(frozen=True, slots=True)
class LineUp:
    """The four servers of a run."""

    ours: Peer
    handrolled: Peer
    ceiling: Peer
    wire: Peer


@asynccontextmanager
async def line_up(on: Ground, core: int, ticket: str) -> AsyncIterator[LineUp]:
    """Start all four; ceiling and wire answer what ours answers for `ticket`."""
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        first = await enter(ours(on, core))
        body = await _view(first.port, ticket)
        yield LineUp(
            first,
            await enter(handrolled(on, core)),
            await enter(ceiling(on, core, body)),
            await enter(wire(on, core, body)),
        )


@asynccontextmanager
async def ours(on: Ground, core: int) -> AsyncIterator[Peer]:
    """Start `waitroom serve` with one worker; limits per address are on, but out of reach."""
    env = {
        "WAITROOM_REDIS_URL": on.url,
        "WAITROOM_SECRET": on.secret,
        "WAITROOM_ADMIN_KEY": ADMIN_KEY,
        "WAITROOM_DATA_DIR": str(on.folder / "ours"),
        "WAITROOM_PORT": "{port}",
        "WAITROOM_WORKERS": "1",
        "WAITROOM_DRAIN_S": "0.1",
        "WAITROOM_JOINS_PER_MINUTE": "1000000000",
        "WAITROOM_STREAMS_PER_ADDRESS": "1000000",
        "WAITROOM_CONNECTIONS_PER_ADDRESS": "1000000",
        # Longer than any run, because idle connections must stay.
        "WAITROOM_IDLE_S": "3600",
        "WAITROOM_LOG_LEVEL": "warning",
    }
    command = ("waitroom.cli", "serve")
    async with serving("ours", command, env, core, on.folder, "/readyz") as peer:
        yield peer


@asynccontextmanager
async def handrolled(on: Ground, core: int) -> AsyncIterator[Peer]:
    """Start the hand-written queue as its author would."""
    options = ("--loop", "uvloop", "--http", "httptools", "--no-access-log")
    command = (
        "uvicorn",
        "bench.web.handrolled:app",
        *("--port", "{port}", "--log-level", "warning"),
        *options,
    )
    env = {"QUEUE_URL": on.url}
    async with serving("handrolled", command, env, core, on.folder, "/openapi.json") as peer:
        yield peer


@asynccontextmanager
async def ceiling(on: Ground, core: int, body: str) -> AsyncIterator[Peer]:
    """Start the bare server with a constant body."""
    command = ("granian", "bench.web.ceiling:app", "--port", "{port}", *GRANIAN)
    env = {"CEILING_BODY": body}
    async with serving("ceiling", command, env, core, on.folder) as peer:
        yield peer


@asynccontextmanager
async def wire(on: Ground, core: int, body: str) -> AsyncIterator[Peer]:
    """Start the bare protocol with a constant body."""
    command, env = ("bench.web.wire", "{port}"), {"WIRE_BODY": body}
    async with serving("wire", command, env, core, on.folder) as peer:
        yield peer


async def _view(port: int, ticket: str) -> str:
    async with httpx2.AsyncClient(trust_env=False) as client:
        url = f"http://127.0.0.1:{port}/v1/rooms/{BIG}/tickets/{ticket}"
        answer = await ask(client, "GET", url)
    assert answer.status_code == 200, answer.text
    assert answer.json()["state"] == "waiting", answer.text
    return answer.text
