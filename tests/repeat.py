"""`python -m tests.repeat 5 COMMAND…`: does the suite pass every time, even on a busy machine?

Runs the command that often, each time in another order and beside busy loops that occupy the cores,
and lists the tests that did not pass every time. It fails if there are any.
"""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

LOOPS = 2
_BAD = ("failure", "error")


@contextlib.contextmanager
def busy(loops: int = LOOPS) -> Iterator[None]:
    """Keep that many cores busy."""
    command = [sys.executable, "-c", "while True: pass"]
    running = [subprocess.Popen(command) for _ in range(loops)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def not_green(report: Path) -> set[str]:
    """Return the tests of a JUnit report that failed or had errors."""
    cases = ElementTree.parse(report).iter("testcase")  # noqa: S314 - pytest has just written it
    return {
        f"{case.get('classname')}::{case.get('name')}"
        for case in cases
        if any(case.find(word) is not None for word in _BAD)
    }


def run(command: Sequence[str], seed: int) -> set[str]:
    """Run the tests once; a run that breaks off without a report counts as bad."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        words = [*command, "--shuffle", str(seed), f"--junitxml={report}"]
        code = subprocess.run(words, check=False).returncode
        bad = not_green(report) if report.exists() else set()
    return bad or ({f"(the whole run, with code {code})"} if code else set())


def main(times: int, command: Sequence[str]) -> int:
    """Run them all, print what did not pass every time, and return the exit code."""
    bad: Counter[str] = Counter()
    seeds = [random.randrange(10**6) for _ in range(times)]
    with busy():
        for number, seed in enumerate(seeds, 1):
            sys.stdout.write(f"\n== run {number} of {times}, --shuffle {seed}\n")
            sys.stdout.flush()
            bad.update(run(command, seed))
    lines = [f"{often} of {times} times: {test}" for test, often in bad.most_common()]
    sys.stdout.write("\n".join([f"\n{len(bad)} tests were not green every time", *lines, ""]))
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]), sys.argv[2:]))
