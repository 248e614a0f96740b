"""The benchmark of the operator page runs, and says what it must."""

from __future__ import annotations

import pytest

from tests.bench.runs import figures
from tests.support.programs import needed

ASKED = ("overview", "room", "history", "find_code", "find_id")


@pytest.mark.sample(0)
def test_ends_with_one_json_object() -> None:
    """The last line is one JSON object: each page was asked for and answered, and so were polls."""
    needed("wrk")
    result = figures("console", lambda each: each["console_errors"] == 0)
    assert [] == [name for name in ASKED if not result[f"{name}_requests"] > 0]
    assert [] == [name for name in ASKED if not result[f"{name}_p99_ms"] > 0]
    assert result["polls_per_s_ratio"] > 0
    assert 0 == result["console_errors"]
    assert (3, 600) == (result["rooms"], result["waiting"])
