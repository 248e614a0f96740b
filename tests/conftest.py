"""Real servers and engines for tests. One random room per test; nothing is ever flushed here."""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.support import figures, mutants
from tests.support.clock import Clock, open_engine
from tests.support.servers import Server, redis_server_or_skip, start_server
from waitroom.engine import Engine

mutants.apply()
# A client of ours logs every call: thousands of lines that hide why a test failed.
logging.getLogger("httpx").setLevel(logging.WARNING)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what the tests have measured."""
    reports = [one for one in terminalreporter.getreports("passed") if one.when == "call"]
    found = figures.said(reports)
    if found:
        terminalreporter.section("figures")
        for line in found:
            terminalreporter.line(line)


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run the bundled Valkey for the whole session."""
    with start_server("valkey", tmp_path_factory.mktemp("valkey")) as server:
        yield server


@pytest.fixture(scope="session")
def redis7(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run Redis for the whole session, where it is installed."""
    redis_server_or_skip()
    with start_server("redis", tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(params=["valkey", "redis7"])
def server(request: pytest.FixtureRequest) -> Server:
    """Run the test on each kind of server."""
    found: Server = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def room() -> str:
    """Name a room that no other test has."""
    return f"t-{secrets.token_hex(6)}"


@pytest.fixture
def clock() -> Clock:
    """Time that moves only when the test says so."""
    return Clock()


@pytest.fixture
async def engine(server: Server, clock: Clock) -> AsyncIterator[Engine]:
    """Connect an engine whose time is the test's."""
    async with open_engine(server.url, clock) as engine:
        yield engine
