"""The engine: everything that touches Redis or Valkey. It knows nothing of HTTP."""

from waitroom.engine.client import Engine
from waitroom.engine.visitors import Join

__all__ = ["Engine", "Join"]
