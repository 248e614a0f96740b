"""The benchmark of the gate runs, and says what it must."""

from __future__ import annotations

import pytest

from tests.bench.runs import figures
from tests.support.programs import needed

KEYS = {
    "verify_cached_us",
    "verify_cold_us",
    "gate_kept_pct",
    "lookups_per_request",
    "gated_per_s",
    "bare_per_s",
    "waitroom",
    "granian",
}


@pytest.mark.sample(0)
def test_ends_with_one_json_object() -> None:
    """The last line is one JSON object with every key, and the gate hardly asks Waitroom."""
    needed("wrk")
    result = figures("gate", lambda each: each["lookups_per_request"] <= 0.05)
    assert set() == KEYS - result.keys()
    assert result["lookups_per_request"] <= 0.05
    assert all(result[key] > 0 for key in KEYS if key.endswith(("_us", "_pct", "_per_s")))
