"""`make bench-engine`: what the engine costs the server, and the throughput of one process.

Times are the server's own where possible, and both sides of every ratio run alternately in this run
on this server: a busy machine slows both down. Only a temporary folder is used.
"""

from __future__ import annotations

import asyncio
import platform
from typing import Any

import redis

import waitroom
from bench.calls import measure_calls
from bench.fill import (
    fill_measured,
    fill_others,
    fill_room,
    fill_seed,
    let_join,
    poll_everybody,
    step_for,
)
from bench.handover import measure_handovers, measure_keyspace
from bench.polls import measure_polls
from bench.report import Figures, Reporter
from bench.rig import rig, versions
from bench.scale import Scale
from bench.storm import measure_storm


async def measure(scale: Scale, reporter: Reporter) -> tuple[Figures, dict[str, Any]]:
    """Run every measurement, one after another, on one server."""
    figures: Figures = {}
    async with rig() as on:
        with reporter.step("10,000 people join and poll", 2 * scale.small) as advance:
            small = await fill_room(on, "small", 1, advance)
            await let_join(on, small, scale.small, advance)
            await poll_everybody(on, small, advance)
        polls = scale.waiting // step_for(scale.waiting)
        people = scale.inside + scale.waiting + polls
        with reporter.step("the crowd joins and polls", people) as advance:
            big = await fill_measured(on, scale, figures, advance)
        with reporter.step("the same crowd as seed 004", scale.waiting + polls) as advance:
            seed = await fill_seed(on, scale.waiting, advance)
        with reporter.step("rounds of polls", scale.poll_rounds) as advance:
            await measure_polls(on, big, small, seed, scale.poll_rounds, figures, advance)
        with reporter.step("rounds of calls, batched or not", scale.call_rounds) as advance:
            await measure_calls(on, big, scale.call_rounds, figures, advance)
        with reporter.step("sessions end, people are called", scale.inside) as advance:
            await measure_storm(on, big, scale.inside, scale.admitted, figures, advance)
        with reporter.step("keys of somebody else", scale.other_keys) as advance:
            await fill_others(on, scale.other_keys, advance)
        with reporter.step("handovers", scale.handovers) as advance:
            await asyncio.gather(
                measure_handovers(on, scale.handovers, figures, advance),
                measure_keyspace(on, scale.keyspace_s, figures),
            )
        facts = await versions(on)
    facts |= {
        "python": platform.python_version(),
        "redis_py": redis.__version__,
        "waitroom": waitroom.__version__,
        "waiting": scale.waiting,
        "full": scale.full,
        "other_keys": scale.other_keys,
        "aof": "everysec, no rewrite during the run",
    }
    return figures, facts


def main() -> None:
    """Measure and report."""
    reporter = Reporter()
    reporter.finish(*asyncio.run(measure(Scale.from_environment(), reporter)))


if __name__ == "__main__":
    main()
