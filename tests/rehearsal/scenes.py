"""Small scenarios for tests, written like real scenario files."""

from __future__ import annotations

from pathlib import Path

from waitroom.rehearsal.scenario import Scenario
from waitroom.rehearsal.scenario_file import read_text

SLOTS = """
title = "A few seats"
seed = 7
lasts_s = 3600

[room]
preset = "slots"
capacity = 10
session_s = 60
enter_within_s = 20

[[arrivals]]
kind = "spike"
people = 120
within_s = 30

[people]
no_shows = 0.1
closes_tab = 0.1
session = { kind = "lognormal", median_s = 30, sigma = 0.5 }
"""

PACED = """
seed = 8
lasts_s = 1800

[room]
batch = 10
every_s = 10
session_s = 60

[[arrivals]]
kind = "waves"
people = 60
waves = 3
every_s = 60
within_s = 20

[people]
session = 20
"""

ROLLING = """
seed = 10
lasts_s = 1800

[room]
max_entries = 40
per_s = 60
session_s = 60

[[arrivals]]
kind = "spike"
people = 150
within_s = 20

[people]
session = 20
"""

BAD_DAY = """
seed = 9
starts = "10:00"
lasts_s = 7200

[room]
batch = 20
every_s = 10
capacity = 300
session_s = 120

[[arrivals]]
kind = "spike"
people = 1000
within_s = 60

[[arrivals]]
kind = "poisson"
at = "10:01"
per_s = 0.5
for_s = 300

[people]
patience = { kind = "lognormal", median_s = 3600, sigma = 0.5 }
closes_tab = 0.1
no_shows = 0.05
session = { kind = "lognormal", median_s = 60, sigma = 0.5 }

[[changes]]
at = "10:02"
mode = "paused"

[[changes]]
at = "10:03"
mode = "open"
batch = 30

[[faults]]
at = "10:05"
kind = "flush"

[[faults]]
at = "10:09"
kind = "away"
for_s = 300
"""


def scene(text: str) -> Scenario:
    """Parse a scenario from text."""
    return read_text(text, "scene", Path(), "scene.toml")
