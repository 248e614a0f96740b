"""What a claim costs a join: joins per second with a claim ÷ without, in the same run.

One server process on a core of its own, Redis and wrk on another. In turns, strangers join a room
over HTTP, and people with a claim, as a gate signed it, join another: the claim is read, its MAC
checked, and the script notes its use.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from importlib import resources
from pathlib import Path

from bench.report import Figures, Line
from bench.web import cores, wrk
from bench.web.ground import Ground, ground
from bench.web.line_up import ours
from waitroom.models import Mode, Needs, Policy

LINES = (
    Line(
        "identity_join_ratio",
        "joins per processor second, with a claim ÷ without",
        least=0.9,
    ),
    Line("joins_per_s_with_claim", "joins with a claim, per second of a core"),
    Line("joins_per_s_without_claim", "the same, without a claim"),
)
_PLAIN, _SIGNED_IN = "plain", "signed-in"
_MOST_PER_S = 50_000


async def measure(rounds: int, seconds: int) -> Figures:
    """Measure both sides in turns; the first round only warms up."""
    server_core, load_core = cores.pick()
    plain: list[tuple[int, float]] = []
    signed_in: list[tuple[int, float]] = []
    with cores.on_core(load_core):
        async with ground() as on, ours(on, server_core) as server:
            policy = Policy(mode=Mode.PAUSED, idle_ttl_s=None, presence_s=None)
            await on.rig.engine.create(_PLAIN, policy)
            await on.rig.engine.create(_SIGNED_IN, replace(policy, needs=Needs.IDENTITY))
            for number in range(rounds + 1):
                most = seconds * _MOST_PER_S
                bodies = _claims(on, number, most)
                sides = [(plain, _PLAIN, ["{}"] * most), (signed_in, _SIGNED_IN, bodies)]
                for rounds_of, room, lines in sides if number % 2 else reversed(sides):
                    file = on.write(f"{room}.txt", lines)
                    before = server.cpu_s()
                    joins = await _joins(server.port, room, file, seconds)
                    rounds_of.append((joins, server.cpu_s() - before))
    # Of all rounds together: the kernel counts a process's time in steps of 10 ms.
    without, with_claim = (_per_s(rounds_of[1:]) for rounds_of in (plain, signed_in))
    return {
        "identity_join_ratio": with_claim / without,
        "joins_per_s_with_claim": with_claim,
        "joins_per_s_without_claim": without,
    }


def _claims(on: Ground, number: int, most: int) -> list[str]:
    """Sign claims, which a gate's computer does and not ours."""
    key, now_s = on.rig.engine.ring.claim_key(_SIGNED_IN), time.time()
    accounts = (key.account(_SIGNED_IN, f"{number}.{person}") for person in range(most))
    return [f'{{"claim":"{key.claim(_SIGNED_IN, account, now_s)}"}}' for account in accounts]


def _per_s(rounds_of: list[tuple[int, float]]) -> float:
    return sum(joins for joins, _ in rounds_of) / sum(seconds for _, seconds in rounds_of)


async def _joins(port: int, room: str, lines: Path, seconds: int) -> int:
    script = resources.files("bench.web") / "lua" / "once.lua"
    process = await asyncio.create_subprocess_exec(
        *("wrk", "--threads=1", f"--connections={wrk.CONNECTIONS}", f"--duration={seconds}s"),
        *("--timeout=5s", f"--script={script}", f"http://127.0.0.1:{port}/", "--"),
        *(f"/v1/rooms/{room}/tickets", str(lines)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    text = output.decode(errors="replace").strip()
    counts = json.loads(text.splitlines()[-1]) if text.endswith("}") else None
    if process.returncode or counts is None or counts["errors"]:
        raise RuntimeError(f"wrk ended with {process.returncode}: {text[-500:]}")
    return int(counts["requests"])
