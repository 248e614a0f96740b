"""The measured servers: real processes on a free port, each pinned to the same core."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.web.cores import on_core

_SCHEDULED = 2
START_S = 180.0
STOP_S = 15.0


@dataclass(frozen=True, slots=True)
class Peer:
    """A running server."""

    name: str
    port: int
    process: asyncio.subprocess.Process

    def rss_kb(self) -> int:
        """Return the resident size of the server with all its children, in kB."""
        return sum(_rss_kb(pid) for pid in _family(self.process.pid))

    def cpu_s(self) -> float:
        """Return the processor time that the server with all its children has used."""
        return sum(_cpu_s(pid) for pid in _family(self.process.pid))


@asynccontextmanager
async def serving(
    name: str,
    command: Sequence[str],
    env: Mapping[str, str],
    core: int,
    folder: Path,
    ready: str = "/",
) -> AsyncIterator[Peer]:
    """Run a server (`{port}` in its command or environment is filled in) until the block ends."""
    port = _free_port()
    log = folder / f"{name}-{port}.log"
    filled = [part.format(port=port) for part in command]
    added = {key: value.replace("{port}", str(port)) for key, value in env.items()}
    with log.open("wb") as output, on_core(core):
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            *filled,
            env={**os.environ, **added},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        await _answers(name, port, ready, process, log)
        yield Peer(name, port, process)
    finally:
        await _stop(process)


async def _answers(
    name: str, port: int, path: str, process: asyncio.subprocess.Process, log: Path
) -> None:
    """Wait until the server answers `path` with anything but a server error."""
    status = b""
    try:
        async with asyncio.timeout(START_S):
            while process.returncode is None:
                status = await _status(port, path)
                if status and status < b"500":
                    return
                await asyncio.sleep(0.05)
    except TimeoutError:
        pass
    raise RuntimeError(f"{name} did not start (last answer: {status!r}); it says:\n{_end(log)}")


def _end(log: Path) -> str:
    return log.read_text("utf-8", "replace")[-2_000:]


async def _status(port: int, path: str) -> bytes:
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return b""
    try:
        writer.write(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()
        )
        words = (await reader.readline()).split()
        return words[1] if len(words) > 1 else b""
    except OSError:
        return b""
    finally:
        writer.close()


async def _stop(process: asyncio.subprocess.Process) -> None:
    family = _family(process.pid) if process.returncode is None else []
    if process.returncode is None:
        process.terminate()
    try:
        async with asyncio.timeout(STOP_S):
            await process.wait()
    except TimeoutError:
        for pid in family:
            _kill(pid)
        await process.wait()


def _kill(pid: int) -> None:
    try:
        os.kill(pid, 9)
    except ProcessLookupError:
        return


def _family(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    except OSError:
        return []
    return [pid, *(member for child in children for member in _family(int(child)))]


def _rss_kb(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text("ascii", "replace")
    except OSError:
        return 0
    return next((int(x.split()[1]) for x in status.splitlines() if x.startswith("VmRSS:")), 0)


def _cpu_s(pid: int) -> float:
    try:
        # Linux's `clock_getcpuclockid`: in nanoseconds, where /proc counts steps of 10 ms.
        return time.clock_gettime((~pid << 3) | _SCHEDULED)
    except OSError:
        return 0.0


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
