"""Real servers for tests: single, replica, Cluster, Sentinel, and a proxy that loses replies.

Everything listens on loopback at a random free port, and ends with its `with` block. If
pytest itself is killed, the guard of `waitroom.engine.connection.embedded` ends the servers.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Self

from tests.support.leaks import WATCH
from tests.support.programs import needed
from waitroom.engine.connection.embedded import find_server_binary, guarded

Kind = Literal["valkey", "redis"]
Config = str | int
HOST = "127.0.0.1"


def redis_server_or_skip() -> Path:
    """Return the `redis-server` on PATH; without one the test is skipped, in CI it fails."""
    return Path(needed("redis-server"))


_FIRST_PORT, _PORTS = 11_000, 10_000
"""Below the range that the system gives to clients: one of thousands of them might take the port
before the server does. A Cluster node also needs the port 10,000 higher, which is below it too."""

_STEPS = itertools.count(secrets.randbelow(_PORTS))


def free_port() -> int:
    """Return a loopback port that nobody listens on.

    A server takes a second to listen. So each worker has ports of its own, one after another: of
    hundreds of servers in a run, two would now and then draw the same port in that second.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % workers
    share = _PORTS // workers
    while True:
        port = _FIRST_PORT + worker * share + next(_STEPS) % share
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((HOST, port))
            return port


LONGEST_S = 120.0
"""How long a test waits for something that must happen: far longer than a busy machine needs."""


def wait_for(true: Callable[[], bool], what: str) -> None:
    """Poll until `true()`; processes give no other sign that they are ready."""
    deadline = time.monotonic() + LONGEST_S
    while not true():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {LONGEST_S} s")
        time.sleep(0.01)


@dataclass(slots=True)
class Server:
    """One server process; `kill()` is `kill -9`, and `restart()` brings its data back."""

    kind: Kind
    folder: Path
    config: dict[str, Config]
    port: int = 0
    mode: tuple[str, ...] = ()
    _process: subprocess.Popen[bytes] | None = None
    _lifeline: int = -1
    _last_pid: int = 0

    @property
    def url(self) -> str:
        """The URL over TCP, without a password."""
        return f"redis://{HOST}:{self.port}"

    @property
    def unix_url(self) -> str:
        """The URL of the unix socket."""
        return f"unix://{self.folder}/s"

    @property
    def pid(self) -> int:
        """The pid of the running process."""
        assert self._process is not None, "the server is not running"
        return self._process.pid

    def start(self, ready: bool = True) -> Self:
        """Start on a free port; try another one if it was taken in the meantime."""
        for _ in range(5):
            self.port = self.port or free_port()
            self._spawn()
            with contextlib.suppress(RuntimeError):
                self._wait_until(b"+PONG" if ready else b"")
                return self
            self._reap()
            self.port = 0
        raise AssertionError(f"no start: {(self.folder / 'log').read_text()[-800:]}")

    def kill(self) -> None:
        """End it with `kill -9`."""
        os.kill(self.pid, signal.SIGKILL)
        self._reap()

    def restart(self, ready: bool = True) -> None:
        """Start it again at the same place, after `kill()` or instead of a stop."""
        self.stop()
        self.start(ready)

    def stop(self) -> None:
        """Stop it cleanly; does nothing if it is not running."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGTERM)
        self._process.send_signal(signal.SIGCONT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self._process.kill()
        self._reap()

    def command(self, *words: Config, timeout_s: float = 5.0) -> bytes:
        """Send one command on a fresh connection; return the raw reply, b"" if there was none."""
        request = b"*%d\r\n" % len(words)
        for word in map(str, words):
            request += b"$%d\r\n%s\r\n" % (len(word.encode()), word.encode())
        with contextlib.suppress(OSError), socket.socket() as connection:
            connection.settimeout(timeout_s)
            connection.connect((HOST, self.port))
            connection.sendall(request)
            return connection.recv(65_536)
        return b""

    def _spawn(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        binary = redis_server_or_skip() if self.kind == "redis" else find_server_binary()
        words = [str(binary), *self.mode, "--port", str(self.port), "--bind", HOST]
        options: dict[str, Config] = {"dir": str(self.folder), **self.config}
        if not self.mode and len(f"{self.folder}/s") < 100:
            options["unixsocket"] = f"{self.folder}/s"
        for name, value in options.items():
            words += [f"--{name.replace('_', '-')}", str(value)]
        ours, self._lifeline = os.pipe()
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                guarded(*words), stdin=ours, stdout=log, stderr=log, start_new_session=True
            )
        os.close(ours)
        WATCH.hand_on(self._last_pid, self._process.pid)
        self._last_pid = self._process.pid

    def _wait_until(self, answer: bytes) -> None:
        """Wait for our own process to answer with `answer` (anything, if empty)."""
        process = self._process
        assert process is not None

        def answers() -> bool:
            if process.poll() is not None:
                raise RuntimeError("the port was taken, or the configuration is wrong")
            got = self.command("PING", timeout_s=0.5)
            # A server with a password counts as up too.
            return bool(got) and got.startswith((answer, b"-NOAUTH"))

        wait_for(answers, f"{self.kind} on port {self.port}")

    def _reap(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.wait()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # its guard
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1


@contextmanager
def start_server(
    kind: Kind, folder: Path, *, aof: bool = False, ready: bool = True, **config: Config
) -> Iterator[Server]:
    """Run a server; `config` is its configuration with `_` for `-`; not `ready`: may still load."""
    with _run(
        Server(kind, folder, {"appendonly": "yes" if aof else "no", **config}), ready
    ) as server:
        yield server


@contextmanager
def _run(server: Server, ready: bool = True) -> Iterator[Server]:
    if not server.mode:
        server.config.setdefault("save", "")
    try:
        yield server.start(ready)
    finally:
        server.stop()


@contextmanager
def start_replica(primary: Server, folder: Path, **config: Config) -> Iterator[Server]:
    """Run a replica of `primary`, and return once it is in sync."""
    with _run(Server(primary.kind, folder, {**config})) as replica:
        # By default a primary waits 5 s for more replicas to share the work.
        primary.command("CONFIG", "SET", "repl-diskless-sync-delay", 0)
        replica.command("REPLICAOF", HOST, primary.port)
        wait_for(
            lambda: b"master_link_status:up" in replica.command("INFO", "replication"),
            "the replica's link",
        )
        yield replica


@contextmanager
def start_sentinel(primary: Server, folder: Path, service: str = "room") -> Iterator[Server]:
    """Run one sentinel (quorum 1, a primary is down after 1 s) that watches `primary`."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "sentinel.conf"
    settings.write_text(
        f"sentinel monitor {service} {HOST} {primary.port} 1\n"
        f"sentinel down-after-milliseconds {service} 1000\n"
        f"sentinel failover-timeout {service} 3000\n"
    )
    with _run(Server(primary.kind, folder, {}, mode=(str(settings), "--sentinel"))) as sentinel:
        yield sentinel


@dataclass(slots=True)
class Cluster:
    """Three primaries that share the slots."""

    nodes: list[Server] = field(default_factory=list)

    @property
    def url(self) -> str:
        """The URL that lists all nodes."""
        return "redis+cluster://" + ",".join(f"{HOST}:{node.port}" for node in self.nodes)


@contextmanager
def start_cluster(folder: Path, **config: Config) -> Iterator[Cluster]:
    """Run a Cluster of three Valkey primaries; every node reports `cluster_state:ok`."""
    cluster = Cluster()
    with contextlib.ExitStack() as stack:
        for number in range(3):
            options: dict[str, Config] = {
                "cluster_enabled": "yes",
                "cluster_port": free_port(),
                "cluster_node_timeout": 2000,
                **config,
            }
            node = Server("valkey", folder / str(number), options)
            cluster.nodes.append(stack.enter_context(_run(node)))
        _join(cluster.nodes)
        yield cluster


def _join(nodes: list[Server]) -> None:
    first = nodes[0]
    for node, (low, high) in zip(nodes, ((0, 5460), (5461, 10922), (10923, 16383)), strict=True):
        # Different epochs, or the nodes would first have to settle which is newer.
        assert node.command("CLUSTER", "SET-CONFIG-EPOCH", nodes.index(node) + 1) == b"+OK\r\n"
        assert node.command("CLUSTER", "ADDSLOTSRANGE", low, high) == b"+OK\r\n"
        if node is not first:
            bus = first.config["cluster_port"]
            assert node.command("CLUSTER", "MEET", HOST, first.port, bus) == b"+OK\r\n"
    for node in nodes:
        wait_for(lambda node=node: _whole(node), f"the Cluster at {node.port}")  # type: ignore[misc]


def _whole(node: Server) -> bool:
    info = node.command("CLUSTER", "INFO")
    known = b"cluster_known_nodes:3" in info and b"cluster_size:3" in info
    return known and b"cluster_state:ok" in info


@dataclass(slots=True)
class FaultProxy:
    """A TCP proxy in front of a server, which loses replies on demand.

    `dropped` counts the replies it swallowed, `connections` those it accepted, and `requests`
    how often it saw the bytes of the last `drop_next_reply` on the way to the server.
    """

    server: Server
    port: int = 0
    dropped: int = 0
    connections: int = 0
    requests: int = 0
    _match: bytes = b""
    _armed: bool = False
    _rewrites: list[tuple[bytes, bytes]] = field(default_factory=list)
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    @property
    def url(self) -> str:
        """The URL of the server through this proxy."""
        return f"redis://{HOST}:{self.port}"

    def drop_next_reply(self, match: bytes) -> None:
        """Let the next request with `match` through, wait for its reply, swallow it, and cut."""
        self._match, self._armed, self.requests = match, True, 0

    def rewrite(self, old: bytes, new: bytes) -> None:
        """Change bytes in replies from now on; the length must stay, as replies carry lengths."""
        assert len(old) == len(new), "a rewrite must keep the length"
        self._rewrites.append((old, new))

    def cut_all(self) -> None:
        """Cut every connection at once, without closing it properly."""
        for writer in self._writers:
            writer.transport.abort()

    async def serve(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        """Carry one connection until either side ends it."""
        self.connections += 1
        self._writers.add(to_client)
        upstream = None
        try:
            upstream, to_server = await asyncio.open_connection(HOST, self.server.port)
        except OSError:
            to_client.transport.abort()
            self._writers.discard(to_client)
            return
        self._writers.add(to_server)
        doomed = asyncio.Event()
        ways = [
            asyncio.create_task(self._requests(client, to_server, doomed)),
            asyncio.create_task(self._replies(upstream, to_client, doomed)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            for writer in (to_client, to_server):
                writer.transport.abort()
                self._writers.discard(writer)

    async def _requests(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, doomed: asyncio.Event
    ) -> None:
        tail = b""
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                seen = tail + data
                if self._match and self._match in seen:
                    self.requests += seen.count(self._match)
                    if self._armed:
                        self._armed = False
                        doomed.set()
                    seen = b""
                # The network may split a match in two.
                tail = seen[-len(self._match) + 1 :] if len(self._match) > 1 else b""
                writer.write(data)
                await writer.drain()

    async def _replies(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, doomed: asyncio.Event
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                if doomed.is_set():
                    self.dropped += 1
                    return
                for old, new in self._rewrites:
                    data = data.replace(old, new)
                writer.write(data)
                await writer.drain()


@asynccontextmanager
async def fault_proxy(server: Server) -> AsyncIterator[FaultProxy]:
    """Run a FaultProxy in front of `server`."""
    proxy = FaultProxy(server)
    carrying: set[asyncio.Task[None]] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        carrying.add(task)
        try:
            await proxy.serve(reader, writer)
        finally:
            carrying.discard(task)

    listener = await asyncio.start_server(accept, HOST, 0)
    proxy.port = int(listener.sockets[0].getsockname()[1])
    try:
        yield proxy
    finally:
        listener.close()
        proxy.cut_all()
        if carrying:
            await asyncio.wait(carrying)
        await listener.wait_closed()
