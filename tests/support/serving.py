"""Real servers for tests: `waitroom serve` as a child process, on a free port of this machine."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx2

from tests.support.servers import free_port

ADMIN_KEY = "wr_" + "0123456789abcdef" * 2
ADMIN = {"authorization": f"Bearer {ADMIN_KEY}"}
"""The header that carries the admin key."""

SECRET = "only-for-tests-" + "s" * 32
PROGRAM = (sys.executable, "-m", "waitroom.cli")
"""The Waitroom in this tree."""

SOON_AWAY: dict[str, object] = {"answer_within_s": 2, "away_after_s": 0.5}
"""For tests of what happens while the backend is away, so that they need not wait long."""


@dataclass(slots=True)
class Serving:
    """A running server: its address and its output."""

    process: subprocess.Popen[bytes]
    port: int
    data_dir: Path
    log: Path

    @property
    def base(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def workers(self) -> list[int]:
        """The pids of its workers."""
        return [pid for pid in children(self.process.pid) if "spawn_main" in command_of(pid)]

    def said(self) -> str:
        """Everything that it has logged so far."""
        return self.log.read_text("utf-8", errors="replace")

    def ready(self) -> bool:
        """Tell whether it accepts visitors."""
        try:
            with urllib.request.urlopen(f"{self.base}/readyz", timeout=2) as answer:  # noqa: S310
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def operator(self) -> httpx2.Client:
        """Return a client that sends the admin key; the caller closes it."""
        return httpx2.Client(base_url=self.base, headers=ADMIN, timeout=60)

    def new_room(self, name: str | None = None, **policy: object) -> str:
        """Make a room and return its name; unless given, no other test has it."""
        name = name or f"t-{secrets.token_hex(6)}"
        with self.operator() as operator:
            body = {"name": name, "policy": policy}
            operator.post("/v1/admin/rooms", json=body).raise_for_status()
        return name

    @contextlib.contextmanager
    def without_backend(self) -> Iterator[None]:
        """Make its own backend hang while the block runs."""
        backend_pid = json.loads((self.data_dir / "server.json").read_text())["server_pid"]
        os.kill(backend_pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(backend_pid, signal.SIGCONT)

    def stop(self, timeout_s: float = 30) -> int:
        """Stop it as a supervisor would, and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout_s)


def children(pid: int) -> list[int]:
    """Return the pids of a process's children."""
    pids = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            if entry.name.isdigit():
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                if parent == pid:
                    pids.append(int(entry.name))
    return pids


def sockets(pid: int) -> int:
    """Return how many sockets a process has open."""
    number = 0
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            number += str(entry.readlink()).startswith("socket:")
    return number


def command_of(pid: int) -> str:
    """Return the command line of a process; empty if it is gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    return ""


def clean_env() -> dict[str, str]:
    """Return the environment without the Waitroom settings of the person who runs the tests."""
    return {key: value for key, value in os.environ.items() if not key.startswith("WAITROOM_")}


def launch(folder: Path, *flags: str, **settings: object) -> Serving:
    """Start a server; settings become WAITROOM_ variables. It is not ready yet."""
    return launch_program(PROGRAM, folder, *flags, **settings)


def launch_program(
    program: Sequence[str], folder: Path, *flags: str, **settings: object
) -> Serving:
    """Start a server of another Waitroom than this tree's: an installed or an older one."""
    port = int(str(settings.pop("port", free_port())))
    given: dict[str, object] = {
        "data_dir": folder / "data",
        "admin_key": ADMIN_KEY,
        "secret": SECRET,
        # A busy machine may starve the backend for seconds, which is not under test.
        "poll_within_s": 30,
        "answer_within_s": 30,
        "away_after_s": 30,
        "drain_s": 0.2,
        "idle_s": 10,
        "joins_per_minute": 0,
    }
    given |= settings
    env = clean_env() | {f"WAITROOM_{name.upper()}": str(value) for name, value in given.items()}
    log = folder / f"serve-{port}.log"
    command = [*program, "serve", "--port", str(port), *flags]
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=env, stdout=out, stderr=out, cwd=folder)
    return Serving(process, port, Path(str(given["data_dir"])), log)


@contextlib.contextmanager
def serving(folder: Path, *flags: str, **settings: object) -> Iterator[Serving]:
    """Run a server: `with serving(tmp_path, workers=2) as server`."""
    with ready(launch(folder, *flags, **settings)) as served:
        yield served


@contextlib.contextmanager
def ready(served: Serving) -> Iterator[Serving]:
    """Wait for a launched server, and end it after the block."""
    try:
        await_ready(served)
        yield served
    finally:
        end(served)


def await_ready(served: Serving, timeout_s: float = 120) -> None:
    """Wait until a server accepts visitors."""
    deadline = time.monotonic() + timeout_s
    while not served.ready():
        if served.process.poll() is not None or time.monotonic() > deadline:
            raise AssertionError(f"the server did not start:\n{served.said()}")
        time.sleep(0.05)


def end(served: Serving) -> None:
    """Stop a server, by force if necessary."""
    if served.process.poll() is None:
        try:
            served.stop(15)
        except subprocess.TimeoutExpired:
            served.process.kill()
            served.process.wait()
