"""Single requests before the measurement starts, repeated if the server asks for it."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2

TRIES = 40
PAUSE_S = 0.25


async def ask(client: httpx2.AsyncClient, method: str, url: str, **options: Any) -> httpx2.Response:
    """Send a request until the answer is not 503: on a starved machine the backend seems away."""
    for _ in range(TRIES):
        answer = await client.request(method, url, **options)
        if answer.status_code != 503:
            break
        await asyncio.sleep(PAUSE_S)
    return answer
