"""The real command line, in this process, against a real server."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest
from typer.testing import CliRunner, Result

from tests.support.clock import crowd, open_engine
from tests.support.servers import Server, start_server
from waitroom.cli.app import app
from waitroom.engine import Engine
from waitroom.models import Policy, TicketView

SECRET = "s" * 40
Answer = TypeVar("Answer")


@dataclass
class Cli:
    """`waitroom`, with a URL and a secret in its environment."""

    url: str
    env: dict[str, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unset = {name: None for name in os.environ if name.startswith("WAITROOM_")}
        given = {"WAITROOM_REDIS_URL": self.url, "WAITROOM_SECRET": SECRET, "COLUMNS": "200"}
        self.env = {**unset, **given, **self.env}

    def run(self, *words: str | int, typed: str | None = None) -> Result:
        """Run a command, whatever the result; there is never a traceback."""
        result = CliRunner(env=self.env).invoke(app, [*map(str, words)], input=typed)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    def text(self, *words: str | int, typed: str | None = None) -> str:
        """Run a command that succeeds; return its output."""
        result = self.run(*words, typed=typed)
        assert 0 == result.exit_code, result.output
        return result.stdout

    def json(self, *words: str | int) -> Any:
        """Run a command with `--json`: one document on stdout, and nothing else anywhere."""
        result = self.run(*words, "--json")
        assert (0, "") == (result.exit_code, result.stderr)
        return json.loads(result.stdout)

    def error(self, *words: str | int, typed: str | None = None) -> tuple[int, str]:
        """Run a command that fails; return its code and its message, and check its `--json`."""
        result = self.run(*words, typed=typed)
        assert "" == result.stdout
        if typed is None:
            again = self.run(*words, "--json")
            error = json.loads(again.stderr)["error"]
            assert ("", result.exit_code) == (again.stdout, again.exit_code)
            assert error["message"] in result.stderr
            assert error["code"]
        return result.exit_code, result.stderr

    def engine(self, work: Callable[[Engine], Coroutine[Any, Any, Answer]]) -> Answer:
        """Do something with an engine, as another process would."""

        async def done() -> Answer:
            async with open_engine(self.url) as engine:
                return await work(engine)

        return asyncio.run(done())

    def fill(self, room: str, policy: Policy, people: int, enter: int = 0) -> list[TicketView]:
        """Make a room with people in it; the first `enter` of them go inside."""

        async def work(engine: Engine) -> list[TicketView]:
            await engine.create(room, policy)
            views = await crowd(engine, room, people)
            for view in views[:enter]:
                await engine.enter(room, view.ticket)
            return views

        return self.engine(work)


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run a separate server: `rooms` shows all rooms, and other tests leave many behind."""
    with start_server("valkey", tmp_path_factory.mktemp("cli")) as server:
        yield server


@pytest.fixture
def cli(valkey: Server) -> Cli:
    """Run commands on the session's server."""
    return Cli(valkey.url)
