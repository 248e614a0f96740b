"""Webhooks made for a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx2

NOWHERE = "http://127.0.0.1:9/hook"


@contextmanager
def made(operator: httpx2.Client, url: str, **fields: object) -> Iterator[dict[str, str]]:
    """Make a webhook through the API, and remove it at the end."""
    answer = operator.post("/v1/admin/webhooks", json={"url": url, **fields})
    assert 201 == answer.status_code, answer.text
    hook = answer.json()
    try:
        yield hook
    finally:
        assert 204 == operator.delete(f"/v1/admin/webhooks/{hook['id']}").status_code
