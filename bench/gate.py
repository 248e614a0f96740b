"""`make bench-gate`: what a gate costs a site, and how often it asks Waitroom.

The decision is timed in this process, from the ASGI scope to the visit. The site is a Starlette
hello world on Granian, one worker pinned to one core, under wrk: the same requests with the same
cookies go to the site alone and behind the gate, alternately. The gate verifies offline, with keys
from a real Waitroom.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import uvloop

import waitroom
from bench.report import Figures, Line, Reporter
from bench.web import cores, needs, wrk
from bench.web.ground import Ground, ground
from bench.web.hello import ROOM, gated
from bench.web.line_up import GRANIAN, ours
from bench.web.peers import Peer, serving
from waitroom.gates.asgi import WaitroomGate
from waitroom.gates.scopes import facts_of
from waitroom.passes import PassKeys

LINES = (
    Line("verify_cached_us", "decision, pass seen before", most=15),
    Line("verify_cold_us", "decision, pass first seen", most=300),
    Line("gate_kept_pct", "share of the bare site's requests/s, %", least=85),
    Line("lookups_per_request", "calls to Waitroom, offline", most=0.05),
    Line("gated_per_s", "requests/s with gate, one core"),
    Line("bare_per_s", "requests/s without, one core"),
    Line("gated_cpu_us", "processor µs per request, with gate"),
    Line("bare_cpu_us", "the same, without"),
    Line("lookups", "calls to Waitroom in all"),
)
ISSUER = "waitroom"
"""A Waitroom without a public address calls itself this, and a gate accepts no other issuer."""

VISITORS = 100
REQUESTS = 10_000
PACKAGES = ("granian", "starlette", "PyJWT", "cryptography", "uvloop")


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured; medians are taken over the rounds."""

    rounds: int
    seconds: int
    fresh: int

    @classmethod
    def from_environment(cls) -> Scale:
        """SMOKE=1 only shows that it runs."""
        return cls(1, 1, 50) if os.environ.get("SMOKE") == "1" else cls(5, 2, 1_000)


def scope(token: str) -> dict[str, Any]:
    """Return a browser's request as an ASGI scope."""
    headers = [
        (b"host", b"shop.example"),
        (b"user-agent", b"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101"),
        (b"accept", b"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
        (b"accept-language", b"ko,en;q=0.5"),
        (b"cookie", f"theme=dark; waitroom-pass-{ROOM}={token}; lang=ko".encode()),
    ]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/hello",
        "raw_path": b"/hello",
        "root_path": "",
        "query_string": b"",
        "headers": headers,
        "client": ("192.0.2.1", 50_000),
        "server": ("127.0.0.1", 80),
    }


def passes(keys: PassKeys, count: int, first: int = 1) -> list[str]:
    """Sign passes for this many visitors."""
    now_s = int(time.time())
    return [
        keys.sign(ROOM, f"visitor-{number}", number, now_s, now_s + 3_600, ISSUER)
        for number in range(first, first + count)
    ]


async def ask(app: WaitroomGate, token: str) -> None:
    """Send one request through the gate in this process; it must reach the site."""
    statuses = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await app(scope(token), receive, send)
    assert statuses == [200], statuses


async def measure_decision(url: str, keys: PassKeys, scale: Scale, figures: Figures) -> None:
    """Time the decision, for passes seen before and for new ones."""
    app = gated(url)
    known = passes(keys, VISITORS)
    for token in known:
        await ask(app, token)
    scopes = [scope(token) for token in known]
    rounds = [_round(app, scopes) for _ in range(20 * scale.rounds)]
    figures["verify_cached_us"] = statistics.median(rounds)
    fresh = [scope(token) for token in passes(keys, scale.fresh, 10_000)]
    figures["verify_cold_us"] = statistics.median(_round(app, [request]) for request in fresh)
    app.gate.close()


def _round(app: WaitroomGate, scopes: Sequence[dict[str, Any]]) -> float:
    """Return µs per decision."""
    quick = app.gate.quick
    app.gate.due_at = time.monotonic() + 60  # periodic work is not part of a decision
    began = time.perf_counter()
    for request in scopes:
        if quick(facts_of(request)) is None:
            raise AssertionError("the pass was not taken")
    return (time.perf_counter() - began) / len(scopes) * 1e6


async def measure_lookups(url: str, keys: PassKeys, figures: Figures) -> None:
    """Count the requests to Waitroom that the visitors' requests cause."""
    app = gated(url)
    known = passes(keys, VISITORS, 20_000)
    for number in range(REQUESTS):
        await ask(app, known[number % VISITORS])
    figures["lookups"] = app.gate.remote.calls
    figures["lookups_per_request"] = app.gate.remote.calls / REQUESTS
    app.gate.close()


async def measure_kept(
    on: Ground, url: str, core: int, keys: PassKeys, scale: Scale, figures: Figures
) -> None:
    """Load the site alone and behind the gate, alternately."""
    lines = on.write("passes", passes(keys, VISITORS, 30_000))
    before = f"GET /hello HTTP/1.1\r\n{wrk.HOST}Cookie: theme=dark; waitroom-pass-{ROOM}="
    load = wrk.Load(before, "; lang=ko\r\n\r\n", lines)
    command = ("granian", "bench.web.hello:app", "--port", "{port}", *GRANIAN)
    async with (
        serving("bare", command, {"GATE_URL": ""}, core, on.folder) as bare,
        serving("gated", command, {"GATE_URL": url}, core, on.folder) as gate,
    ):
        rates: dict[str, list[tuple[float, float]]] = {"bare": [], "gated": []}
        for _ in range(scale.rounds):
            for peer in (bare, gate):
                rates[peer.name].append(await _loaded(peer, load, scale.seconds))
    for name, measured in rates.items():
        figures[f"{name}_per_s"] = statistics.median(rate for rate, _ in measured)
        figures[f"{name}_cpu_us"] = statistics.median(cpu for _, cpu in measured)
    pairs = zip(rates["gated"], rates["bare"], strict=True)
    figures["gate_kept_pct"] = statistics.median(100 * a[0] / b[0] for a, b in pairs)


async def _loaded(peer: Peer, load: wrk.Load, seconds: int) -> tuple[float, float]:
    """Return requests/s, and processor µs per request."""
    before = peer.cpu_s()
    done = await wrk.put(load, peer.port, seconds)
    assert done.errors == 0, f"{peer.name}: {done.errors} requests failed"
    return done.per_s, (peer.cpu_s() - before) / done.requests * 1e6


async def measure(scale: Scale, reporter: Reporter) -> tuple[Figures, dict[str, Any]]:
    """Run every measurement, one after another."""
    figures: Figures = {}
    site_core, load_core = cores.pick()
    with cores.on_core(load_core):
        async with ground() as on, ours(on, load_core) as server:
            url, keys = f"http://127.0.0.1:{server.port}", PassKeys.derive(on.secret)
            with reporter.step("the decision", 20 * scale.rounds * VISITORS):
                await measure_decision(url, keys, scale, figures)
            with reporter.step("calls to Waitroom", REQUESTS):
                await measure_lookups(url, keys, figures)
            with reporter.step("the site with and without", 2 * scale.rounds):
                await measure_kept(on, url, site_core, keys, scale, figures)
    facts = {
        "python": platform.python_version(),
        "waitroom": waitroom.__version__,
        **{name: version(name) for name in PACKAGES},
        "server": "granian, one worker on one core",
        "visitors": VISITORS,
        "requests": REQUESTS,
        "rounds": scale.rounds,
    }
    return figures, facts


def main() -> None:
    """Measure and report."""
    needs.check()
    reporter = Reporter()
    figures, facts = uvloop.run(measure(Scale.from_environment(), reporter))
    reporter.show(f"a gate, {VISITORS} visitors, offline", LINES, figures)
    reporter.last_line(figures, facts)


if __name__ == "__main__":
    main()
