"""The benchmark of the server runs, and says what it must."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.runs import figures, run
from tests.support.programs import needed

KEYS = {
    "poll_ratio",
    "poll_ratio_idle",
    "poll_ratio_fresh",
    "poll_of_ceiling",
    "poll_of_wire",
    "idle_connections",
    "stalled_errors",
    "stalled_refused",
    "stalled_requests",
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
POSITIVE = (
    "poll_ratio",
    "poll_ratio_idle",
    "poll_ratio_fresh",
    "poll_of_wire",
    "join_ratio",
    "check_per_s_ratio",
    "poll_p99_ms",
    "sse_streams",
    "idle_connections",
    "stalled_requests",
)


@pytest.mark.sample(0)
def test_ends_with_one_json_object() -> None:
    """The last line is one JSON object with every key, and everybody got answers."""
    needed("wrk")
    result = figures("http")
    assert set() == KEYS - result.keys()
    # Not how many: a test shares its machine, and a starved server has reason to refuse people.
    assert [] == [key for key in POSITIVE if not result[key] > 0]


@pytest.mark.parametrize("name", ["gate", "http"])
def test_says_that_wrk_is_missing(name: str, tmp_path: Path) -> None:
    """Without wrk it ends with 1 and names the package, before it starts anything."""
    done = run(name, PATH=str(tmp_path))
    assert (1, "") == (done.returncode, done.stdout)
    assert "apt install wrk" in done.stderr
