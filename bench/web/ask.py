"""Single requests before the measurement begins, repeated when the server asks for it."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx

TRIES = 40
PAUSE_S = 0.25


async def ask(client: httpx.AsyncClient, method: str, url: str, **options: Any) -> httpx.Response:
    """Send a request until the answer is no 503: a starved machine makes the backend seem away."""
    for _ in range(TRIES):
        answer = await client.request(method, url, **options)
        if answer.status_code != 503:
            break
        await asyncio.sleep(PAUSE_S)
    return answer
