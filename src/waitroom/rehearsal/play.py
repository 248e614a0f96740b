"""A private server, an engine on our own clock, and one rehearsal on it."""

from __future__ import annotations

import dataclasses
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from waitroom.engine import Engine
from waitroom.engine.connection.embedded import EmbeddedServer
from waitroom.models import Eta
from waitroom.rehearsal.accuracy import Watch, judge
from waitroom.rehearsal.behaviour import ROOM, Clock
from waitroom.rehearsal.crowd import OVER, Crowd, Where
from waitroom.rehearsal.outcome import Outcome
from waitroom.rehearsal.scenario import Scenario
from waitroom.rehearsal.simulation import Stage
from waitroom.report.waits import waits_of
from waitroom.tickets import KeyRing

_SECRET = b"rehearsals sign nothing of worth"
_TIMEOUT_S = 120.0  # one step may move a million people on a busy machine

Progress = Callable[[int, int], None]
"""Gets the number of people who are done, and of all."""


async def rehearse(
    scenario: Scenario,
    *,
    seed: int | None = None,
    people: int | None = None,
    etas: Sequence[Eta] = (),
    progress: Progress | None = None,
    watching: Callable[[int, Sequence[Eta]], Watch] = Watch,
) -> Outcome:
    """Play a scenario on its own temporary server.

    `people` sets their number, and scales the limits in proportion; `etas` are formulas whose
    estimates are compared, instead of the one that the room shows. `watching` asks for them.
    """
    began = time.perf_counter()
    if people is not None:
        scenario = scenario.scaled(people)
    seed = scenario.seed if seed is None else seed
    with tempfile.TemporaryDirectory(prefix="waitroom-rehearsal-") as folder:
        async with EmbeddedServer(Path(folder), durable=False) as server:
            stage = await _played(
                scenario, seed, server, progress, lambda there: watching(there, etas)
            )
    return dataclasses.replace(_outcome(stage, seed), took_s=time.perf_counter() - began)


async def _played(
    scenario: Scenario,
    seed: int,
    server: EmbeddedServer,
    progress: Progress | None,
    watching: Callable[[int], Watch],
) -> Stage:
    rng, clock = random.Random(seed), Clock()  # noqa: S311 - the same seed must give the same
    clock.now_ms = scenario.starts_ms
    crowd = Crowd(scenario.times(rng), scenario.people, rng)
    ring = KeyRing([_SECRET])
    engine = await Engine.connect(
        server.url, server.data_dir, ring, timeout_s=_TIMEOUT_S, clock=clock
    )
    async with engine, engine.pipeline(ROOM, server.socket) as pipeline:
        there = 1 - scenario.people.ghosts  # ghosts never poll
        watch = watching(round(len(crowd) * there))
        stage = Stage(scenario, engine, pipeline, clock, crowd, watch, rng)
        await stage.play(lambda done: progress(done, len(crowd)) if progress else None)
    return stage


def _outcome(stage: Stage, seed: int) -> Outcome:
    crowd, scenario = stage.crowd, stage.scenario
    left = {where: crowd.counts[where] for where in Where if where not in OVER}
    ended = {where.name.lower(): crowd.counts[where] for where in Where if where in OVER}
    ended["still_there"] = sum(left.values())
    timeline = tuple(stage.timeline)
    return Outcome(
        scenario=scenario,
        seed=seed,
        people=len(crowd),
        promises=stage.promises.all(),
        ended=ended,
        waits=waits_of(crowd.joined_ms, crowd.called_ms),
        most_waiting=max((moment.waiting for moment in timeline), default=0),
        most_held=stage.promises.most_held,
        origin_over_s=stage.origin_over_s,
        lasted_s=(timeline[-1].at_ms - scenario.starts_ms) / 1000 if timeline else 0.0,
        accuracy={
            eta: judge(estimates, crowd.called_ms)
            for eta, estimates in stage.watch.estimates.items()
        },
        timeline=timeline,
        estimates=dict(stage.watch.estimates),
        joined_ms=crowd.joined_ms,
        called_ms=crowd.called_ms,
    )
