"""Benchmarks, run in small counts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


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


def figures(name: str) -> dict[str, Any]:
    """Run a benchmark in small counts; return what its last line says."""
    done = run(name, SMOKE="1")
    assert 0 == done.returncode, done.stderr
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result
