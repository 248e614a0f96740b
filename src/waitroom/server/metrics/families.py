"""The metrics: which there are, and how they are written for Prometheus. No I/O.

`METRICS` is the one table of all metrics; docs/metrics.md, the dashboard and the alerts are held
to it by tests. Numbers of the process are the sum over its workers (`counters/shared.py`).
Numbers of rooms come from the backend and are the same in every process: take `max`, not `sum`.
Labels are room names, route templates and our own words. Never a ticket, an address or a key.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from waitroom.models import Policy, Stats
from waitroom.operations.webhooks import Standing
from waitroom.server.counters.shared import Sum
from waitroom.server.counters.worker import ITEMS, LATENCY_S, Row
from waitroom.version import __version__


@dataclass(frozen=True, slots=True)
class Family:
    """One line of the table. A counter's samples end in `_total`, which is not in `name`."""

    name: str
    kind: str
    about: str
    labels: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """Return its name in Prometheus."""
        return f"{self.name}_total" if self.kind == "counter" else self.name


METRICS = (
    Family("waitroom_build_info", "gauge", "Always 1; the labels say which version runs",
           ("version", "python")),
    Family("waitroom_requests", "counter", "Requests answered", ("route", "status")),
    Family("waitroom_request_seconds", "histogram", "Time to answer a request", ("route",)),
    Family("waitroom_lane_requests", "counter", "Requests that the fast lane answered"),
    Family("waitroom_limited", "counter", "Requests told to come later", ("limit",)),
    Family("waitroom_challenges", "counter", "Challenges to newcomers", ("outcome",)),
    Family("waitroom_streams_open", "gauge", "Live event streams open now"),
    Family("waitroom_streams_limit", "gauge", "Most event streams that may be open"),
    Family("waitroom_streams_opened", "counter", "Live event streams ever opened"),
    Family("waitroom_backend_up", "gauge", "1 while Redis or Valkey answers, else 0"),
    Family("waitroom_backend_call_seconds", "histogram", "Time of a backend call", ("verb",)),
    Family("waitroom_backend_call_items", "histogram", "Tickets per backend call", ("verb",)),
    Family("waitroom_backend_errors", "counter", "Outages of the backend that this server noticed"),
    Family("waitroom_away_entries", "counter", "People let in unseen while the backend was away"),
    Family("waitroom_stale_answers", "counter", "Polls told again what they were told before"),
    Family("waitroom_webhooks_delivered", "counter", "Messages that webhooks took"),
    Family("waitroom_webhooks_failed", "counter", "Messages that must be tried again"),
    Family("waitroom_webhooks_dropped", "counter", "Messages given up after a day"),
    Family("waitroom_webhook_late", "gauge", "Entries that wait while a webhook fails",
           ("webhook",)),
    Family("waitroom_webhook_oldest_seconds", "gauge", "Age of the oldest that waits",
           ("webhook",)),
    Family("waitroom_outbox_entries", "gauge", "Entries in the outboxes of all rooms"),
    Family("waitroom_archive_errors", "counter", "Times that the archive could not be written"),
    Family("waitroom_draining", "gauge", "1 once this process was told to stop, else 0"),
    Family("waitroom_workers", "gauge", "Worker processes alive"),
    Family("waitroom_workers_wanted", "gauge", "Worker processes that there should be"),
    Family("waitroom_loop_lag_seconds", "gauge", "How late the slowest worker's timers came"),
    Family("process_cpu_seconds", "counter", "Processor time of all workers"),
    Family("process_resident_memory_bytes", "gauge", "Memory of all workers"),
    Family("process_open_fds", "gauge", "Open files of the worker that has most"),
    Family("process_max_fds", "gauge", "Most files that a worker may have open"),
    Family("process_start_time_seconds", "gauge", "When the oldest worker started, as Unix time"),
    Family("waitroom_rooms", "gauge", "Rooms in the backend"),
    Family("waitroom_rooms_left_out", "gauge", "Rooms without numbers of their own here"),
    Family("waitroom_room_mode", "gauge", "Always 1; the label says the room's mode",
           ("room", "mode")),
    Family("waitroom_room_waiting", "gauge", "People waiting", ("room",)),
    Family("waitroom_room_may_return", "gauge", "Silent people who may still return", ("room",)),
    Family("waitroom_room_called", "gauge", "People called who have not entered yet", ("room",)),
    Family("waitroom_room_inside", "gauge", "People inside", ("room",)),
    Family("waitroom_room_longest_wait_seconds", "gauge",
           "How long the first in line has waited", ("room",)),
    Family("waitroom_room_estimated_wait_seconds", "gauge",
           "Wait that a newcomer is told", ("room", "bound")),
    Family("waitroom_room_hold_seconds", "gauge",
           "How much longer admission holds after a loss or an outage", ("room",)),
    Family(
        "waitroom_room_opens_at_seconds",
        "gauge",
        "When the room opens, as Unix time; absent where it has no opening time",
        ("room",),
    ),
    Family("waitroom_room_ends_at_seconds", "gauge",
           "When it is over, as Unix time; absent where it has no end time", ("room",)),
    Family(
        "waitroom_room_capacity",
        "gauge",
        "Most people called or inside at once; absent where there is no limit",
        ("room",),
    ),
    Family("waitroom_room_joins", "counter", "People who took a place", ("room",)),
    Family("waitroom_room_restored", "counter", "Places given back after a loss", ("room",)),
    Family("waitroom_room_calls", "counter", "People called", ("room",)),
    Family("waitroom_room_entries", "counter", "People who went inside", ("room",)),
    Family("waitroom_room_finished", "counter", "Sessions finished", ("room",)),
    Family("waitroom_room_expired", "counter", "Sessions that ran out", ("room",)),
    Family("waitroom_room_left", "counter", "People who left by themselves", ("room",)),
    Family("waitroom_room_kicked", "counter", "People removed by an operator", ("room",)),
    Family("waitroom_room_no_shows", "counter", "People called who never entered", ("room",)),
    Family("waitroom_room_abandonments", "counter", "Waiting people who fell silent", ("room",)),
    Family("waitroom_room_deferrals", "counter", "Times somebody let others go first", ("room",)),
    Family("waitroom_room_reinstated", "counter", "People given their place back", ("room",)),
)  # fmt: skip
_BY_NAME = {family.name: family for family in METRICS}
_COUNTERS = {
    "joined": "joins",
    "restored": "restored",
    "called_total": "calls",
    "entered": "entries",
    "finished": "finished",
    "expired": "expired",
    "left": "left",
    "kicked": "kicked",
    "no_show": "no_shows",
    "abandoned": "abandonments",
    "deferred": "deferrals",
    "reinstated": "reinstated",
}
"""A counter of `Stats` → the last word of its metric."""


@dataclass(frozen=True, slots=True)
class RoomFigures:
    """A room at the time of a scrape; `wait_s` is low, likely, high for a newcomer."""

    stats: Stats
    wait_s: tuple[int, int, int] | None = None
    policy: Policy | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts(Collector):
    """Everything that one scrape shows. A collector, because the client's encoders take one."""

    sum: Sum
    rooms: Sequence[RoomFigures] = ()
    rooms_in_all: int = 0
    backend_up: bool = True
    draining: bool = False
    workers_wanted: int = 1
    streams_limit: int = 0
    outbox_entries: int = 0
    webhooks: Sequence[Standing] = ()

    def collect(self) -> Iterator[Metric]:
        """Yield every family of the table that has a number."""
        yield from self._process()
        yield from _rooms(self.rooms)

    def _process(self) -> Iterator[Metric]:
        counters, gauges = self.sum.numbers["counters"], self.sum.numbers["gauges"]
        yield _single("waitroom_build_info", 1, __version__, platform.python_version())
        yield from _requests(self.sum.numbers.get("requests", {}))
        limited = self.sum.numbers.get("limited", {}).items()
        yield _many("waitroom_limited", (((limit,), row[0]) for limit, row in limited))
        outcomes = self.sum.numbers.get("challenges", {}).items()
        yield _many("waitroom_challenges", (((outcome,), row[0]) for outcome, row in outcomes))
        for name in ("calls", "items"):
            yield _backend(name, self.sum.numbers.get(name, {}))
        yield _single("waitroom_lane_requests", counters["lane_requests"][0])
        yield _single("waitroom_streams_opened", counters["streams_opened"][0])
        yield _single("waitroom_backend_errors", counters["backend_errors"][0])
        yield _single("waitroom_away_entries", counters["away_entries"][0])
        yield _single("waitroom_stale_answers", counters["stale_answers"][0])
        for name in ("webhooks_delivered", "webhooks_failed", "webhooks_dropped", "archive_errors"):
            yield _single(f"waitroom_{name}", counters.get(name, [0])[0])
        yield _single("waitroom_outbox_entries", self.outbox_entries)
        late = (((each.webhook.id,), float(each.late)) for each in self.webhooks)
        yield _many("waitroom_webhook_late", late)
        ages = (((each.webhook.id,), each.oldest_ms / 1000) for each in self.webhooks)
        yield _many("waitroom_webhook_oldest_seconds", ages)
        yield _single("process_cpu_seconds", counters["cpu_s"][0])
        yield _single("waitroom_streams_open", gauges["streams_open"][0])
        yield _single("process_resident_memory_bytes", gauges["resident_bytes"][0])
        yield _single("process_open_fds", self.sum.open_files)
        yield _single("process_max_fds", self.sum.most_files)
        yield _single("process_start_time_seconds", self.sum.started_s)
        yield _single("waitroom_loop_lag_seconds", self.sum.loop_lag_s)
        yield _single("waitroom_streams_limit", self.streams_limit)
        yield _single("waitroom_workers", self.sum.workers)
        yield _single("waitroom_workers_wanted", self.workers_wanted)
        yield _single("waitroom_backend_up", self.backend_up)
        yield _single("waitroom_draining", self.draining)
        yield _single("waitroom_rooms", self.rooms_in_all)
        yield _single("waitroom_rooms_left_out", max(0, self.rooms_in_all - len(self.rooms)))


def render(facts: Facts, accept: str) -> tuple[bytes, str]:
    """Return the page and its type: the text format, or OpenMetrics if the caller asks for it."""
    encode, content_type = choose_encoder(accept)
    return encode(facts), content_type


def _rooms(rooms: Sequence[RoomFigures]) -> Iterator[Metric]:
    def each(name: str, number: Callable[[Stats], float]) -> Metric:
        figures = (((room.stats.room,), number(room.stats)) for room in rooms)
        return _many(f"waitroom_room_{name}", figures)

    modes = (((room.stats.room, str(room.stats.mode)), 1) for room in rooms)
    yield _many("waitroom_room_mode", modes)
    yield each("waiting", lambda stats: stats.waiting)
    yield each("may_return", lambda stats: stats.may_return)
    yield each("called", lambda stats: stats.called)
    yield each("inside", lambda stats: stats.inside)
    yield each("longest_wait_seconds", lambda stats: stats.oldest_wait_ms / 1000)
    yield each("hold_seconds", _hold_s)
    waits = (
        ((room.stats.room, bound), seconds)
        for room in rooms
        for bound, seconds in zip(("low", "likely", "high"), room.wait_s or (), strict=False)
    )
    yield _many("waitroom_room_estimated_wait_seconds", waits)
    yield _many("waitroom_room_opens_at_seconds", _limits(rooms, "opens_at_ms", 1000))
    yield _many("waitroom_room_ends_at_seconds", _limits(rooms, "ends_at_ms", 1000))
    yield _many("waitroom_room_capacity", _limits(rooms, "capacity"))
    for counter, word in _COUNTERS.items():
        yield each(word, lambda stats, counter=counter: stats.counters[counter])  # type: ignore[misc]


def _limits(
    rooms: Sequence[RoomFigures], field: str, per: int = 1
) -> Iterator[tuple[tuple[str, ...], float]]:
    for room in rooms:
        value = getattr(room.policy, field, None)
        if value is not None:
            yield (room.stats.room,), value / per


def _hold_s(stats: Stats) -> float:
    return max(0.0, ((stats.hold_until_ms or 0) - stats.now_ms) / 1000)


def _requests(rows: dict[str, Row]) -> Iterator[Metric]:
    """Show what is kept per route and status: counts by both, times by route."""
    by_route: dict[str, Row] = {}
    counts: list[tuple[tuple[str, ...], float]] = []
    for labels, row in rows.items():
        route, status = labels.rsplit(" ", 1)
        counts.append(((route, status), sum(row[:-1])))
        have = by_route.get(route, [0.0] * len(row))
        by_route[route] = [a + b for a, b in zip(have, row, strict=True)]
    yield _many("waitroom_requests", counts)
    yield _histogram("waitroom_request_seconds", LATENCY_S, by_route)


def _backend(name: str, rows: dict[str, Row]) -> Metric:
    if name == "calls":
        return _histogram("waitroom_backend_call_seconds", LATENCY_S, rows)
    return _histogram("waitroom_backend_call_items", ITEMS, rows)


def _single(name: str, value: float, *labels: str) -> Metric:
    return _many(name, [(labels, float(value))])


def _many(name: str, samples: Iterable[tuple[tuple[str, ...], float]]) -> Metric:
    family = _BY_NAME[name]
    make = CounterMetricFamily if family.kind == "counter" else GaugeMetricFamily
    metric: CounterMetricFamily | GaugeMetricFamily = make(name, family.about, labels=family.labels)
    for labels, value in samples:
        metric.add_metric(labels, value)
    return metric


def _histogram(name: str, bounds: tuple[float, ...], rows: dict[str, Row]) -> Metric:
    family = _BY_NAME[name]
    metric = HistogramMetricFamily(name, family.about, labels=family.labels)
    edges = [*(str(float(bound)) for bound in bounds), "+Inf"]
    for label, row in rows.items():
        buckets = list(zip(edges, accumulate(row[:-1]), strict=True))
        metric.add_metric([label], buckets, sum_value=row[-1])
    return metric
