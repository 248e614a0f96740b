"""Compares the coverage that `make coverage` measured with its floor, and raises the floor.

It is measured where an error costs somebody their place: the scope of `make quick`. Servers, pages
and commands are tested by running them, which takes minutes and would be too slow to do twice.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FLOOR = Path(__file__).with_name("coverage_floor.txt")
MEASURED = (
    *("engine/*", "estimate/*", "planner/*", "credentials/*", "web/*", "models/*"),
    *("passes.py", "settings.py", "texts.py", "tickets.py"),
)


def raised(floor: float, total: float) -> float:
    """Return the new floor: the next half per cent below the figure, and never a lower one.

    Tests with random input vary by a tenth of that from run to run.
    """
    return max(floor, int(total * 2) / 2)


def main() -> int:
    """Compare, report, and write a higher floor."""
    floor = float(FLOOR.read_text("utf-8"))
    include = ",".join(f"src/waitroom/{name}" for name in MEASURED)
    report = [sys.executable, "-m", "coverage", "report", f"--include={include}", "--precision=2"]
    subprocess.run([*report, "--skip-covered", "--show-missing"], check=True)
    total = float(subprocess.check_output([*report, "--format=total"], text=True))
    if total < floor:
        print(f"\n✗ {total} % of lines and branches are tested; the floor is {floor} %")  # noqa: T201
        return 1
    print(f"\n✓ {total} % of lines and branches are tested, floor {floor} %")  # noqa: T201
    if (higher := raised(floor, total)) > floor:
        FLOOR.write_text(f"{higher}\n", "utf-8")
        print(f"  tests/coverage_floor.txt is {higher} now; commit it")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
