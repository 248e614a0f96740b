"""How much the tests do: one table with three columns, selected by the environment.

`make test` uses the first column and fits in a coffee break. `.ci/run` (CI=true) uses the second,
which has the counts that the project promises. `make soak` (SOAK=1) uses the third.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType

COUNTS: Mapping[str, tuple[int, int, int]] = MappingProxyType(
    {
        # name: (local, CI, soak)
        "kinds": (1, 2, 2),  # servers and databases; see `order.SECOND`
        "examples": (30, 100, 1_000),  # per property test, unless it has its own line
        "simulated_rooms": (3, 10, 50),
        "state_machine_examples": (25, 200, 2_000),
        "state_machine_steps": (30, 50, 80),
        "hammer_admissions": (120, 1_000, 6_000),
        "hammer_processes": (8, 8, 8),
        "worker_kills": (5, 50, 200),
        "server_kills": (2, 10, 30),
        "relay_kills": (2, 4, 60),
        "flush_people": (1_000, 10_000, 50_000),
        "flush_script_seconds": (2, 10, 60),
        "injections": (100, 1_000, 10_000),
        "mass_sessions": (10_000, 100_000, 100_000),
        "mass_waiting": (50_000, 1_000_000, 1_000_000),
        "idle_rooms": (500, 5_000, 5_000),
        "idle_seconds": (5, 20, 60),
        "ghosts": (1_000, 10_000, 50_000),
        "unsolved_joins": (1_000, 10_000, 50_000),
        "outage_people": (500, 5_000, 20_000),
        "lost_second_people": (500, 5_000, 20_000),
        "gate_away_requests": (20, 200, 2_000),
        "gate_redirects": (2_000, 20_000, 200_000),
        "rotations": (2, 8, 40),
        "live_change_seeds": (3, 30, 300),
        "slow_connections": (40, 1_000, 1_000),
        "rolling_streams": (24, 200, 1_000),
        "rolling_servers": (2, 3, 3),
        "rolling_restarts": (1, 3, 15),
        "upgrade_entries": (10, 25, 400),  # at each server, per step of an upgrade
        "demo_called": (0, 1, 1),  # whether to wait until a newcomer is let in
        "away_seconds": (2, 10, 60),
        "stalls": (1, 3, 10),
        "attack_connections": (100, 200, 400),
        "attack_rounds": (20, 200, 1_000),
        "joins_from_one": (500, 5_000, 5_000),
        "api_examples": (6, 40, 400),
        "rehearsed": (5_000, 50_000, 1_000_000),
        "path_tricks": (100, 4_000, 40_000),  # spellings of a path, per stack
        "altered_every": (7, 1, 1),  # every nth character of a pass is changed
        "api_coverage": (0, 1, 1),
        "concert_examples": (10, 60, 600),
        "gated_visitors": (16, 200, 200),
        "gated_places": (4, 20, 20),
        "readme_crowd": (6, 30, 30),
        "history_rooms": (2, 50, 50),  # each with 30 days of the largest numbers
        "desk_calls": (60, 1_000, 5_000),  # by both hosts at once
        "desk_crashes": (10, 100, 1_000),
    }
)


def count(name: str) -> int:
    """Return how often, how long or how many, for this kind of run."""
    local, ci, soak = COUNTS[name]
    if os.environ.get("SOAK") == "1":
        return soak
    return ci if os.environ.get("CI") == "true" else local
