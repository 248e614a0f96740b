"""A demo of the command line, run as from a shell in an empty folder."""

from __future__ import annotations

import importlib.util
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support.servers import free_port, wait_for
from tests.support.serving import children, clean_env
from waitroom.cli.app import app

WELCOME = "Ctrl-C ends it"


@dataclass
class Demo:
    """A running demo."""

    process: subprocess.Popen[bytes]
    port: int
    folder: Path

    @property
    def base(self) -> str:
        """Where Waitroom is."""
        return f"http://127.0.0.1:{self.port}"

    def output(self) -> str:
        """Everything that it has printed so far."""
        return (self.folder / "demo.log").read_text("utf-8")

    def check_end(self, processes: int) -> None:
        """Press Ctrl-C: at least this many processes end without an error, and nothing is kept."""
        family = [self.process.pid]
        for pid in family:
            family += children(pid)
        assert len(family) >= processes
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(120) in (0, 130)
        wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in family), "an end")
        assert ["demo.log"] == [path.name for path in self.folder.iterdir()]
        assert "Traceback" not in self.output()


@contextmanager
def running(folder: Path, *words: str) -> Iterator[Demo]:
    """Run `waitroom` with some arguments, on a free port, until it says where to look."""
    port = free_port()
    with (folder / "demo.log").open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "waitroom.cli", *words, "--port", str(port)],
            env=clean_env() | {"TMPDIR": str(folder)},
            stdout=out,
            stderr=out,
            cwd=folder,
        )
    demo = Demo(process, port, folder)
    try:
        wait_for(lambda: WELCOME in demo.output() or process.poll() is not None, "a welcome")
        yield demo
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def refused(*words: str) -> str:
    """Return the message of a demo that does not start."""
    result = CliRunner().invoke(app, words)
    assert (2, "") == (result.exit_code, result.stdout)
    return result.stderr


def without_sqlalchemy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that SQLAlchemy is not installed."""
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "sqlalchemy" else real(name)
    )
