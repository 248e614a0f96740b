"""`make bench-desk` runs, and its last line has the figures that are promised."""

from __future__ import annotations

import pytest

from tests.bench.runs import figures
from tests.support.postgres import postgres_or_skip


@pytest.mark.sample(0)
def test_it_ends_with_its_figures() -> None:
    """A run in small counts ends with JSON: no query for a place, one for the control."""
    postgres_or_skip()
    result = figures("desk")
    assert (0, 1) == (result["place_sql_queries"], result["control_sql_queries"])
    assert {"place_ratio", "join_p99_ms", "sqlite_join_p99_ms"} <= set(result)
    assert result["places_per_s"] > 0
    assert result["counts_per_s"] > 0
