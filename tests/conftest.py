"""Real servers and engines for tests. One random room per test; nothing is ever flushed here."""

from __future__ import annotations

import asyncio
import gc
import logging
import secrets
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio
from httpx2._config import DEFAULT_TIMEOUT_CONFIG
from hypothesis import settings

from tests.support import attacks, figures, leaks, mutants, order
from tests.support.clock import Clock, open_engine
from tests.support.counts import count
from tests.support.postgres import Postgres, start_postgres
from tests.support.servers import Server, redis_server_or_skip, start_server
from tests.support.serving import Serving, serving
from waitroom.engine import Engine

mutants.apply()
# Our client logs every call: thousands of lines that hide why a test failed.
logging.getLogger("httpx2").setLevel(logging.WARNING)
# A busy machine may stall for longer than the five seconds that httpx2 waits.
for _phase in ("connect", "read", "write", "pool"):
    setattr(DEFAULT_TIMEOUT_CONFIG, _phase, 60.0)
# Hypothesis fails an example that takes 0.2 s, which only says something about the machine.
settings.register_profile("waitroom", deadline=None, max_examples=count("examples"))
settings.load_profile("waitroom")


LEAKS = leaks.WATCH


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let `make test-repeat` run the tests in another order."""
    parser.addoption(
        "--shuffle",
        type=int,
        metavar="SEED",
        help="bring files and tests into an order of this seed",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Watch fixtures of every scope: a hook in this file would not see those of a session."""
    config.pluginmanager.register(LEAKS)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the kinds of servers that only CI runs, and start with what takes longest."""
    out = {item for item in items if not order.is_due(item)}
    if not order.is_whole() and not _names_files(config):
        out |= order.sampled(items)
    config.hook.pytest_deselected(items=[item for item in items if item in out])
    due = [item for item in items if item not in out]
    seed: int | None = config.getoption("shuffle")
    items[:] = order.longest_first(due) if seed is None else order.shuffled(due, seed)
    for item in items:
        if pytest_asyncio.is_async_test(item):
            names: list[str] = item.fixturenames
            # First, so that they end last, with the event loop between the two.
            names[:] = dict.fromkeys(["leaves_nothing", "ends_its_tasks", *names])


def pytest_collection_finish() -> None:
    """Hide permanent objects from the garbage collector, which makes it fast."""
    gc.collect()
    gc.freeze()


def _names_files(config: pytest.Config) -> bool:
    """Tell whether somebody asked for certain files: they get all of those, not a sample."""
    workers_input: dict[str, bool] = getattr(config, "workerinput", {})
    asked = config.args_source is pytest.Config.ArgsSource.ARGS
    return workers_input.get("names_files", asked)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker what it cannot see, because it always gets its arguments."""
    node.workerinput["names_files"] = _names_files(node.config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> order.ByFile:
    """Give each worker one file after another, and all browser files to one worker."""
    return order.ByFile(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what the tests measured, and which files took long."""
    reports = [
        report
        for outcome in ("passed", "failed", "error", "skipped")
        for report in terminalreporter.getreports(outcome)
        if isinstance(report, pytest.TestReport)
    ]
    called = [report for report in reports if report.when == "call" and report.passed]
    for title, lines in (
        ("figures", figures.said(called)),
        ("attacks", attacks.summary(reports)),
        ("slowest files", order.slowest_files(reports)),
    ):
        if lines:
            terminalreporter.section(title)
        for line in lines:
            terminalreporter.line(line)


@pytest.fixture(autouse=True)
def leaves_nothing() -> Iterator[None]:
    """Fail a test that leaves a process, a thread, a socket or a file open."""
    yield
    _forget_logging()
    gc.collect()  # unclosed objects complain now, not in another test
    gc.freeze()  # skip what is left: scanning it again would take a fifth of a run
    if left := LEAKS.left():
        LEAKS.accept()
        pytest.fail(f"the test left behind: {', '.join(left)}")


def _forget_logging() -> None:
    """Undo what `waitroom serve` does to a process's logging, because it may have run in ours."""
    ours = [handler for handler in logging.root.handlers if type(handler) is logging.StreamHandler]
    for handler in ours:  # pytest's are of other classes
        logging.root.removeHandler(handler)
        logging.root.setLevel(logging.WARNING)
        logging.captureWarnings(False)


@pytest.fixture
async def ends_its_tasks() -> AsyncIterator[None]:
    """Fail a test, or one of its fixtures, that leaves a task running."""
    yield
    for _ in range(10):  # cancelled tasks may end
        await asyncio.sleep(0)
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert [] == left


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run the bundled Valkey for the whole session."""
    with start_server("valkey", tmp_path_factory.mktemp("valkey")) as server:
        yield server


@pytest.fixture(scope="session")
def redis7(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run Redis for the whole session, if it is installed."""
    redis_server_or_skip()
    with start_server("redis", tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """Run PostgreSQL for the whole session, if it is installed."""
    with start_postgres() as server:
        yield server


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Run `waitroom serve` for all tests of a worker, each with its own rooms."""
    with serving(tmp_path_factory.mktemp("served")) as running:
        yield running


@pytest.fixture(scope="session")
def desk_served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Run one with the desk on, for tests with their own stores."""
    with serving(tmp_path_factory.mktemp("desk"), desk=True) as running:
        yield running


@pytest.fixture(params=["valkey", "redis7"])
def server(request: pytest.FixtureRequest) -> Server:
    """Run the test on each kind of server."""
    found: Server = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def room() -> str:
    """Return a room name that no other test has."""
    return f"t-{secrets.token_hex(6)}"


@pytest.fixture
def clock() -> Clock:
    """Time that moves only when the test says so."""
    return Clock()


@pytest.fixture
async def engine(server: Server, clock: Clock) -> AsyncIterator[Engine]:
    """Connect an engine that uses the test's time."""
    async with open_engine(server.url, clock) as engine:
        yield engine
