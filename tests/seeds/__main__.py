"""`python -m tests.seeds`: which requirements of the seed documents are proven.

Runs the tests of this folder and prints id → passed, failed, skipped, missing or not yet due. It
fails unless every id that is due has passed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.seeds.ids import ALL, NOT_YET_DUE
from tests.seeds.plugin import VARIABLE

FOLDER = Path(__file__).parent


def verdict(id_: str, outcomes: Mapping[str, Mapping[str, int]]) -> str:
    """Return the state of one requirement; a skipped server does not undo a test that passed."""
    if id_ in NOT_YET_DUE:
        return "not yet due"
    counts = outcomes.get(id_, {})
    for word in ("failed", "passed", "skipped"):
        if counts.get(word):
            return word
    return "missing"


def run(words: list[str]) -> tuple[int, dict[str, dict[str, int]]]:
    """Run the tests with our plugin; return pytest's code and the outcomes by id."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.seeds.plugin", str(FOLDER)]
        environment = {**os.environ, VARIABLE: str(report)}
        code = subprocess.run([*command, *words], env=environment, check=False).returncode
        outcomes = json.loads(report.read_text("utf-8")) if report.exists() else {}
    return code, outcomes


def main() -> int:
    """Run, print the table, and return the exit code."""
    code, outcomes = run(sys.argv[1:])
    verdicts = {id_: verdict(id_, outcomes) for id_ in ALL}
    lines = [""]
    for id_, word in verdicts.items():
        tests = sum(outcomes.get(id_, {}).values())
        why = NOT_YET_DUE.get(id_) or f"{tests} test{'' if tests == 1 else 's'}"
        lines.append(f"{id_}  {word:<12}  {why}")
    words = list(verdicts.values())
    counts = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
    lines.append(f"\n{len(ALL)} requirements: {counts}")
    sys.stdout.write("\n".join(lines) + "\n")
    proven = set(words) <= {"passed", "not yet due"}
    return 0 if proven and code == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
