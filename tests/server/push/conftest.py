"""The watch sends to the same push service as the sender's own tests."""

from __future__ import annotations

from tests.push.conftest import service

__all__ = ["service"]
