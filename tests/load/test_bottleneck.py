"""What was at its limit during a load test."""

from __future__ import annotations

import pytest

from tests.support.servers import free_port
from waitroom.load.bottleneck import Usage, Watch, bottleneck, metric


@pytest.mark.parametrize(
    ("usage", "late_s", "full", "who"),
    [
        (Usage(server=0.99, workers=1, backend=0.99, own=0.95), 0.0, False, "load test"),
        (Usage(server=0.99, workers=1, backend=0.9, own=0.5), 0.0, False, "backend"),
        (Usage(server=1.9, workers=2, backend=0.4, own=0.5), 0.0, False, "server"),
        (Usage(server=1.0, workers=2, backend=0.4, own=0.5, machine=0.99), 0.0, False, "machine"),
        (Usage(server=0.4, workers=1, lag_s=0.3, own=0.5), 0.0, False, "server"),
        (Usage(server=0.4, workers=1, own=0.1), 2.0, True, "connections"),
        (Usage(server=0.4, workers=1, own=0.1), 0.01, True, "none"),
        (Usage(own=0.1), 0.0, False, "unknown"),
    ],
)
def test_the_limit_is_named(usage: Usage, late_s: float, full: bool, who: str) -> None:
    """Whatever was saturated is named, the load test itself first."""
    assert who == bottleneck(usage, late_s, full).who


def test_the_busiest_moments_count() -> None:
    """Utilisation is that of the busiest seconds, not of the whole run."""
    watch = Watch(free_port(), local=False)
    for now, cpu in ((0, 0.0), (3, 0.3), (6, 3.0), (6.1, 3.1), (9, 3.1)):
        text = f"process_cpu_seconds_total {cpu}\nwaitroom_workers 2\nwaitroom_loop_lag_seconds 0\n"
        watch.look(text, [cpu / 2], now=now)
    usage = watch.usage()
    assert (0.9, 0.45, 2) == (round(usage.server or 0, 3), round(usage.own or 0, 3), usage.workers)
    assert None is metric("process_cpu_seconds_totals 1", "process_cpu_seconds_total")
