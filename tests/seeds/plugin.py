"""A pytest plugin that records, for each requirement, how its tests ended.

`python -m tests.seeds` loads it and names the file to write in `WAITROOM_SEEDS_REPORT`.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path

import pytest

VARIABLE = "WAITROOM_SEEDS_REPORT"
_ids: dict[str, list[str]] = {}
_outcomes: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Record which test proves which requirements."""
    for item in session.items:
        _ids[item.nodeid] = [mark.args[0] for mark in item.iter_markers("seed")]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count how a test ended; a set-up that fails or skips counts too."""
    if report.when == "call" or report.outcome != "passed":
        for id_ in _ids.get(report.nodeid, []):
            _outcomes[id_][report.outcome] += 1


def pytest_sessionfinish() -> None:
    """Write the counts."""
    Path(os.environ[VARIABLE]).write_text(json.dumps(_outcomes), "utf-8")
