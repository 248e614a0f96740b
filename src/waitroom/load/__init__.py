"""A crowd of real HTTP clients for a running server: how fast it answers, and whether it is fair.

target   where the server is, and whether we may load it
wire     HTTP on a kept connection
plan     what was asked for
crowd    the people of one process        child   that process
notes    what the people saw              latency how long answers took
checks   what must be true of the notes   machine who was at their limit
run      all of it                        outcome what came of it
"""

from __future__ import annotations

from waitroom.load.outcome import Outcome
from waitroom.load.plan import Plan
from waitroom.load.run import run

__all__ = ["Outcome", "Plan", "run"]
