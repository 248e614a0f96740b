"""Like the operator page, the preview needs a signed-in browser."""

from __future__ import annotations

from tests.server.operator.conftest import page

__all__ = ["page"]
