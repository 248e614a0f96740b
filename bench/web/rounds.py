"""Polls, joins and checks at full load: each peer in turn, round after round."""

from __future__ import annotations

import gc
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import httpx2

from bench.fill import Advance
from bench.report import Figures, percentile
from bench.web.ask import ask
from bench.web.ground import BIG, INSIDE, JOINS, Ground
from bench.web.idle import idle_connections
from bench.web.line_up import LineUp
from bench.web.paced import paced
from bench.web.peers import Peer
from bench.web.scale import Scale
from bench.web.wrk import Load, put
from waitroom.models import Policy

Turn = tuple[str, Peer, Load]
"""The name of a load, which peer gets it, and what it asks for."""

RATIOS = {
    "poll_ratio": ("poll", "handrolled_poll"),
    "poll_ratio_fresh": ("fresh_poll", "handrolled_fresh_poll"),
    "poll_of_ceiling": ("poll", "ceiling"),
    "poll_of_wire": ("poll", "wire"),
    "join_ratio": ("join", "handrolled_join"),
    "check_per_s_ratio": ("check", "ceiling"),
}
CONSTANT = ("ceiling", "wire")
"""Peers with only one load: they give the same answer to anything."""


_TRIES = 3
"""A busy machine may stall for longer than a short round."""


@dataclass(slots=True)
class Rounds:
    """The results so far, by the name of the load."""

    per_s: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    cpu_us: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    shares: list[float] = field(default_factory=list)
    errors: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    async def run(self, name: str, peer: Peer, load: Load, seconds: int) -> None:
        """Load one peer for a while, and record the result."""
        for _ in range(_TRIES):
            before_s = peer.cpu_s()
            outcome = await put(load, peer.port, seconds)
            used_s = peer.cpu_s() - before_s
            if outcome.requests:
                break
        else:
            raise RuntimeError(f"{peer.name} answered no {name} in {seconds} s: not to be compared")
        self.per_s[name].append(outcome.per_s)
        self.cpu_us[name].append(used_s * 1e6 / outcome.requests)
        if name == "ceiling":  # it never waits, so it uses its whole core
            self.shares.append(used_s / outcome.seconds)
        self.errors[peer.name] += outcome.errors

    async def take(self, turns: list[Turn], seconds: int, advance: Advance) -> None:
        """Run each load in turn."""
        for name, peer, load in turns:
            await self.run(name, peer, load, seconds)
            advance(1)

    def ratio(self, over: str, under: str) -> float:
        """Return the median of one load's rate divided by another's in the same round."""
        pairs = zip(self.per_s[over], self.per_s[under], strict=True)
        return median(a / b for a, b in pairs)

    def count_errors(self, figures: Figures) -> None:
        """Add the errors of both queues to the figures."""
        for key, name in (("errors", "ours"), ("handrolled_errors", "handrolled")):
            figures[key] = figures.get(key, 0) + self.errors[name]

    def report(self, figures: Figures) -> None:
        """Set the figures: medians over the rounds, of rates and of ratios within a round."""
        for name, rates in self.per_s.items():
            plural = name if name in CONSTANT else f"{name}s"
            figures[f"{plural}_per_s"] = median(rates)
            figures[f"{name}_cpu_us"] = median(self.cpu_us[name])
        figures["core_share"] = median(self.shares)
        for key, (over, under) in RATIOS.items():
            figures[key] = self.ratio(over, under)
        self.count_errors(figures)


@dataclass(frozen=True, slots=True)
class Lines:
    """Files of lines for wrk: tickets of both queues, and passes."""

    tickets: Path
    handrolled: Path
    passes: Path

    def polls(self, peers: LineUp, prefix: str = "") -> list[Turn]:
        """Return the polls for ours and the hand-written queue; `fresh_`: new connections."""
        fresh = prefix == "fresh_"
        ours = Load.get(f"/v1/rooms/{BIG}/tickets/", self.tickets, fresh=fresh)
        handrolled = Load.get(f"/rooms/{BIG}/tickets/", self.handrolled, fresh=fresh)
        return [
            (f"{prefix}poll", peers.ours, ours),
            (f"handrolled_{prefix}poll", peers.handrolled, handrolled),
        ]


async def measure_rounds(
    peers: LineUp, lines: Lines, scale: Scale, figures: Figures, advance: Advance
) -> None:
    """Alternate between all peers, so that a busy machine is busy for all of them."""
    polls = lines.polls(peers)
    constant = [("ceiling", peers.ceiling, polls[0][2]), ("wire", peers.wire, polls[0][2])]
    others = [
        *lines.polls(peers, "fresh_"),
        ("join", peers.ours, Load.post(f"/v1/rooms/{JOINS}/tickets")),
        ("handrolled_join", peers.handrolled, Load.post(f"/rooms/{JOINS}/tickets")),
        ("check", peers.ours, Load.bearer("/v1/check", lines.passes)),
    ]
    rounds = Rounds()
    for _ in range(scale.rounds):
        await rounds.take([*polls, *constant], scale.poll_s, advance)
        await rounds.take(others, scale.other_s, advance)
    rounds.report(figures)


async def measure_idle(
    peers: LineUp, lines: Lines, scale: Scale, figures: Figures, advance: Advance
) -> None:
    """Poll next to thousands of connections to our server that only stay open."""
    rounds = Rounds()
    async with idle_connections(peers.ours.port, scale.idle) as connections:
        for _ in range(scale.rounds):
            await rounds.take(lines.polls(peers), scale.poll_s, advance)
        figures["idle_connections"] = sum(connection.kept for connection in connections)
    figures["poll_ratio_idle"] = rounds.ratio("poll", "handrolled_poll")
    rounds.count_errors(figures)


async def measure_paced(
    peer: Peer, tickets: Path, scale: Scale, figures: Figures, advance: Advance
) -> None:
    """Poll at half of our highest rate, and measure how long people wait: the median of rounds."""
    poll = Load.get(f"/v1/rooms/{BIG}/tickets/", tickets)
    rounds: list[list[float]] = []
    for _ in range(scale.rounds):
        async with paced(peer.port, poll.requests()) as load:
            gc.collect()
            gc.disable()  # a collection here would be charged to the server
            try:
                await load.run(figures["polls_per_s"] / 2, scale.paced_s)
            finally:
                gc.enable()
        advance(len(load.took_ms))
        rounds.append(load.took_ms)
        figures["errors"] = figures.get("errors", 0) + load.errors
    worst = [percentile(took_ms, 99) for took_ms in rounds]
    figures["poll_p50_ms"] = median(percentile(took_ms, 50) for took_ms in rounds)
    figures["poll_p99_ms"], figures["poll_p99_worst_ms"] = median(worst), max(worst)


async def let_inside(on: Ground, peer: Peer, people: int, advance: Advance) -> Path:
    """Admit people through the server, and return a file with their passes."""
    # Twice as many places, because a join that is repeated after a late answer took one too.
    await on.rig.engine.create(INSIDE, Policy(capacity=2 * people, session_s=86_400))
    passes: list[str] = []
    async with httpx2.AsyncClient(trust_env=False) as client:
        for _ in range(people):
            url = f"http://127.0.0.1:{peer.port}/v1/rooms/{INSIDE}/tickets"
            answer = await ask(client, "POST", url, json={"enter": True})
            assert answer.json().get("state") == "inside", answer.text
            passes.append(answer.json()["pass"])
            advance(1)
            client.cookies.clear()  # otherwise it would always be the same person
    return on.write("passes", passes)
