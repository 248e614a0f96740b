"""A real PostgreSQL for tests: one server per session, and a separate database for each test.

It listens on a unix socket and on loopback, in a temporary folder, and syncs nothing to disk. It
refuses to run as root; then it runs as the user that its package created.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.servers import HOST, free_port, wait_for

USER = "desk"
_FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200")


def find_programs() -> Path | None:
    """Return the folder of PostgreSQL's programs, if there is one."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda place: place.parent.name)
    on_path = shutil.which("initdb")
    folders = [*([Path(on_path).resolve().parent] if on_path else []), *reversed(places)]
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    return None


def postgres_or_skip() -> Path:
    """Return the folder of PostgreSQL's programs; without them the test is skipped, fails in CI."""
    programs = find_programs()
    if programs is not None:
        return programs
    if os.environ.get("CI") == "true":
        pytest.fail("PostgreSQL is not installed, and CI must test it, not only SQLite")
    pytest.skip("PostgreSQL is not installed: `apt install postgresql` to test it too")


@dataclass(slots=True)
class Postgres:
    """One running server."""

    programs: Path
    folder: Path
    port: int
    process: subprocess.Popen[bytes]

    @contextmanager
    def database(self) -> Iterator[str]:
        """Make an empty database, and yield its URL."""
        name = f"t_{secrets.token_hex(6)}"
        self.run(f"CREATE DATABASE {name}")
        try:
            yield f"postgresql://{USER}@{HOST}:{self.port}/{name}"
        finally:
            self.run(f"DROP DATABASE {name} WITH (FORCE)")

    def run(self, statement: str, database: str = "postgres") -> str:
        """Run a statement, and return its output."""
        done = subprocess.run(
            [*self._psql(), database, "-c", statement], capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def is_ready(self) -> bool:
        """Tell whether it answers."""
        assert self.process.poll() is None, (self.folder / "log").read_text("utf-8")[-800:]
        asked = [*self._psql(), "postgres", "-c", "SELECT 1"]
        return subprocess.run(asked, capture_output=True, timeout=60).returncode == 0

    def _psql(self) -> list[str]:
        where = ["-h", HOST, "-p", str(self.port), "-U", USER]
        return [str(self.programs / "psql"), "-XqAt", "-v", "ON_ERROR_STOP=1", *where, "-d"]


@contextmanager
def start_postgres(*, durable: bool = False) -> Iterator[Postgres]:
    """Run a server until the block ends; a durable one has on disk everything it acknowledged."""
    programs, owner = postgres_or_skip(), _owner()
    # Not in pytest's folder: other users cannot read it.
    folder = Path(tempfile.mkdtemp(prefix="waitroom-pg-"))
    try:
        if owner is not None:
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        _init(programs, folder, owner)
        server = _start(programs, folder, owner, () if durable else _FAST)
        try:
            yield server
        finally:
            # Fast shutdown: open connections are cut.
            server.process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.process.wait(20)
            server.process.kill()
            server.process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _owner() -> pwd.struct_passwd | None:
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    pytest.skip("PostgreSQL does not run as root, and there is no other user here")


def _init(programs: Path, folder: Path, owner: pwd.struct_passwd | None) -> None:
    words = ["-D", str(folder / "data"), "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C"]
    done = subprocess.run(
        [str(programs / "initdb"), *words, "-N"],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=120,
        user=owner.pw_uid if owner else None,
        group=owner.pw_gid if owner else None,
        extra_groups=[] if owner else None,
    )
    assert done.returncode == 0, done.stderr


def _start(
    programs: Path, folder: Path, owner: pwd.struct_passwd | None, settings: Sequence[str]
) -> Postgres:
    port = free_port()
    words = ["-D", str(folder / "data"), "-h", HOST, "-p", str(port), "-k", str(folder)]
    options = [word for option in settings for word in ("-c", option)]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [str(programs / "postgres"), *words, *options],
            stdout=log,
            stderr=log,
            cwd=folder,
            user=owner.pw_uid if owner else None,
            group=owner.pw_gid if owner else None,
            extra_groups=[] if owner else None,
        )
    server = Postgres(programs, folder, port, process)
    wait_for(server.is_ready, "PostgreSQL")
    return server
