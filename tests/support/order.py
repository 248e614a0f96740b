"""The order of the files in a run, the kinds of servers it uses, and what took long.

Workers take one file after another, so the longest come first. A long file at the end would keep
one worker busy while the others have nothing to do.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby
from types import MappingProxyType

import pytest
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

from tests.support.counts import count

LONGEST = (
    "tests/browser/",
    "tests/cli/commands/test_load.py",
    "tests/cli/commands/test_demo.py",
    "tests/cli/desk/test_demo.py",
    "tests/stacks/test_outcomes.py",
    "tests/deploy/test_image.py",
    "tests/stacks/test_away.py",
    "tests/acceptance/test_ticker.py",
    "tests/acceptance/test_key_rotation.py",
    "tests/acceptance/test_hammer.py",
    "tests/rehearsal/",
    "tests/bench/",
    "tests/load/test_wrong_server.py",
    "tests/server/process/test_parent.py",
    "tests/estimate/test_methods.py",
    "tests/desk/record/test_at_once.py",
    "tests/desk/notify/",
    "tests/acceptance/",
    "tests/stacks/",
    "tests/server/desk/",
    "tests/gates/test_away.py",
    "tests/desk/",
    "tests/server/",
    "tests/cli/",
)
"""Files and folders by how long they take, longest first; anything not listed is short."""

TOGETHER = "tests/browser/"
"""One worker runs them all: a Chromium per worker would cost as much as the tests themselves."""

SECOND: Mapping[str, str] = MappingProxyType(
    {"server": "redis7", "apart": "redis", "kind": "redis", "database_url": "postgres"}
)
"""Test parameters with the kind of server that only CI runs: `count("kinds")` is 1 locally.

A test whose outcome may depend on the kind is marked `every_kind`, and always runs on all kinds.
"""


def is_due(item: pytest.Item) -> bool:
    """Tell whether this run has the kind of server that a test needs."""
    if is_whole() or item.get_closest_marker("every_kind"):
        return True
    params = _params(item)
    return not any(params.get(name) == kind for name, kind in SECOND.items())


def is_whole() -> bool:
    """Tell whether this run has every kind of server, and every set of parameters."""
    return count("kinds") > 1


def sampled(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """Return the tests left out of a sample: `@pytest.mark.sample(2)` keeps two sets of a test's
    parameters, those that show the most values not shown by any other.
    """
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sample"):
            groups.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out: set[pytest.Item] = set()
    for tests in groups.values():
        mark = tests[0].get_closest_marker("sample")
        most = mark.args[0] if mark else 0
        left_out |= set(tests) - set(_most_different(tests, most))
    return left_out


def _most_different(tests: Iterable[pytest.Item], most: int) -> list[pytest.Item]:
    seen: set[tuple[str, str]] = set()
    values = {test: {(k, repr(v)) for k, v in _params(test).items()} for test in tests}
    chosen: list[pytest.Item] = []
    while values and len(chosen) < most:
        chosen.append(max(values, key=lambda test: len(values[test] - seen)))
        seen |= values.pop(chosen[-1])
    return chosen


def _params(item: pytest.Item) -> Mapping[str, object]:
    callspec = getattr(item, "callspec", None)
    return callspec.params if callspec else {}


def file_of(nodeid: str) -> str:
    """Return the file of a test."""
    return nodeid.partition("::")[0]


def longest_first(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Sort tests by file; tests in one file keep their order."""
    return sorted(items, key=lambda item: _rank(file_of(item.nodeid)))


def _rank(file: str) -> int:
    for place, start in enumerate(LONGEST):
        if file.startswith(start):
            return place
    return len(LONGEST)


def shuffled(items: Iterable[pytest.Item], seed: int) -> list[pytest.Item]:
    """Shuffle the files, and the tests within each, except one marked `last`.

    The seed makes it repeatable.
    """
    dice = random.Random(seed)
    files = [list(group) for _, group in groupby(items, lambda item: file_of(item.nodeid))]
    for tests in files:
        dice.shuffle(tests)
        tests.sort(key=lambda item: item.get_closest_marker("last") is not None)
    dice.shuffle(files)
    return [item for tests in files for item in tests]


class ByFile(LoadFileScheduling):  # type: ignore[misc]
    """Keeps the files of a folder together if their tests share something costly."""

    def _split_scope(self, nodeid: str) -> str:
        return TOGETHER if nodeid.startswith(TOGETHER) else file_of(nodeid)


def slowest_files(reports: Iterable[pytest.TestReport], most: int = 10) -> list[str]:
    """Return the files that took longest, with their seconds."""
    seconds: Counter[str] = Counter()
    for report in reports:
        seconds[file_of(report.nodeid)] += report.duration  # type: ignore[assignment]
    return [f"{took:7.1f} s  {file}" for file, took in seconds.most_common(most)]
