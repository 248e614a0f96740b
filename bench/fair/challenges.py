"""A proof of work: what it costs the server, visitors, and an attacker with a native solver."""

from __future__ import annotations

import asyncio
import json
import resource
import secrets
import statistics
import time

import httpx2
from altcha.v2 import create_challenge

from bench.fair.scale import Scale
from bench.report import Figures, Line, Reporter, percentile
from bench.web import wrk
from bench.web.ground import Ground
from bench.web.paced import paced
from bench.web.peers import Peer
from waitroom import work as solver
from waitroom.models import Challenge, Mode, Policy
from waitroom.server.challenges.price import (
    CEILING,
    COST,
    FLOOR,
    RIPENING,
    Price,
)
from waitroom.server.challenges.work import (
    ALGORITHM,
    LIFE_S,
    Binding,
    Work,
    binding,
    derived_key,
)
from waitroom.server.http.rate_limits import Buckets
from waitroom.tickets import KeyRing

LINES = (
    Line("challenge_issue_us", "processor µs to issue a challenge"),
    Line("challenge_verify_us", "processor µs to verify a solution"),
    Line("challenge_us", "both together", most=300),
    Line("join_ratio_with_work", "joins per processor second, with ÷ without", least=0.5),
    Line("joins_per_s_with_work", "joins/s with a solution, one core"),
    Line("joins_per_s_none", "joins/s without a challenge, one core"),
    Line("refused_per_s", "joins/s without a solution, refused, one core"),
    Line("refusal_cost", "processor time of a refusal ÷ of a join, in a flood without end"),
    Line("honest_p99_ratio", "p99 of honest joins beside a flood ÷ without one", most=3),
    Line("honest_errors", "honest joins that got no place in all of it", most=0),
    Line("places_per_core_hour_none", "places per hour and core of an attacker, no challenge"),
    Line("places_per_core_hour_floor", "the same, with `work` at the floor"),
    Line("places_per_core_hour_ceiling", "the same, with `work` at the ceiling"),
    Line("places_per_core_hour_ripening", "through the page without a script, from one address"),
    Line("ceiling_dearer", "places without a challenge ÷ at the ceiling", least=1000),
    Line("ripening_addresses_per_core", "addresses that give as many places as a core"),
)
FREE, PAID = "free", "paid"
FLOOD_PER_S, FLOOD_PAIRS = 500.0, 10
_ADDRESS = ("127.0.0.1", "127.0.0.0/24")


async def measure(
    on: Ground, server: Peer, scale: Scale, reporter: Reporter, figures: Figures
) -> None:
    """Measure everything about proofs of work except for the phone."""
    ring = KeyRing.from_text(on.secret)
    here = binding(ring, PAID, *_ADDRESS)
    for room, challenge in ((FREE, Challenge.NONE), (PAID, Challenge.WORK)):
        await on.rig.engine.create(room, Policy(mode=Mode.PAUSED, challenge=challenge))
    with reporter.step("challenges are issued and verified", scale.timed):
        _time(Work(ring), here, scale, figures)
    with reporter.step("a native solver", scale.solves):
        _solve(Work(ring), here, scale, figures)
    with reporter.step("people solve theirs", scale.people):
        solutions = [_solution(ring, here) for _ in range(scale.people)]
    with reporter.step("joins with and without", 3 * scale.rounds):
        await _joins(on, server, solutions, scale, figures)
    with reporter.step("more people solve theirs", scale.honest):
        solutions = [_solution(ring, here) for _ in range(scale.honest)]
    with reporter.step("honest joins beside a flood", scale.flood):
        await _flood(server, solutions, scale, figures)
    with reporter.step("pages ripen", 1):
        await _ripen(server, figures)


def _time(work: Work, here: Binding, scale: Scale, figures: Figures) -> None:
    """Time both as the server does them, in processor time; medians of batches."""
    batches: dict[str, list[float]] = {"issue": [], "verify": []}
    size = scale.timed // 20
    for _ in range(20):
        began = time.process_time()
        issued = [work.issue(here, FLOOR) for _ in range(size)]
        batches["issue"].append((time.process_time() - began) / size)
        # A wrong key takes the same way to the end, unless the first comparison fails.
        sent = solver.solve(json.loads(work.issue(here, 1)))
        began = time.process_time()
        for _ in issued:
            work.nonce(sent, here, Price(1, 1))
        batches["verify"].append((time.process_time() - began) / size)
    for name, values in batches.items():
        figures[f"challenge_{name}_us"] = statistics.median(values) * 1e6
    figures["challenge_us"] = figures["challenge_issue_us"] + figures["challenge_verify_us"]


def _solve(work: Work, here: Binding, scale: Scale, figures: Figures) -> None:
    """Solve real challenges; the time of a counter gives the price, without the draw's luck."""
    tried, spent_s = 0, 0.0
    for _ in range(scale.solves):
        challenge = json.loads(work.issue(here, FLOOR))
        began = time.process_time()
        solution = solver.solve(challenge)
        spent_s += time.process_time() - began
        tried += solver.read(solution)["solution"]["counter"] + 1
    for name, counters in (("floor", FLOOR), ("ceiling", CEILING)):
        place_s = spent_s / tried * (counters + 1) / 2
        figures[f"places_per_core_hour_{name}"] = 3600 / place_s
    figures["counter_us"] = spent_s / tried * 1e6


def _solution(ring: KeyRing, here: Binding) -> str:
    """Return a solution of the ceiling whose counter is 0: it costs us little, and counts alike."""
    made = create_challenge(
        ALGORITHM,
        COST,
        counter=0,
        expires_at=int(time.time()) + 10 * LIFE_S,
        data={"counters": CEILING, "for": here.source, "room": here.room},
        hmac_secret=derived_key(ring, "challenge"),
        hmac_key_secret=derived_key(ring, "solution"),
    )
    return solver.solve(made.to_dict())


async def _joins(
    on: Ground, server: Peer, solutions: list[str], scale: Scale, figures: Figures
) -> None:
    """Load both rooms in turns; as many people each, who sometimes repeat their join."""
    keys = on.write("keys", [secrets.token_hex(16) for _ in solutions])
    bodies = [json.dumps({"solution": solution}) for solution in solutions]
    longest = max(map(len, bodies))
    lines = on.write("solutions", [body.ljust(longest) for body in bodies])
    loads = {
        "none": wrk.Load(f"{_post(FREE)}Content-Length: 0\r\nIdempotency-Key: ", "\r\n\r\n", keys),
        "with_work": wrk.Load(f"{_post(PAID)}Content-Length: {longest}\r\n\r\n", "", lines),
        "refused": wrk.Load.post(f"/v1/rooms/{PAID}/tickets"),
    }
    rates: dict[str, list[float]] = {name: [] for name in loads}
    server_s, joined = dict.fromkeys(loads, 0.0), dict.fromkeys(loads, 0)
    cpu_s = 0.0
    for _ in range(scale.rounds):
        for name, load in loads.items():
            before, server_before = _children_s(), server.cpu_s()
            done = await wrk.put(load, server.port, scale.seconds)
            server_s[name] += server.cpu_s() - server_before
            if name == "refused":
                rates[name].append(done.errors / done.seconds)
                joined[name] += done.errors
                continue
            assert done.errors == 0, f"{name}: {done.errors} joins failed"
            rates[name].append(done.per_s)
            joined[name] += done.requests
            if name == "none":
                cpu_s += _children_s() - before
    figures["joins_per_s_none"] = statistics.median(rates["none"])
    figures["joins_per_s_with_work"] = statistics.median(rates["with_work"])
    figures["refused_per_s"] = statistics.median(rates["refused"])
    # By the server's processor time, which neighbours on a busy machine do not change.
    paid, free = (joined[name] / server_s[name] for name in ("with_work", "none"))
    figures["join_ratio_with_work"] = paid / free
    figures["refusal_cost"] = free * server_s["refused"] / joined["refused"]
    # What a join itself costs the attacker's machine: nearly nothing, as wrk shows.
    figures["places_per_core_hour_none"] = 3600 * joined["none"] / cpu_s
    figures["ceiling_dearer"] = (
        figures["places_per_core_hour_none"] / figures["places_per_core_hour_ceiling"]
    )


def _post(room: str) -> str:
    return f"POST /v1/rooms/{room}/tickets HTTP/1.1\r\n{wrk.HOST}"


def _children_s() -> float:
    """Return the processor time of children that have ended: of wrk, as servers still run."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def _flood(server: Peer, solutions: list[str], scale: Scale, figures: Figures) -> None:
    """Let honest people join at a fixed rate, alone and beside a flood that solves nothing."""
    head = _post(PAID).encode()
    bodies = (json.dumps({"solution": solution}).encode() for solution in solutions)
    honest = [head + b"Content-Length: %d\r\n\r\n" % len(body) + body for body in bodies]
    unsolved = [head + b"Content-Length: 0\r\n\r\n"]
    # Short turns: both of a pair have the same neighbours on the machine.
    seconds = scale.flood / FLOOD_PER_S / FLOOD_PAIRS
    number = len(honest) // (2 * FLOOD_PAIRS)
    # Newcomers all of them: who comes back with the same solution is served by a shorter way.
    turns = (honest[at : at + number] for at in range(0, len(honest), number))
    ratios: list[float] = []
    errors = 0
    for _ in range(FLOOD_PAIRS):
        async with paced(server.port, next(turns)) as alone:
            await alone.run(number / seconds, seconds)
        async with paced(server.port, next(turns)) as beside, paced(server.port, unsolved) as flood:
            await asyncio.gather(
                beside.run(number / seconds, seconds), flood.run(FLOOD_PER_S, seconds)
            )
        errors += alone.errors + beside.errors
        ratios.append(percentile(beside.took_ms, 99) / percentile(alone.took_ms, 99))
    figures["honest_p99_ratio"] = statistics.median(ratios)
    figures["honest_errors"] = errors


async def _ripen(server: Peer, figures: Figures) -> None:
    """Begin as many pages as one address may: the server says how many, the limit how often."""
    async with httpx2.AsyncClient(trust_env=False, timeout=30) as http:
        url = f"http://127.0.0.1:{server.port}/rooms/{PAID}/join"
        begun = 0
        for _ in range(3 * RIPENING.own):
            http.cookies.clear()
            begun += "set-cookie" in (await http.post(url)).headers
    clock = [0.0]
    limit = Buckets(RIPENING.own, clock=lambda: clock[0])
    places = sum(limit.take("x") == 0 for _ in range(3 * RIPENING.own))
    assert begun == places, f"{begun} pages ripen, not {places}"
    for second in range(3_600):
        clock[0] = float(second)
        places += limit.take("x") == 0
    figures["places_per_core_hour_ripening"] = places
    figures["ripening_addresses_per_core"] = figures["places_per_core_hour_ceiling"] / places
