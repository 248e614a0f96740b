"""One process of the crowd. It gets its plan on stdin, and ends when stdin is closed.

It writes one JSON document per line to stdout: first its progress, then its results.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import sys
import time
from typing import Any

from waitroom.load.crowd import Crowd
from waitroom.load.person import Stage
from waitroom.load.plan import Plan

TELL_S = 0.25


def tell(kind: str, **fields: Any) -> None:
    """Send a line to the parent."""
    sys.stdout.write(json.dumps({"kind": kind, **fields}) + "\n")
    sys.stdout.flush()


async def live(crowd: Crowd) -> None:
    """Run a crowd, and report its progress."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        loop.remove_reader(0)
        crowd.stop()

    # stdin becomes readable only when it is closed: the parent wants us to stop, or is gone.
    loop.add_reader(0, stop)

    async def report() -> None:
        while True:
            await asyncio.sleep(TELL_S)
            _progress(crowd)

    reporter = asyncio.create_task(report())
    try:
        await crowd.run()
    finally:
        reporter.cancel()


def _progress(crowd: Crowd) -> None:
    stages = {str(stage): crowd.stages[stage] for stage in Stage}
    tell("progress", stages=stages, errors=crowd.errors.total(), cpu_s=time.process_time())


def _noted(crowd: Crowd) -> None:
    _progress(crowd)
    for block in crowd.history.blocks():
        tell("visits", **block)
    histograms = {str(step): crowd.latency[step] for step in crowd.latency}
    histograms["lateness"] = crowd.lateness
    tell(
        "end",
        latency={
            name: [dict(histogram.buckets), histogram.most_s]
            for name, histogram in histograms.items()
        },
        errors=[[*key, count] for key, count in crowd.errors.items()],
        most_busy=crowd.most_busy,
    )


def _allow_connections(wanted: int) -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft < wanted + 64:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, wanted + 64), hard))


def main() -> None:
    """Run the process."""
    with open(0, "rb", buffering=0, closefd=False) as given:
        asked = json.loads(given.readline())
    plan = Plan.read(asked["plan"])
    _allow_connections(plan.connections)
    gc.freeze()

    async def run() -> Crowd:
        crowd = Crowd(plan, asked["offset_s"])
        await live(crowd)
        return crowd

    crowd = asyncio.run(run())
    with contextlib.suppress(BrokenPipeError):
        _noted(crowd)


if __name__ == "__main__":
    main()
