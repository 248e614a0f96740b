"""Rehearsals: a scenario played with the real scripts, and checked against Waitroom's promises.

Time is virtual and the server private: it must not wait, and must not touch a server in use.

outcome = await rehearse(find("booking-50"))
outcome.passed
"""

from __future__ import annotations

from waitroom.rehearsal.catalogue import NAMES, find
from waitroom.rehearsal.outcome import Outcome
from waitroom.rehearsal.play import rehearse
from waitroom.rehearsal.scenario import Scenario

__all__ = ["NAMES", "Outcome", "Scenario", "find", "rehearse"]
