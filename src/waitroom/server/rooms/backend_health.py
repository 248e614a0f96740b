"""Is the backend there? Three words, with different meanings.

*busy*: our own queue is full. *slow*: the backend has not answered yet. *away*: several probes, on
a connection that nobody else uses, have failed for at least `away_after_s`. Only then does a room's
`when_away` apply, and every call fails at once. It ends with the first probe that is answered.

In a Cluster each node has its own health: a node that is away affects only its own rooms.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from waitroom.engine import Engine
from waitroom.errors import BackendUnavailable
from waitroom.server.counters.worker import Counters
from waitroom.server.rooms.background import Background

log = logging.getLogger("waitroom.backend_health")

PROBE_EVERY_S = 1.0
PROBE_AGAIN_S = 0.25
"""Pause after a failed probe: the return of the backend is noticed within a second."""

SHORTEST_LIMIT_S = 0.5
FEWEST_PROBES = 3
_LATE_S = 0.2


@dataclass(slots=True)
class NodeHealth:
    """What the probes of one node show."""

    away: bool = False
    failures: int = 0
    failing_since: float = 0.0

    def failed(self, began: float, away_after_s: float) -> None:
        """Count a failed probe; the node is away after several, over long enough."""
        if not self.failures:
            self.failing_since = began
        self.failures += 1
        long_enough = time.monotonic() - self.failing_since >= away_after_s
        self.away = self.away or (long_enough and self.failures >= FEWEST_PROBES)

    def answered(self) -> None:
        """Count a probe that was answered."""
        self.away, self.failures = False, 0


class BackendHealth(Background):
    """Watches one backend: while it is `away`, calls are pointless."""

    def __init__(self, engine: Engine, counters: Counters, away_after_s: float) -> None:
        super().__init__()
        self._engine = engine
        self._counters = counters
        self._away_after_s = away_after_s
        self._longest_probe_s = max(SHORTEST_LIMIT_S, away_after_s / FEWEST_PROBES)
        self.away = False
        """Whether all nodes are away."""

        self.on_return: list[Callable[[str, int, int], None]] = []
        """Called with a node, and since and until when it was away, in ms."""

        self._some_away = False
        self._nodes: dict[str, NodeHealth] = {}
        self._asked = asyncio.Event()

    def is_away(self, room: str) -> bool:
        """Return whether the node that holds a room is away."""
        if self.away or not self._some_away:
            return self.away
        node = self._nodes.get(self._engine.node_of(room))
        return node is not None and node.away

    def check(self, room: str | None = None) -> None:
        """Raise at once if the backend is away; with a room, if that room's node is."""
        if self.away if room is None else self.is_away(room):
            raise _unavailable()

    def suspect(self) -> None:
        """Probe now, because a call has just failed."""
        self._asked.set()

    async def run(self) -> None:
        """Probe the nodes regularly, and at once when a call has failed."""
        while True:
            self._asked.clear()
            await asyncio.gather(*map(self._probe, self._known_nodes()))
            if any(node.failures for node in self._nodes.values()):
                await asyncio.sleep(PROBE_AGAIN_S)
                continue
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PROBE_EVERY_S):
                    await self._asked.wait()

    def _known_nodes(self) -> list[str]:
        """Return the nodes that the backend has now; forget those that have left it."""
        names = list(self._engine.probe.nodes())
        self._nodes = {name: self._nodes.get(name) or NodeHealth() for name in names}
        return names

    async def _probe(self, name: str) -> None:
        node, began = self._nodes[name], time.monotonic()
        was_away = node.away
        try:
            async with asyncio.timeout(self._longest_probe_s):
                await self._engine.probe.ask(name)
        except Exception as error:  # any failure means no answer
            # If this process itself was late, the answer may have come, unread.
            if time.monotonic() - began < self._longest_probe_s + _LATE_S:
                log.debug("a probe of the backend failed: %s", error)
                node.failed(began, self._away_after_s)
        else:
            node.answered()
        states = [known.away for known in self._nodes.values()]
        self.away, self._some_away = all(states), any(states)
        self._engine.give_up_on(name for name, known in self._nodes.items() if known.away)
        if node.away:
            # All who wait for an answer get one now, even if they came after the backend went away.
            self._engine.fail_waiting(_unavailable(), concerns=self.is_away)
        if node.away != was_away:
            self._tell(name, node)

    def _tell(self, name: str, node: NodeHealth) -> None:
        what = f"node {name} of the backend" if name else "the backend"
        if node.away:
            self._counters.backend_errors += 1
            log.warning("%s is away; answering without it until it is back", what)
        else:
            seconds = time.monotonic() - node.failing_since
            log.warning("%s is back after %.1f s", what, seconds)
            now_ms = int(time.time() * 1000)
            for tell in self.on_return:
                tell(name, now_ms - round(seconds * 1000), now_ms)


def _unavailable() -> BackendUnavailable:
    return BackendUnavailable(
        "the backend cannot be reached; places are kept, try again in a moment"
    )
