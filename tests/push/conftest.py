"""A push service that this process trusts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.push_service import PushService, push_service
from waitroom.push import sender


@pytest_asyncio.fixture
async def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[PushService]:
    """Run a push service for the test."""
    monkeypatch.setattr(sender, "PATIENCE_S", 60.0)  # tries are counted, so none may time out
    async with push_service(tmp_path) as running:
        monkeypatch.setenv("SSL_CERT_FILE", str(running.certificate))
        yield running
