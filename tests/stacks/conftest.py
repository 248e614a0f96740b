"""One Waitroom with a room, and each stack in front of it, shared by the tests of this folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from tests.stacks import tools
from tests.stacks.tools import ROOM, Stack
from tests.support.programs import needed
from tests.support.serving import Serving


@dataclass(frozen=True, slots=True)
class Inside:
    """Somebody who is inside, by what they hold."""

    ticket: str
    pass_: str


def come_in(served: Serving) -> Inside:
    """Go inside the room as a new visitor."""
    answer = httpx2.post(f"{served.base}/v1/rooms/{ROOM}/tickets", json={"enter": True}, timeout=20)
    ticket = answer.raise_for_status().json()
    assert "inside" == ticket["state"]
    return Inside(ticket["ticket"], ticket["pass"])


@pytest.fixture(scope="session")
def served(served: Serving) -> Serving:
    """Return the running Waitroom, with the room that the examples protect."""
    served.new_room(ROOM, capacity=10_000, session_s=3600, renewable=True)
    return served


@pytest.fixture(scope="session")
def inside(served: Serving) -> Inside:
    """Return somebody who is inside."""
    return come_in(served)


@pytest.fixture(scope="session")
def site() -> Iterator[int]:
    """Run the site behind nginx."""
    with tools.upstream() as port:
        yield port


@pytest.fixture(scope="session")
def node_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the package is installed once."""
    needed("node", "nodejs")
    if "PYTEST_XDIST_WORKER" in os.environ:
        return tools.installed(tmp_path_factory.getbasetemp().parent / "node")
    return tools.installed(tmp_path_factory.mktemp("node"))


@pytest.fixture(scope="session")
def go_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the gate for Go is compiled once."""
    return tmp_path_factory.mktemp("go")


@pytest.fixture(scope="session")
def java_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the example is compiled once."""
    return tmp_path_factory.mktemp("java")


@pytest.fixture(scope="session")
def nginx_stack(
    served: Serving, site: int, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    """Run nginx with the example's file."""
    with tools.nginx(tmp_path_factory.mktemp("nginx"), served.port, site) as stack:
        yield stack


@pytest.fixture(scope="session")
def node_stack(served: Serving, node_folder: Path) -> Iterator[Stack]:
    """Run the example for Node."""
    with tools.node(node_folder, served.port) as stack:
        yield stack


@pytest.fixture(scope="session")
def java_stack(served: Serving, java_folder: Path) -> Iterator[Stack]:
    """Run the example for Java."""
    with tools.java(java_folder, served.port) as stack:
        yield stack


@pytest.fixture(scope="session")
def go_stack(served: Serving, go_folder: Path) -> Iterator[Stack]:
    """Run the example for Go."""
    with tools.go(go_folder, served.port) as stack:
        yield stack


@pytest.fixture(params=["nginx", "node", "go", "java"])
def stack(request: pytest.FixtureRequest) -> Stack:
    """Run the test on each stack."""
    chosen: Stack = request.getfixturevalue(f"{request.param}_stack")
    return chosen
