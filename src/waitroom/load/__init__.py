"""A crowd of real HTTP clients for a running server: how fast it answers, and whether it is fair.

It must judge by what visitors see, never by what the server says about itself.

target   where the server is, and whether we may load it
http     HTTP/1.1 on one connection         room        requests beside the crowd
plan     the size and behaviour of the crowd
person   one visitor                        crowd       the visitors of one process
worker   that process                       visits      what the visitors saw
latency  how long replies took              bottleneck  what was at its limit
checks   what must be true of the visits
run      the whole test                     outcome     its result
"""

from __future__ import annotations

from waitroom.load.outcome import Outcome
from waitroom.load.plan import Plan
from waitroom.load.run import run

__all__ = ["Outcome", "Plan", "run"]
