"""`waitroom desk demo`: one command, and there is an evening at a restaurant to look at."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from tests.support.servers import wait_for
from tests.support.serving import children, free_port
from waitroom.cli.app import app


@dataclass
class Demo:
    """A running demonstration."""

    process: subprocess.Popen[bytes]
    base: str
    log: Path
    folder: Path

    def output(self) -> str:
        """Everything that it printed so far."""
        return self.log.read_text("utf-8")

    def word(self, pattern: str) -> str:
        """Return something that it printed."""
        match = re.search(pattern, self.output())
        assert match is not None, self.output()
        return match[0]

    def line(self) -> dict[str, Any]:
        """Return what the host's console shows."""
        headers = {"authorization": f"Bearer {self.word('wrh_[A-Za-z0-9_-]+')}"}
        answer = httpx.get(f"{self.base}/v1/stores/han-river/line", headers=headers, timeout=20)
        line: dict[str, Any] = answer.raise_for_status().json()
        return line


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """Run it as a shell would, in a folder where nothing else is."""
    folder = tmp_path_factory.mktemp("desk-demo")
    port = free_port()
    env = {key: value for key, value in os.environ.items() if not key.startswith("WAITROOM_")}
    log = folder / "demo.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "waitroom.cli", "desk", "demo", "--port", str(port)],
            env=env | {"TMPDIR": str(folder)},
            stdout=out,
            stderr=out,
            cwd=folder,
        )
    yield Demo(process, f"http://127.0.0.1:{port}", log, folder)
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def test_it_says_where_to_look(demo: Demo) -> None:
    """It names the pages of guests and hosts, and all of them are there."""
    wait_for(lambda: "Ctrl-C ends it" in demo.output(), "a welcome")
    place = demo.word(r"http://[^ ]+/p/[^ \n]+")
    desk = f"{demo.base}/desk/han-river"
    for url in (desk, place, f"{desk}/host", f"{desk}/poster", f"{demo.base}/docs"):
        assert url in demo.output()
        assert 200 == httpx.get(url, follow_redirects=True, timeout=20).status_code, url


def test_there_is_an_evening(demo: Demo) -> None:
    """Parties wait in both lines, with waits from what went before, and phones are masked."""
    line = demo.line()
    waiting = [party for party in line["parties"] if party["status"] == "WAITING"]
    assert {"dine-in", "takeout"} == {party["type"] for party in waiting}
    assert all("****" in party["phone"] for party in waiting)
    assert [party for party in line["recent"] if party["status"] == "SEATED"]


def test_the_evening_goes_on(demo: Demo) -> None:
    """By themselves guests join and are called, and some are seated."""
    newest = max(party["id"] for party in demo.line()["parties"])

    def moved() -> bool:
        line = demo.line()
        came = max(party["id"] for party in line["parties"]) > newest
        return came and any(party["called_at"] for party in line["recent"])

    wait_for(moved, "somebody who came, and somebody who was seated")


def test_ctrl_c_ends_all_of_it(demo: Demo) -> None:
    """It ends without an error, its processes with it, and nothing is kept."""
    family = [demo.process.pid]
    for pid in family:
        family += children(pid)
    assert len(family) >= 3, "the server, its store and a worker"
    demo.process.send_signal(signal.SIGINT)
    assert demo.process.wait(120) in (0, 130)
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in family), "an end")
    assert ["demo.log"] == [path.name for path in demo.folder.iterdir()]
    assert "Traceback" not in demo.output()


def refused(*words: str) -> tuple[int, str]:
    """Return code and message of a demonstration that does not start."""
    result = CliRunner().invoke(app, ["desk", "demo", *words])
    assert "" == result.stdout
    return result.exit_code, result.stderr


def test_a_port_that_is_taken() -> None:
    """It is named before anything is made."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        used = str(taken.getsockname()[1])
        code, text = refused("--port", used)
    assert (2, True) == (code, f"port: {used} is in use" in text)


def test_packages_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without SQLAlchemy it says what to install."""
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "sqlalchemy" else real(name)
    )
    code, text = refused()
    wanted = "sqlalchemy is missing; run `pip install 'waitroom[desk,embedded]'`"
    assert (2, True) == (code, wanted in text)
