"""Clients of the real server that all tests of a worker share."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from tests.support.serving import Serving


@pytest.fixture
def http(served: Serving) -> Iterator[httpx2.Client]:
    """Return a client of that server."""
    with httpx2.Client(base_url=served.base, timeout=60) as client:
        yield client


@pytest.fixture
def operator(served: Serving) -> Iterator[httpx2.Client]:
    """Return a client that sends the admin key."""
    with served.operator() as client:
        yield client


@pytest.fixture
def room(served: Serving) -> str:
    """Return a room for this test only: two people may be inside."""
    return served.new_room(capacity=2, session_s=60, max_defers=2)
