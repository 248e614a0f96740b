"""A process of the crowd, as its parent sees it: one line in, lines of JSON out."""

from __future__ import annotations

import json
import subprocess
import sys

from waitroom.load.outcome import Noted
from waitroom.load.plan import Plan
from waitroom.load.target import Target
from waitroom.load.visits import End

TARGET = Target("http://127.0.0.1:1", "127.0.0.1", 1, "127.0.0.1")


def test_it_ends_when_its_input_does() -> None:
    """A worker whose parent is gone stops, and still reports where everybody was."""
    plan = Plan(target=TARGET, room="x", people=7, connections=2, starts=1e12)
    asked = json.dumps({"plan": plan.share(0), "offset_s": 0.0}) + "\n"
    done = subprocess.run(
        [sys.executable, "-m", "waitroom.load.worker"],
        input=asked.encode(),
        capture_output=True,
        check=True,
    )
    *progress, visits, end = [json.loads(line) for line in done.stdout.splitlines()]
    assert {"progress"} == {line["kind"] for line in progress}
    assert ("visits", "end") == (visits.pop("kind"), end.pop("kind"))
    noted = Noted()
    noted.history.take(visits)
    noted.take(end)
    assert [End.NOT_COME] * 7 == [visit.end for visit in noted.history]
    assert 0 == noted.most_busy
