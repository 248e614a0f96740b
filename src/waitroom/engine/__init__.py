"""The engine: everything that touches Redis or Valkey. It knows nothing of HTTP."""

from waitroom.engine.crowd import Join
from waitroom.engine.engine import Engine

__all__ = ["Engine", "Join"]
