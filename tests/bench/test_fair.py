"""The benchmark of fair entry runs, and says what it must."""

from __future__ import annotations

import pytest

from tests.bench.runs import figures
from tests.support.programs import needed

KEYS = {
    "challenge_issue_us",
    "challenge_verify_us",
    "join_ratio_with_work",
    "honest_p99_ratio",
    "refusal_cost",
    "solve_s_phone",
    "code_join_ratio",
    "identity_join_ratio",
    "places_per_core_hour_none",
    "places_per_core_hour_floor",
    "places_per_core_hour_ceiling",
    "places_per_core_hour_ripening",
}


@pytest.mark.sample(0)
def test_ends_with_one_json_object() -> None:
    """The last line is one JSON object with every key; the ceiling is a thousand times dearer, and
    verifying takes less than a join itself.
    """
    needed("wrk")
    needed("chromium")
    result = figures("fair", lambda each: each["join_ratio_with_work"] >= 0.5)
    assert result["join_ratio_with_work"] >= 0.5, "with a solution ÷ without, in the same run"
    assert [] == [key for key in KEYS if not result[key] > 0]
    assert result["places_per_core_hour_none"] >= 1000 * result["places_per_core_hour_ceiling"]
    assert result["places_per_core_hour_floor"] > result["places_per_core_hour_ceiling"]
