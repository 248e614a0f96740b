"""The tests can fail: each variant of wrong Lua makes its named test fail, by an assertion."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.mutants import MUTANTS, VARIABLE, Change
from waitroom.engine import scripts

ROOT = Path(__file__).parents[1]


def run(*nodes: str, mutant: str = "") -> subprocess.CompletedProcess[str]:
    """Run tests in a separate process, on Valkey, with a variant or without."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *nodes],
        cwd=ROOT,
        env={**os.environ, VARIABLE: mutant},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def green() -> None:
    """All the named tests pass as long as the Lua is right."""
    nodes = sorted({f"{mutant.test}[valkey]" for mutant in MUTANTS.values()})
    done = run(*nodes)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(nodes)} passed" in done.stdout


@pytest.mark.parametrize("name", MUTANTS)
@pytest.mark.usefixtures("green")
def test_a_mutant_turns_its_test_red(name: str) -> None:
    """With this variant of the Lua the named test fails, because a promise is broken."""
    done = run(f"{MUTANTS[name].test}[valkey]", mutant=name)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed" in done.stdout
    errors = [line for line in done.stdout.splitlines() if line.startswith("E ")]
    broken = ("assert ", "AssertionError", "DID NOT RAISE")
    assert any(word in errors[0] for word in broken), f"not by an assertion: {errors}"


@pytest.mark.parametrize(
    "change", [change for mutant in MUTANTS.values() for change in mutant.changes]
)
def test_a_mutant_changes_what_is_there(change: Change) -> None:
    """The text that a variant replaces is in its file exactly once, so no variant goes stale."""
    assert scripts.lua(change.file).count(change.old) == 1
