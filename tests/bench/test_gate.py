"""The benchmark of the gate runs, and says what it must."""

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
    "verify_cached_us",
    "verify_cold_us",
    "gate_overhead_pct",
    "lookups_per_request",
    "gated_per_s",
    "bare_per_s",
    "waitroom",
    "granian",
}


def _bench(**env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench.gate"],
        cwd=ROOT,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_ends_with_one_json_object() -> None:
    """The last line is one JSON object with every key, and the gate hardly asks Waitroom."""
    if shutil.which("wrk") is None and os.environ.get("CI") != "true":
        pytest.skip("wrk is not installed (Debian: apt install wrk)")

    done = _bench(SMOKE="1")

    assert 0 == done.returncode, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert set() == KEYS - found.keys()
    assert found["lookups_per_request"] <= 0.05
    assert all(found[key] > 0 for key in KEYS if key.endswith(("_us", "_pct", "_per_s")))


def test_says_that_wrk_is_missing(tmp_path: Path) -> None:
    """Without wrk it ends with 1 and names the package, before it starts anything."""
    done = _bench(PATH=str(tmp_path))

    assert (1, "") == (done.returncode, done.stdout)
    assert "apt install wrk" in done.stderr
