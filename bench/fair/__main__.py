"""Runs every part on one backend and one server process, and reports."""

from __future__ import annotations

import platform
from importlib.metadata import version

import uvloop

import waitroom
from bench.fair import accounts, challenges, codes, phone
from bench.fair.scale import Scale
from bench.report import Figures, Reporter
from bench.rig import versions
from bench.web import cores, needs
from bench.web.ground import ground
from bench.web.line_up import ours
from waitroom.server.challenges.price import CEILING, COST, FLOOR

PARTS = (challenges, phone)
PACKAGES = ("altcha", "uvloop")


async def measure(scale: Scale, reporter: Reporter) -> tuple[Figures, dict[str, object]]:
    """Run the parts one after the other; codes and accounts on servers of their own."""
    figures: Figures = {}
    server_core, load_core = cores.pick()
    with cores.on_core(load_core):
        async with ground() as on, ours(on, server_core) as server:
            for part in PARTS:
                await part.measure(on, server, scale, reporter, figures)
            facts: dict[str, object] = await versions(on.rig)
    with reporter.step("joins with entry codes", 1) as done:
        figures |= await codes.measure(scale.pairs, scale.joins)
        done(1)
    with reporter.step("joins with claims of a gate", 1) as done:
        figures |= await accounts.measure(scale.pairs // 2, 1)
        done(1)
    facts |= {
        "python": platform.python_version(),
        "waitroom": waitroom.__version__,
        **{name: version(name) for name in PACKAGES},
        "cost": COST,
        "floor": FLOOR,
        "ceiling": CEILING,
        "rounds": scale.rounds,
    }
    return figures, facts


def main() -> None:
    """Measure and report."""
    needs.check()
    reporter = Reporter()
    figures, facts = uvloop.run(measure(Scale.from_environment(), reporter))
    lines = [line for part in (*PARTS, codes, accounts) for line in part.LINES]
    reporter.show("fair entry, one server process on one core", lines, figures)
    reporter.last_line(figures, dict(facts))


if __name__ == "__main__":
    main()
