"""The engine: everything that touches Redis or Valkey. It knows nothing of HTTP."""

from waitroom.engine.client import Engine

__all__ = ["Engine"]
