"""The server keeps what the OpenAPI document promises: schemathesis tries to prove otherwise."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.clients import ask, request
from tests.support.counts import count
from tests.support.serving import ADMIN, Serving, serving

# A request that fits the document may still meet a room that refuses, or a ticket that is gone. One
# that does not fit may be refused for its size before anybody reads it.
CONFIG = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "401", "403", "404", "409", "410", "429"]
[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "409", "410", "413", "422", "429"]
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Run a server with the room that the document gives as an example."""
    with serving(tmp_path_factory.mktemp("api")) as server:
        server.new_room("concert", max_defers=3)
        yield server


@pytest.fixture(scope="module")
def document(served: Serving) -> dict[str, Any]:
    """Return the OpenAPI document."""
    document: dict[str, Any] = ask(served.port, request("GET", "/openapi.json"), 20).json()
    return document


def run(served: Serving, folder: Path, *options: str) -> None:
    """Run schemathesis on the server; every check is on unless an option excludes it."""
    (folder / "st.toml").write_text(CONFIG)
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", "st.toml", "run"]
    command += [f"{served.base}/openapi.json", "--no-color"]
    command += [f"--max-examples={count('api_examples')}", "--generation-database=none"]
    if os.environ.get("SOAK") != "1":  # a soak uses a new seed each time
        command.append("--seed=1")
    done = subprocess.run(
        [*command, *options],
        cwd=folder,
        env=os.environ | {"HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert 0 == done.returncode, f"{done.stdout[-6_000:]}\n{done.stderr[-2_000:]}"
    assert "Tested: 0" not in done.stdout


@pytest.mark.sample(0)
@pytest.mark.parametrize("lane", ["true", "false"])
def test_visitors_calls(tmp_path: Path, lane: str) -> None:
    """Both ways: no 5xx, no status or body that is not documented, nothing invalid accepted."""
    # An open event stream has no end that a client could wait for.
    with serving(tmp_path, lane=lane) as server:
        server.new_room("concert", max_defers=3)
        run(
            server,
            tmp_path,
            "--phases=coverage,fuzzing",
            "--include-path-regex=^/v1/(rooms|check)",
            "--exclude-path-regex=events",
        )
        assert "error" not in server.said()


@pytest.mark.sample(0)
def test_operators_calls(served: Serving, tmp_path: Path) -> None:
    """The same with an admin's key, for the rest of the document."""
    # Policies may contradict themselves in ways that no schema shows, and bad keys are limited.
    without = "--exclude-checks=positive_data_acceptance,ignored_auth"
    key = f"--header=Authorization: {ADMIN['authorization']}"
    phases = "--phases=coverage,fuzzing" if count("api_coverage") else "--phases=fuzzing"
    others = "--exclude-path-regex=^/v1/(rooms|check)|^/metrics"
    run(served, tmp_path, phases, without, key, others)
    assert '"level": "error"' not in served.said()


def test_no_operator_call_is_open(served: Serving, document: dict[str, Any]) -> None:
    """Without a key every operator request gets 401, before anything else is checked."""
    calls = [
        (method, path.replace("{room}", "concert").replace("{key_id}", "x"))
        for path, methods in document["paths"].items()
        if path.startswith("/v1/admin")
        for method in methods
    ]
    assert len(calls) >= 15
    for method, path in calls:
        for headers in ({}, {"Authorization": "Basic d3I6d3I="}, {"Authorization": "Bearer"}):
            reply = ask(served.port, request(method.upper(), path, headers, b"{"))
            assert (401, "unauthorized") == (reply.status, reply.code), f"{method} {path}"
            assert "Bearer" in (reply.header("www-authenticate") or "")


def test_every_operator_call_is_declared_so(document: dict[str, Any]) -> None:
    """The document says that every operator route needs a key, and no visitor route does."""
    for path, methods in document["paths"].items():
        for method, spec in methods.items():
            needs = bool(spec.get("security"))
            assert path.startswith("/v1/admin") == needs, f"{method} {path}"


def test_problems_are_documented_as_such(document: dict[str, Any]) -> None:
    """Every documented error of the API is problem+json, with our fields."""
    schema = document["components"]["schemas"]["Problem"]
    assert {"type", "title", "status", "detail", "code", "request_id"} == set(schema["required"])
    for path, methods in document["paths"].items():
        for spec in methods.values() if path.startswith("/v1/") else ():
            for status, response in spec["responses"].items():
                if status >= "400":
                    assert ["application/problem+json"] == list(response["content"]), (path, status)
