"""Benchmarks, run in small counts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TRIES = 3


def run(name: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a benchmark with such an environment."""
    return subprocess.run(
        [sys.executable, "-m", f"bench.{name}"],
        cwd=ROOT,
        env={**os.environ, "FULL": "", **env},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def figures(name: str, fine: Callable[[dict[str, Any]], bool] = lambda _: True) -> dict[str, Any]:
    """Run a benchmark in small counts; return what its last line says.

    It measures one second, and the machine has other work: what is not `fine`, or failed, is
    measured again, because a fault is there every time and a stall is not.
    """
    for _ in range(TRIES):
        done = run(name, SMOKE="1")
        if done.returncode == 0:
            result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
            if fine(result):
                return result
    assert 0 == done.returncode, done.stderr
    return result
