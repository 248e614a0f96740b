"""Clients of the real server that all tests of a worker share."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.support.serving import ADMIN_KEY, Serving
from waitroom.tickets import KeyRing


@pytest.fixture
def http(served: Serving) -> Iterator[httpx.Client]:
    """Return a client of that server."""
    with httpx.Client(base_url=served.base, timeout=20) as client:
        yield client


@pytest.fixture
def operator(served: Serving) -> Iterator[httpx.Client]:
    """Return a client that shows the admin key."""
    headers = {"authorization": f"Bearer {ADMIN_KEY}"}
    address = served.base
    with httpx.Client(base_url=address, headers=headers, timeout=20) as client:
        yield client


@pytest.fixture
def room(operator: httpx.Client) -> str:
    """Return a room of its own for a test: two may be inside."""
    name = f"t-{KeyRing([b'x' * 32]).new_id().strip('-_')}"
    body = {"name": name, "policy": {"capacity": 2, "session_s": 60, "max_defers": 2}}
    operator.post("/v1/admin/rooms", json=body).raise_for_status()
    return name
