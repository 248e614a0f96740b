"""The engine: everything that touches Redis or Valkey. It knows nothing of HTTP."""

from waitroom.engine.crowd import Join
from waitroom.engine.engine import Engine
from waitroom.engine.lines import Settled, Spot
from waitroom.engine.ticket_views import PresentedTicket

__all__ = ["Engine", "Join", "PresentedTicket", "Settled", "Spot"]
