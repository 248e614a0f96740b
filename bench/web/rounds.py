"""Polls, joins and checks at full load: each peer in turn, round after round."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import httpx

from bench.fill import Advance
from bench.report import Figures, percentile
from bench.web.ask import ask
from bench.web.ground import BIG, INSIDE, JOINS, Ground
from bench.web.line_up import LineUp
from bench.web.paced import run_paced
from bench.web.peers import Peer
from bench.web.scale import Scale
from bench.web.wrk import Load, put
from waitroom.models import Policy

RATIOS = {
    "poll_ratio": ("poll", "handrolled_poll"),
    "poll_of_ceiling": ("poll", "ceiling"),
    "join_ratio": ("join", "handrolled_join"),
    "check_per_s_ratio": ("check", "ceiling"),
}


@dataclass(slots=True)
class Rounds:
    """The results so far, by the name of the load."""

    per_s: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    cpu_us: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    shares: list[float] = field(default_factory=list)
    errors: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    async def run(self, name: str, peer: Peer, load: Load, seconds: int) -> None:
        """Load one peer for a while, and note the result."""
        before_s = peer.cpu_s()
        outcome = await put(load, peer.port, seconds)
        used_s = peer.cpu_s() - before_s
        self.per_s[name].append(outcome.per_s)
        self.cpu_us[name].append(used_s * 1e6 / max(1, outcome.requests))
        if name == "ceiling":  # it never waits, so it uses all of the core that it gets
            self.shares.append(used_s / outcome.seconds)
        self.errors[peer.name] += outcome.errors

    def report(self, figures: Figures) -> None:
        """Set the figures: medians over the rounds, of rates and of ratios within a round."""
        for name, rates in self.per_s.items():
            figures[f"{name}s_per_s" if name != "ceiling" else "ceiling_per_s"] = median(rates)
            figures[f"{name}_cpu_us"] = median(self.cpu_us[name])
        figures["core_share"] = median(self.shares)
        for key, (over, under) in RATIOS.items():
            pairs = zip(self.per_s[over], self.per_s[under], strict=True)
            figures[key] = median(a / b for a, b in pairs)
        figures["errors"] = figures.get("errors", 0) + self.errors["ours"]
        figures["handrolled_errors"] = self.errors["handrolled"]


async def measure_rounds(
    peers: LineUp,
    tickets: Path,
    others: Path,
    passes: Path,
    scale: Scale,
    figures: Figures,
    advance: Advance,
) -> None:
    """Take turns between all peers, so that a busy machine is busy for all of them."""
    poll = Load.get(f"/v1/rooms/{BIG}/tickets/", tickets)
    loads = [
        ("poll", peers.ours, poll, scale.poll_s),
        ("handrolled_poll", peers.handrolled, Load.get(f"/rooms/{BIG}/tickets/", others), 0),
        ("ceiling", peers.ceiling, poll, 0),
        ("join", peers.ours, Load.post(f"/v1/rooms/{JOINS}/tickets"), scale.other_s),
        ("handrolled_join", peers.handrolled, Load.post(f"/rooms/{JOINS}/tickets"), 0),
        ("check", peers.ours, Load.bearer("/v1/check", passes), scale.other_s),
    ]
    results, seconds = Rounds(), scale.poll_s
    for _ in range(scale.rounds):
        for name, peer, load, given in loads:
            seconds = given or seconds  # a peer runs as long as ours before it
            await results.run(name, peer, load, seconds)
            advance(1)
    results.report(figures)


async def measure_paced(
    peer: Peer, tickets: Path, seconds: float, figures: Figures, advance: Advance
) -> None:
    """Poll at half of our highest rate, and note how long people wait."""
    poll = Load.get(f"/v1/rooms/{BIG}/tickets/", tickets)
    load = await run_paced(peer.port, poll.requests(), figures["polls_per_s"] / 2, seconds)
    advance(len(load.took_ms))
    figures["poll_p50_ms"] = percentile(load.took_ms, 50)
    figures["poll_p99_ms"] = percentile(load.took_ms, 99)
    figures["errors"] = figures.get("errors", 0) + load.errors


async def let_inside(on: Ground, peer: Peer, people: int, advance: Advance) -> Path:
    """Let people in through the server, and return a file with their passes."""
    await on.rig.engine.create(INSIDE, Policy(capacity=people, session_s=86_400))
    passes: list[str] = []
    async with httpx.AsyncClient(trust_env=False) as client:
        for _ in range(people):
            url = f"http://127.0.0.1:{peer.port}/v1/rooms/{INSIDE}/tickets"
            answer = await ask(client, "POST", url, json={"enter": True})
            assert answer.json().get("state") == "inside", answer.text
            passes.append(answer.json()["pass"])
            advance(1)
            client.cookies.clear()  # or it would be the same person again and again
    return on.write("passes", passes)
