"""Whatever a test leaves behind fails that test, and no other."""

from __future__ import annotations

import re
import subprocess
import sys

WHAT = {
    "test_a_process": "the test left behind: process",
    "test_a_thread": "the test left behind: thread forgotten",
    "test_a_task": "Task pending",
    "test_a_connection": "ResourceWarning",
}


def test_a_leak_fails_the_test_that_made_it() -> None:
    """Each leak is an error at the end of its own test; the tests themselves all pass."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "tests/support/leaky.py"], capture_output=True, text=True, timeout=120
    )
    output = done.stdout
    parts = re.split(r"_+ ERROR at teardown of (\w+) _+", output)[1:]
    errors = dict(zip(parts[::2], parts[1::2], strict=True))
    assert WHAT.keys() == errors.keys(), output
    for name, words in WHAT.items():
        assert words in errors[name], errors[name]
    assert "5 passed" in output
