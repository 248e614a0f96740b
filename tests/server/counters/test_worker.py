"""Counters of one worker: what is counted where, and how much memory it takes."""

from __future__ import annotations

import tracemalloc

from waitroom.server.counters.worker import LATENCY_S, Counters


def test_counting_keeps_nothing() -> None:
    """A thousand more requests and calls with known labels take no more memory than one."""
    counters = Counters()

    def count() -> None:
        counters.request("GET /v1/rooms/{room}", 200, 0.003)
        counters.backend_call("poll", 0.003, 100)
        counters.limited("joins")

    count()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(1_000):
            count()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 20_000  # 3,000 objects, one for each count, would take four times that


def test_a_tie_belongs_to_the_lower_bucket() -> None:
    """A bucket's bound is included, as Prometheus has it (`le`)."""
    counters = Counters()
    counters.request("x", 200, LATENCY_S[3])
    assert 1 == counters.snapshot()["requests"]["x 200"][3]
