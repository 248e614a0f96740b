"""What the estimate of a large room costs a process: a renewal each second, as its board does."""

from __future__ import annotations

import random
import statistics
import time

from tests.support.room_simulator import Line

from waitroom.estimate.observer import Observer
from waitroom.models import Policy
from waitroom.server.rooms.board import KEPT_SAMPLES

MINUTES = 5


def renewal_ms() -> float:
    """Return the processor time of a renewal: the mean of a minute, and the median of minutes."""
    line = Line(
        Policy(capacity=2_000, session_s=600, batch=100, every_s=10),
        people=30_000,
        session=lambda rng: 20.0 if rng.random() < 0.3 else rng.uniform(200, 360),
        give_up=0.00005,
        arrivals=5.0,
        rng=random.Random(1),
    )
    line.run(3_600)
    observer = Observer()
    minutes: list[float] = []
    for _ in range(MINUTES):
        spent_s = 0.0
        for _ in range(60):
            line.step()
            stats, samples = line.stats(), line.samples[-KEPT_SAMPLES:]
            began = time.process_time()
            observer.renewed(line.policy, stats, samples)
            spent_s += time.process_time() - began
        minutes.append(spent_s / 60)
    return 1000 * statistics.median(minutes)
