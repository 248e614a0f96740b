"""`make bench-http`: the throughput of one server process, compared with three others.

`handrolled` is the queue that a good engineer writes in an afternoon, `ceiling` an ASGI server with
a constant body, `wire` a bare protocol with the same body. All use the same backend and, in turn,
the same core; wrk and the backend share another. Only a temporary folder is used.
"""

# ruff: noqa: A005 - nobody imports it by its bare name

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

import uvloop

import waitroom
from bench.report import Figures
from bench.rig import versions
from bench.web import cores, needs, wrk
from bench.web.ground import Ground, fill_handrolled, fill_waiting, ground
from bench.web.line_up import line_up, ours
from bench.web.report import HttpReporter
from bench.web.rounds import Lines, let_inside, measure_idle, measure_paced, measure_rounds
from bench.web.scale import Scale
from bench.web.stalled import measure_stalled
from bench.web.told import allow_files, measure_streams

PACKAGES = ("granian", "uvicorn", "fastapi", "redis", "hiredis", "uvloop")


async def measure(scale: Scale, reporter: HttpReporter) -> tuple[Figures, dict[str, Any]]:
    """Run every measurement, one after another, on one backend."""
    figures: Figures = {}
    allow_files(max(2 * scale.streams, scale.idle) + 1_000)
    server_core, load_core = cores.pick()
    with cores.on_core(load_core):
        async with ground() as on:
            await _loads(on, server_core, scale, reporter, figures)
            with reporter.step("streams open and are told", scale.streams) as advance:
                async with ours(on, server_core) as fresh:
                    await measure_streams(on, fresh, scale, figures, advance)
            facts = await versions(on.rig)
    facts |= {
        "python": platform.python_version(),
        "waitroom": waitroom.__version__,
        **{name: version(name) for name in PACKAGES},
        "waiting": scale.waiting,
        "rounds": scale.rounds,
        "connections": wrk.CONNECTIONS,
        "cores": [server_core, load_core],
        "full": scale.full,
    }
    return figures, facts


async def _loads(
    on: Ground, core: int, scale: Scale, reporter: HttpReporter, figures: Figures
) -> None:
    sizes = scale.waiting, scale.tickets
    people = scale.waiting + scale.waiting // 10
    with reporter.step("the crowd joins", people + 2) as advance:
        tickets = await fill_waiting(on, *sizes, advance)
    with reporter.step("the same crowd, hand-written", people) as advance:
        others = await fill_handrolled(on, *sizes, advance)
    with tickets.open() as file:
        ticket = file.readline().strip()
    async with line_up(on, core, ticket) as peers:
        with reporter.step("people go inside", scale.inside) as advance:
            passes = await let_inside(on, peers.ours, scale.inside, advance)
        lines = Lines(tickets, others, passes)
        with reporter.step("polls, joins and checks in turn", 9 * scale.rounds) as advance:
            await measure_rounds(peers, lines, scale, figures, advance)
        with reporter.step("polls beside idle connections", 2 * scale.rounds) as advance:
            await measure_idle(peers, lines, scale, figures, advance)
        count = int(figures["polls_per_s"] / 2 * scale.paced_s) * scale.rounds
        with reporter.step("polls at half of the most", count) as advance:
            await measure_paced(peers.ours, tickets, scale, figures, advance)
        with reporter.step("stalls of the backend", scale.stalls) as advance:
            await measure_stalled(on, peers.ours, tickets, scale.stalls, figures, advance)


def main() -> None:
    """Measure and report."""
    needs.check()
    reporter = HttpReporter()
    reporter.finish(*uvloop.run(measure(Scale.from_environment(), reporter)))


if __name__ == "__main__":
    main()
