"""`waitroom desk demo`: one command, and there is an evening at a restaurant to look at."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.cli.demos import Demo, refused, running, without_sqlalchemy
from tests.support.servers import wait_for


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """Run `waitroom desk demo`."""
    with running(tmp_path_factory.mktemp("desk-demo"), "desk", "demo") as demo:
        yield demo


def word(demo: Demo, pattern: str) -> str:
    """Return something that it printed."""
    match = re.search(pattern, demo.output())
    assert match is not None, demo.output()
    return match[0]


def line_of(demo: Demo) -> dict[str, Any]:
    """Return what the host's console shows."""
    headers = {"authorization": f"Bearer {word(demo, 'wrh_[A-Za-z0-9_-]+')}"}
    answer = httpx2.get(f"{demo.base}/v1/stores/han-river/line", headers=headers, timeout=60)
    line: dict[str, Any] = answer.raise_for_status().json()
    return line


def test_it_says_where_to_look(demo: Demo) -> None:
    """It prints the addresses of the guests' and hosts' pages, and all of them work."""
    output = demo.output()
    place = word(demo, r"http://[^ ]+/p/[^ \n]+")
    desk = f"{demo.base}/desk/han-river"
    for url in (desk, place, f"{desk}/host", f"{desk}/poster", f"{demo.base}/docs"):
        assert url in output
        assert 200 == httpx2.get(url, follow_redirects=True, timeout=60).status_code, url


def test_there_is_an_evening(demo: Demo) -> None:
    """Parties wait in both lines, with waits from earlier seatings, and phones are masked."""
    line = line_of(demo)
    waiting = [party for party in line["parties"] if party["status"] == "WAITING"]
    assert {"dine-in", "takeout"} == {party["type"] for party in waiting}
    assert all("****" in party["phone"] for party in waiting)
    assert [party for party in line["recent"] if party["status"] == "SEATED"]


def test_the_evening_goes_on(demo: Demo) -> None:
    """Guests join and are called by themselves, and some are seated."""
    newest = max(party["id"] for party in line_of(demo)["parties"])

    def moved() -> bool:
        line = line_of(demo)
        came = max(party["id"] for party in line["parties"]) > newest
        return came and any(party["called_at"] for party in line["recent"])

    wait_for(moved, "somebody who came, and somebody who was seated")


@pytest.mark.last
def test_ctrl_c_ends_all_of_it(demo: Demo) -> None:
    """It ends without an error, together with its processes, and nothing is kept."""
    demo.check_end(3)  # the server, its store and a worker


def test_a_port_that_is_taken() -> None:
    """The error names it before anything is created."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        used = str(taken.getsockname()[1])
        assert f"port: {used} is in use" in refused("desk", "demo", "--port", used)


def test_packages_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without SQLAlchemy it says what to install."""
    without_sqlalchemy(monkeypatch)
    wanted = "sqlalchemy is missing; run `pip install 'waitroom[desk,embedded]'`"
    assert wanted in refused("desk", "demo")
