"""`waitroom demo`: one command, and within seconds there is a concert to queue for."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from examples.concert.crowd import Habits, Person, Shared
from typer.testing import CliRunner

from tests.support.servers import wait_for
from tests.support.serving import children, free_port
from waitroom import version
from waitroom.cli.app import app

HASTY = Habits(think_s=(0, 0), buys=1, leaves_free=0)


@dataclass
class Demo:
    """A running demonstration."""

    process: subprocess.Popen[bytes]
    base: str
    site: str
    log: Path
    folder: Path

    def output(self) -> str:
        """Everything that it printed so far."""
        return self.log.read_text("utf-8")

    def room(self) -> dict[str, int]:
        """Return the public view of its room."""
        view: dict[str, int] = httpx.get(f"{self.base}/v1/rooms/concert").json()
        return view


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """Run `waitroom demo` as a shell would, in a folder where nothing else is."""
    folder = tmp_path_factory.mktemp("demo")
    port, site_port = free_port(), free_port()
    env = {key: value for key, value in os.environ.items() if not key.startswith("WAITROOM_")}
    words = ["--port", str(port), "--site-port", str(site_port), "--people", "8"]
    log = folder / "demo.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "waitroom.cli", "demo", "--capacity", "3", *words],
            env=env | {"TMPDIR": str(folder)},
            stdout=out,
            stderr=out,
            cwd=folder,
        )
    made = Demo(process, f"http://127.0.0.1:{port}", f"http://127.0.0.1:{site_port}", log, folder)
    yield made
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def test_it_says_where_to_look(demo: Demo) -> None:
    """It names the site and the operator page, and both are there."""
    wait_for(lambda: "Ctrl-C ends it" in demo.output(), "a welcome")
    output = demo.output()
    for url in (demo.site, f"{demo.base}/admin", f"{demo.base}/docs"):
        assert url in output, output
        assert 200 == httpx.get(url, follow_redirects=True).status_code
    key = output.partition("Sign in with ")[2].split()[0]
    headers = {"authorization": f"Bearer {key}"}
    room = httpx.get(f"{demo.base}/v1/admin/rooms/concert", headers=headers).json()
    assert 3 == room["policy"]["capacity"]


def test_there_is_a_line_to_stand_in(demo: Demo) -> None:
    """The crowd waits in front of the site, and a newcomer is sent to the waiting page."""
    wait_for(lambda: demo.room().get("waiting", 0) >= 3, "a line")
    for path in ("/book", "/BOOK", "/%62ook", "//book/dates/1", "/x/../book"):
        sent = httpx.get(demo.site + path)
        assert 303 == sent.status_code, path
        assert sent.headers["location"].startswith(f"{demo.base}/rooms/concert?return="), path
    assert 200 == httpx.get(sent.headers["location"]).status_code


async def test_a_newcomer_buys_a_seat(demo: Demo) -> None:
    """Somebody waits behind the crowd, gets in, pays, and is out again: the line moves."""
    transport = Shared()
    person = Person(demo.site, transport, HASTY)
    async with asyncio.timeout(600):
        assert "bought" == await person.visit()
    assert 429 == (await person.http.get("/api/concerts")).status_code
    await transport.close()


def test_ctrl_c_ends_all_of_it(demo: Demo) -> None:
    """It ends without an error, its processes with it, and nothing is kept."""
    family = [demo.process.pid]
    for pid in family:
        family += children(pid)
    assert len(family) >= 4, "the server, a worker, the site and the crowd"
    demo.process.send_signal(signal.SIGINT)
    assert demo.process.wait(120) in (0, 130)
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in family), "an end")
    assert ["demo.log"] == [path.name for path in demo.folder.iterdir()]
    assert "Traceback" not in demo.output()


def refused(*words: str) -> tuple[int, str]:
    """Return code and message of a demonstration that does not start."""
    result = CliRunner().invoke(app, ["demo", *words])
    assert "" == result.stdout
    return result.exit_code, result.stderr


def test_a_port_that_is_taken() -> None:
    """It is named together with the option that chooses another."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        used, free = str(taken.getsockname()[1]), str(free_port())
        code, text = refused("--port", used, "--site-port", free)
        assert (2, True) == (code, f"port: {used} is in use" in text)
        code, text = refused("--port", free, "--site-port", used)
        assert (2, True) == (code, "another with --site-port" in text), text
        assert "site_port: must be another one" in refused("--port", free, "--site-port", free)[1]


def test_packages_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without SQLAlchemy it says what to install."""
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "sqlalchemy" else real(name)
    )
    code, text = refused()
    assert (2, True) == (code, "sqlalchemy is missing; run `pip install 'waitroom[demo]'`" in text)


def test_a_site_that_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An installation without the example says where to get it."""
    monkeypatch.setattr(version, "__file__", str(tmp_path / "a" / "b" / "version.py"))
    code, text = refused()
    assert (2, True) == (code, "the concert site is not part of this installation" in text)
