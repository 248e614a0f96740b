"""The counters of one worker: plain lists and integers, because every request passes here.

`Counters` knows nothing of Prometheus and does no I/O: `shared.py` adds up the counters of all
workers of a server, `metrics` shows the sum. Labels come from our own code (route templates,
verbs, names of limits), never from a caller, and their number is bounded all the same.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TypeAlias

LATENCY_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
ITEMS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
MOST_LABELS = 200
"""Most (route, status) pairs, verbs or limits; later ones are counted as `other`."""

OTHER = "other"
Row: TypeAlias = list[float]
"""One histogram: a count per bucket, one for everything above, and the sum of all values."""

Snapshot: TypeAlias = dict[str, dict[str, Row]]
"""Family → labels joined by blanks → numbers. To add two snapshots, add their rows."""

# The plain numbers of a worker, grouped by what their sum over workers means.
COUNTERS = (
    "lane_requests",
    "streams_opened",
    "backend_errors",
    "away_entries",
    "stale_answers",
    "webhooks_delivered",
    "webhooks_failed",
    "webhooks_dropped",
    "archive_errors",
)
GAUGES = ("streams_open",)


def new_row(bounds: tuple[float, ...]) -> Row:
    """Return an empty histogram."""
    return [0] * (len(bounds) + 2)


class Counters:
    """The counters of one worker. Every method is called on the event loop, so nothing is locked.

    `streams_open`, `streams_opened`, `lane_requests` and `backend_errors` are plain attributes: the
    code that opens a stream says `counters.streams_open += 1`.
    """

    __slots__ = (
        "_calls",
        "_challenges",
        "_items",
        "_limited",
        "_requests",
        "archive_errors",
        "away_entries",
        "backend_errors",
        "lane_requests",
        "stale_answers",
        "streams_open",
        "streams_opened",
        "webhooks_delivered",
        "webhooks_dropped",
        "webhooks_failed",
    )

    def __init__(self) -> None:
        self._requests: dict[tuple[str, int], Row] = {}
        self._calls: dict[str, Row] = {}
        self._items: dict[str, Row] = {}
        self._limited: dict[str, Row] = {}
        self._challenges: dict[str, Row] = {}
        self.lane_requests = 0
        self.streams_opened = 0
        self.streams_open = 0
        self.backend_errors = 0
        self.away_entries = 0
        self.stale_answers = 0
        self.webhooks_delivered = 0
        self.webhooks_failed = 0
        self.webhooks_dropped = 0
        self.archive_errors = 0

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count an answered request; `route` is a template (`GET /v1/rooms/{room}`), not a path."""
        row = self._requests.get((route, status))
        if row is None:
            row = self._new_request(route, status)
        row[bisect_left(LATENCY_S, seconds)] += 1
        row[-1] += seconds

    def backend_call(self, verb: str, seconds: float, items: int = 1) -> None:
        """Count a call to Redis or Valkey, and how many tickets went with it."""
        row = self._calls.get(verb)
        if row is None:
            verb = _bounded(self._calls, verb)
            row = self._calls.setdefault(verb, new_row(LATENCY_S))
            self._items.setdefault(verb, new_row(ITEMS))
        row[bisect_left(LATENCY_S, seconds)] += 1
        row[-1] += seconds
        sizes = self._items[verb]
        sizes[bisect_left(ITEMS, items)] += 1
        sizes[-1] += items

    def let_in_while_away(self) -> None:
        """Count a visitor who was let in while the backend was away, as the room's policy says."""
        self.away_entries += 1

    def webhooks(self, outcome: str, count: int) -> None:
        """Count messages to webhooks that were `delivered`, `failed` or `dropped`."""
        name = f"webhooks_{outcome}"
        setattr(self, name, getattr(self, name) + count)

    def limited(self, limit: str = "joins") -> None:
        """Count somebody who was told to try later: `joins`, `streams`, `keys`, …."""
        self._limited.setdefault(_bounded(self._limited, limit), [0])[0] += 1

    def challenge(self, outcome: str) -> None:
        """Count a challenge: `issued`, `solved`, `refused`, `observed`, `ripening`, …."""
        self._challenges.setdefault(_bounded(self._challenges, outcome), [0])[0] += 1

    def snapshot(self) -> Snapshot:
        """Return a copy of everything, as plain JSON values."""
        return {
            "requests": {f"{key[0]} {key[1]}": [*row] for key, row in self._requests.items()},
            "calls": {verb: [*row] for verb, row in self._calls.items()},
            "items": {verb: [*row] for verb, row in self._items.items()},
            "challenges": {outcome: [*row] for outcome, row in self._challenges.items()},
            "limited": {limit: [*row] for limit, row in self._limited.items()},
            "counters": {name: [getattr(self, name)] for name in COUNTERS},
            "gauges": {name: [getattr(self, name)] for name in GAUGES},
        }

    def _new_request(self, route: str, status: int) -> Row:
        if len(self._requests) >= MOST_LABELS:
            route = OTHER
        return self._requests.setdefault((route, status), new_row(LATENCY_S))


def add(total: Snapshot, more: Snapshot, *, skip: tuple[str, ...] = ()) -> None:
    """Add the rows of one snapshot to another; families in `skip` are left out."""
    for family, rows in more.items():
        if family in skip:
            continue
        into = total.setdefault(family, {})
        for labels, row in rows.items():
            have = into.get(labels)
            # Rows of another length were written by another version, with other buckets.
            if have is None or len(have) != len(row):
                into[labels] = [*row]
            else:
                into[labels] = [a + b for a, b in zip(have, row, strict=True)]


def _bounded(rows: dict[str, Row], label: str) -> str:
    return label if label in rows or len(rows) < MOST_LABELS else OTHER
