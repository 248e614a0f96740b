"""The preview needs a browser that is signed in, as the operator page does."""

from __future__ import annotations

from tests.server.operator.conftest import page

__all__ = ["page"]
