"""What people saw, in columns: nothing is lost on the way to another process."""

from __future__ import annotations

import json
from math import inf

from waitroom.load.visits import End, History, Visit

VISITS = [
    Visit(End.SERVED, 1.0, 1.1, 2.0, 3.0, 3.1, 3.2, 9.0, positions=4, rises=1),
    Visit(End.INSIDE, 1.0, 1.1, called=2.0, held_until=inf),
    Visit(End.NOT_COME),
]


def written(history: History) -> list[str]:
    """Return all visits as text, in which NaN equals NaN."""
    return [repr(visit) for visit in history]


def test_visits_come_back() -> None:
    """A history returns what was added, in order."""
    history = History()
    for visit in VISITS:
        history.add(visit)
    assert 3 == len(history)
    assert [repr(visit._replace(end=int(visit.end))) for visit in VISITS] == written(history)


def test_a_crowd_goes_through_json_in_blocks() -> None:
    """Another process takes blocks of some thousand people, and then has the same history."""
    sent, taken = History(), History()
    for _ in range(1_700):
        for visit in VISITS:
            sent.add(visit)
    lines = [json.dumps(block) for block in sent.blocks()]
    for line in lines:
        taken.take(json.loads(line))
    assert (2, 5_100) == (len(lines), len(taken))
    assert written(sent) == written(taken)
