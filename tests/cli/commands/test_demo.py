"""`waitroom demo`: one command, and within seconds there is a concert to queue for."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from examples.concert.crowd import Habits, Person, Shared

from tests.cli.demos import Demo, refused, running, without_sqlalchemy
from tests.support.servers import free_port, wait_for
from waitroom import version
from waitroom.web.names import PASS_COOKIE

HASTY = Habits(think_s=(0, 0), buys=1, leaves_free=0)


@dataclass
class Concert:
    """A running demo, and its site's address."""

    demo: Demo
    site: str

    @property
    def base(self) -> str:
        """Where Waitroom is."""
        return self.demo.base

    def room(self) -> dict[str, int]:
        """Return the public view of its room."""
        view: dict[str, int] = httpx2.get(f"{self.base}/v1/rooms/concert").json()
        return view


@pytest.fixture(scope="module")
def concert(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Concert]:
    """Run `waitroom demo`."""
    port = free_port()
    words = ("demo", "--capacity", "3", "--people", "8", "--site-port", str(port))
    with running(tmp_path_factory.mktemp("demo"), *words) as demo:
        yield Concert(demo, f"http://127.0.0.1:{port}")


def test_it_says_where_to_look(concert: Concert) -> None:
    """It prints the addresses of the site and the operator page, and both work."""
    output = concert.demo.output()
    for url in (concert.site, f"{concert.base}/admin", f"{concert.base}/docs"):
        assert url in output, output
        assert 200 == httpx2.get(url, follow_redirects=True).status_code
    key = output.partition("Sign in with ")[2].split()[0]
    headers = {"authorization": f"Bearer {key}"}
    room = httpx2.get(f"{concert.base}/v1/admin/rooms/concert", headers=headers).json()
    assert 3 == room["policy"]["capacity"]


def test_there_is_a_line_to_stand_in(concert: Concert) -> None:
    """The crowd waits in front of the site, and a newcomer is sent to the waiting page."""
    wait_for(lambda: concert.room().get("waiting", 0) >= 3, "a line")
    for path in ("/book", "/BOOK", "/%62ook", "//book/dates/1", "/x/../book"):
        sent = httpx2.get(concert.site + path)
        assert 303 == sent.status_code, path
        assert sent.headers["location"].startswith(f"{concert.base}/rooms/concert?return="), path
    assert 200 == httpx2.get(sent.headers["location"]).status_code


async def test_a_newcomer_buys_a_seat(concert: Concert) -> None:
    """Somebody waits behind the crowd, gets in, pays, and is out again: the line moves."""
    transport = Shared()
    person = Person(concert.site, transport, HASTY)
    passes: list[str] = []

    async def note(request: httpx2.Request) -> None:
        passes.extend(
            re.findall(rf"{PASS_COOKIE}concert=([^;]+)", request.headers.get("cookie", ""))
        )

    person.http.event_hooks = {"request": [note]}
    async with asyncio.timeout(600):
        assert "bought" == await person.visit()
    await transport.close()
    # The receipt ends the visit, a moment after it is shown.
    check = {"authorization": f"Bearer {passes[-1]}"}
    wait_for(
        lambda: httpx2.get(f"{concert.base}/v1/check", headers=check).status_code == 401,
        "the end of the visit",
    )


@pytest.mark.last
def test_ctrl_c_ends_all_of_it(concert: Concert) -> None:
    """It ends without an error, together with its processes, and nothing is kept."""
    concert.demo.check_end(4)  # the server, a worker, the site and the crowd


def test_a_port_that_is_taken() -> None:
    """The error names it, together with the option that chooses another."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        used, free = str(taken.getsockname()[1]), str(free_port())
        text = refused("demo", "--port", used, "--site-port", free)
        assert f"port: {used} is in use" in text
        text = refused("demo", "--port", free, "--site-port", used)
        assert "another with --site-port" in text
        text = refused("demo", "--port", free, "--site-port", free)
        assert "site_port: must be another one" in text


def test_packages_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without SQLAlchemy it says what to install."""
    without_sqlalchemy(monkeypatch)
    assert "sqlalchemy is missing; run `pip install 'waitroom[demo]'`" in refused("demo")


def test_a_site_that_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An installation without the example says where to get it."""
    monkeypatch.setattr(version, "__file__", str(tmp_path / "a" / "b" / "version.py"))
    assert "the concert site is not part of this installation" in refused("demo")
