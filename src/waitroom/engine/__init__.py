"""The engine: everything that touches Redis or Valkey. It knows nothing of HTTP.

What others may use is here, and in the few modules that `tests/test_layers.py` lists.
"""

from waitroom.engine.batcher import Waiter
from waitroom.engine.crowd import ENTERS_PER_SCRIPT, Join
from waitroom.engine.engine import Engine
from waitroom.engine.event_log import MOST_SAMPLES
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
    "Engine",
    "EnteredTicket",
    "Join",
    "JoinedTicket",
    "LineContents",
    "LineCounts",
    "LineMark",
    "Matches",
    "Pipeline",
    "Polled",
    "PresentedTicket",
    "Settled",
    "Spot",
    "Steps",
    "Waiter",
]
