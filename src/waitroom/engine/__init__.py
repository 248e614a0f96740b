"""The engine: everything that touches Redis or Valkey. It knows nothing of HTTP.

Other packages may use what is exported here, and the few modules that `tests/test_layers.py` lists.
"""

from waitroom.accounts import ClaimUse
from waitroom.engine.batcher import Waiter
from waitroom.engine.crowd import ENTERS_PER_SCRIPT
from waitroom.engine.engine import Engine
from waitroom.engine.event_log import MOST_SAMPLES
from waitroom.engine.joins import Join
from waitroom.engine.limited import NarrowDoor
from waitroom.engine.lines import LineContents, LineCounts, LineMark, Settled, Spot
from waitroom.engine.pipeline import Pipeline
from waitroom.engine.protocol.replies import COUNTERS, EnteredTicket, JoinedTicket, Polled
from waitroom.engine.search import MOST_MATCHES, Matches
from waitroom.engine.steps import Steps
from waitroom.engine.ticket_views import PresentedTicket

__all__ = [
    "COUNTERS",
    "ENTERS_PER_SCRIPT",
    "MOST_MATCHES",
    "MOST_SAMPLES",
    "ClaimUse",
    "Engine",
    "EnteredTicket",
    "Join",
    "JoinedTicket",
    "LineContents",
    "LineCounts",
    "LineMark",
    "Matches",
    "NarrowDoor",
    "Pipeline",
    "Polled",
    "PresentedTicket",
    "Settled",
    "Spot",
    "Steps",
    "Waiter",
]
