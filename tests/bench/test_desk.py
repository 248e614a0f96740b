"""`make bench-desk` runs, and its last line has the figures that are promised."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.support.postgres import postgres_or_skip

ROOT = Path(__file__).parents[2]


def test_it_ends_with_its_figures() -> None:
    """A run in small counts ends with JSON: no query for a place, one for the control."""
    postgres_or_skip()
    done = subprocess.run(
        [sys.executable, "-m", "bench.desk"],
        cwd=ROOT,
        env=os.environ | {"SMOKE": "1"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert 0 == done.returncode, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert (0, 1) == (found["place_sql_queries"], found["control_sql_queries"])
    assert {"place_ratio", "join_p99_ms", "sqlite_join_p99_ms"} <= set(found)
    assert found["places_per_s"] > 0
    assert found["counts_per_s"] > 0
