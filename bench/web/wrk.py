"""The load: wrk, with as many connections as a test needs, always full."""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

CONNECTIONS = 128
MISSING = "wrk is not installed, and it makes the load (Debian: apt install wrk)"
HOST = "Host: 127.0.0.1\r\n"
CLOSE = "Connection: close\r\n"


def installed() -> bool:
    """Tell whether wrk is on PATH."""
    return shutil.which("wrk") is not None


@dataclass(frozen=True, slots=True)
class Load:
    """What to request: a request in two halves, and a file whose lines go in between."""

    before: str
    after: str
    lines: Path | None = None

    @classmethod
    def get(cls, path: str, lines: Path, *, fresh: bool = False) -> Load:
        """Request `path` with a random line at its end; `fresh`: with a connection per request."""
        headers = f"{HOST}{CLOSE}" if fresh else HOST
        return cls(f"GET {path}", f" HTTP/1.1\r\n{headers}\r\n", lines)

    @classmethod
    def bearer(cls, path: str, lines: Path) -> Load:
        """Request `path`, with a random line as the bearer token."""
        return cls(f"GET {path} HTTP/1.1\r\n{HOST}Authorization: Bearer ", "\r\n\r\n", lines)

    @classmethod
    def post(cls, path: str) -> Load:
        """Post an empty body to `path`."""
        return cls(f"POST {path} HTTP/1.1\r\n{HOST}Content-Length: 0\r\n\r\n", "")

    def requests(self) -> list[bytes]:
        """Return all requests, for senders other than wrk."""
        lines = self.lines.read_text("utf-8").split() if self.lines else [""]
        return [f"{self.before}{line}{self.after}".encode() for line in lines]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a load; wrk counts a status of 400 or more as an error."""

    requests: int
    seconds: float
    errors: int
    p99_ms: float

    @property
    def per_s(self) -> float:
        """Good answers per second."""
        return self.requests / self.seconds


async def put(load: Load, port: int, seconds: int) -> Outcome:
    """Load a server for a while."""
    script = resources.files(__package__) / "lua" / "load.lua"
    process = await asyncio.create_subprocess_exec(
        "wrk",
        "--threads=1",
        f"--connections={CONNECTIONS}",
        f"--duration={seconds}s",
        "--timeout=5s",
        f"--script={script}",
        f"http://127.0.0.1:{port}/",
        "--",
        load.before,
        load.after,
        *([str(load.lines)] if load.lines else []),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    text = output.decode(errors="replace").strip()
    if process.returncode or not text.endswith("}"):
        raise RuntimeError(f"wrk ended with {process.returncode}: {text[-500:]}")
    counts = json.loads(text.splitlines()[-1])
    errors = counts["status"] + counts["socket"] + counts["timeout"]
    good = counts["requests"] - counts["status"]
    return Outcome(good, counts["us"] / 1e6, errors, counts["p99_us"] / 1000)
