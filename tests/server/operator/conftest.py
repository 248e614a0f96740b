"""A browser that is signed in to the operator page."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from tests.support.serving import ADMIN_KEY, Serving


@pytest.fixture
def page(served: Serving) -> Iterator[httpx2.Client]:
    """Return a browser, as far as cookies go, that is signed in as an admin."""
    with httpx2.Client(base_url=served.base, timeout=60) as client:
        answer = client.post("/admin/sign-in", data={"key": ADMIN_KEY})
        assert (303, "/admin") == (answer.status_code, answer.headers["location"])
        yield client
