"""`waitroom serve`: whatever prevents its start is one sentence with the fix, and a code."""

from __future__ import annotations

import ctypes
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import SECRET, Cli
from tests.cli.test_cli import environment, process
from tests.support.servers import free_port
from waitroom.engine.connection.embedded import EmbeddedServer

_PR_CAPBSET_DROP, _CAP_NET_BIND_SERVICE = 24, 10


@pytest.fixture
def taken() -> Iterator[int]:
    """Return a port on which another program listens, one that would even share it."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


@pytest.fixture
def serve(cli: Cli, tmp_path: Path) -> Cli:
    """Run `waitroom serve` with a free port and its own folder, unless the test says otherwise."""
    cli.env |= {"WAITROOM_PORT": str(free_port()), "WAITROOM_DATA_DIR": str(tmp_path / "data")}
    return cli


def refused(cli: Cli, *words: str | int) -> tuple[int, str]:
    """Return the code and the only line that a server that does not start has printed."""
    result = cli.run(*words)
    assert "" == result.stdout
    assert 1 == len(result.stderr.splitlines()), result.stderr
    return result.exit_code, result.stderr


def test_port_in_use(serve: Cli, taken: int) -> None:
    """Two servers never share a port by accident."""
    code, text = refused(serve, "serve", "--port", taken)
    assert (2, True) == (code, f"port: {taken} is in use by another program; stop" in text)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--host 192.0.2.7", "host: 192.0.2.7 is not an address of this machine; use 127.0.0.1"),
        ("--host no.such.invalid", "host: 'no.such.invalid' is not an address; use 127.0.0.1"),
        ("--port 0", "port: '0' is not a whole number from 1 up to 65535"),
        ("--port http", "port: 'http' is not a whole number"),
        ("--workers 1.5", "workers: '1.5' is not a whole number from 1 up to 256"),
        ("--proxies 10.0.0.0/33", "proxies: '10.0.0.0/33' is not a network; write it like"),
        ("--public-url wait.example", "public_url: must be like https://wait.example"),
        ("--log-level loud", "log_level: 'loud' is none of"),
        ("--log-json maybe", "log_json: 'maybe' is neither true nor false"),
        ("--pass-algorithm RS256", "pass_algorithm: 'RS256' is not ES256 or EdDSA"),
        ("--pass-keys /nowhere/x.pem", "pass_keys: "),
        ("--tls-cert /nowhere/c.pem", "tls_key: must be given together with the other one"),
        ("--tls-key /nowhere/k.pem", "tls_cert: must be given together with the other one"),
        (
            "--tls-cert /nowhere/c.pem --tls-key /nowhere/k.pem",
            "tls_cert: /nowhere/c.pem cannot be read: No such file or directory",
        ),
    ],
)
def test_settings_that_cannot_work(serve: Cli, flags: str, message: str) -> None:
    """Each is named, with what would work, before anything is started."""
    code, text = refused(serve, "serve", *flags.split())
    assert (2, True) == (code, message in text), text


def test_files_that_are_no_certificate(serve: Cli, tmp_path: Path) -> None:
    """An invalid certificate or key is found before the first visitor comes."""
    file = tmp_path / "x.pem"
    file.write_text("-----BEGIN CERTIFICATE-----\nnope\n-----END CERTIFICATE-----\n")
    code, text = refused(serve, "serve", "--tls-cert", str(file), "--tls-key", str(file))
    assert (2, True) == (code, f"tls_cert: {file} and {file} are not a certificate" in text)


def test_secrets(serve: Cli) -> None:
    """A short secret, or a shareable backend without a secret, is refused."""
    serve.env["WAITROOM_SECRET"] = "short"
    assert "secret: key 1 is not 32 bytes or more; make one with" in refused(serve, "serve")[1]
    serve.env["WAITROOM_SECRET"] = None
    assert "secret: must be given together with `redis_url`" in refused(serve, "serve")[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[waitroom]\nport = \n", "line 2"),
        ("[waitroom]\nprot = 80\n", "prot: no such setting; there are"),
        ("[rooms.hall]\ncapacity = 0\n", "rooms.hall.capacity: "),
    ],
)
def test_broken_file(serve: Cli, tmp_path: Path, text: str, message: str) -> None:
    """The file and the position in it are named."""
    file = tmp_path / "rooms.toml"
    file.write_text(text)
    code, shown = refused(serve, "--config", str(file), "serve")
    assert 2 == code
    assert message in shown
    assert str(file) in shown


def ended(done: subprocess.CompletedProcess[str]) -> tuple[int, str]:
    """Return code and only line of a process that ended by itself."""
    assert "" == done.stdout
    assert 1 == len(done.stderr.splitlines()), done.stderr
    return done.returncode, done.stderr


def test_backend_away(tmp_path: Path) -> None:
    """The error names a backend that does not answer, without its password."""
    url = f"redis://:hunter2@127.0.0.1:{free_port()}"
    env = {"WAITROOM_REDIS_URL": url, "WAITROOM_SECRET": SECRET}
    port = str(free_port())
    code, text = ended(process("serve", "--port", port, cwd=tmp_path, **env))
    assert (1, True, False) == (code, "check that it runs" in text, "hunter2" in text)


async def test_folder_in_use(tmp_path: Path) -> None:
    """With two servers in one data folder, the second names the first."""
    async with EmbeddedServer(tmp_path / ".waitroom"):
        code, text = ended(process("serve", "--port", str(free_port()), cwd=tmp_path))
    assert (1, True) == (code, "is in use by another Waitroom (pid " in text)


def test_admin_key_too_short(tmp_path: Path) -> None:
    """A guessable key is refused, with a way to make a good one."""
    words = ("serve", "--port", str(free_port()), "--admin-key", "wr_short")
    code, text = ended(process(*words, cwd=tmp_path))
    assert (2, True) == (code, "admin_key: takes 24" in text)
    assert "wr_short" not in text


def test_port_of_root(tmp_path: Path) -> None:
    """Without permission for a low port, it says so, and which ports everybody may use."""
    first = int(Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text())
    if first <= 81:
        pytest.skip("everybody may listen on low ports here")
    command = [sys.executable, "-m", "waitroom.cli", "serve", "--port", "81"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=_without_low_ports,
    )
    code, text = ended(done)
    assert (2, True) == (code, "port: 81 may be used by root only; choose one from 1024" in text)


def _without_low_ports() -> None:
    """Take the permission for low ports from the next program, even if it is root."""
    ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, _CAP_NET_BIND_SERVICE, 0, 0, 0)
