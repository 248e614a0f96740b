"""The benchmark of the server runs, and says what it must."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KEYS = {
    "poll_ratio",
    "poll_of_ceiling",
    "join_ratio",
    "poll_p99_ms",
    "errors",
    "sse_kb_each",
    "sse_streams",
    "sse_told_p99_ms",
    "check_per_s_ratio",
    "handrolled_errors",
    "waiting",
    "rounds",
    "seconds",
    "waitroom",
    "granian",
}
POSITIVE = ("poll_ratio", "join_ratio", "check_per_s_ratio", "poll_p99_ms", "sse_streams")


def _bench(**env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench.http"],
        cwd=ROOT,
        env={**os.environ, "FULL": "", **env},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_ends_with_one_json_object() -> None:
    """The last line is one JSON object with every key, and everybody got answers."""
    if shutil.which("wrk") is None and os.environ.get("CI") != "true":
        pytest.skip("wrk is not installed (Debian: apt install wrk)")

    done = _bench(SMOKE="1")

    assert 0 == done.returncode, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert set() == KEYS - found.keys()
    # Not how many: a test shares its machine, and a starved server has reason to refuse people.
    assert [] == [key for key in POSITIVE if not found[key] > 0]


def test_says_that_wrk_is_missing(tmp_path: Path) -> None:
    """Without wrk it ends with 1 and names the package, before it starts anything."""
    done = _bench(PATH=str(tmp_path))

    assert (1, "") == (done.returncode, done.stdout)
    assert "apt install wrk" in done.stderr
