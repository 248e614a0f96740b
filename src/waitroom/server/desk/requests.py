"""What routes of the API and of the pages share: limits, repeated requests, and addresses."""

from __future__ import annotations

import hashlib
import math

from fastapi import Request

from waitroom.errors import TooMany
from waitroom.server.context import Server
from waitroom.server.http.auth import address_of, is_https


def limit_joins(server: Server, request: Request) -> None:
    """Refuse an address from which too many join."""
    wait_s = server.joins.take(address_of(server, request))
    if wait_s > 0:
        server.counters.limited("joins")
        raise TooMany("too many join from this address; try again", math.ceil(wait_s))


def op_id(server: Server, action: str, owner: str, key: str | None) -> str | None:
    """Return a caller's Idempotency-Key as an id that nobody else can repeat or guess."""
    if key is None:
        return None
    text = f"{action}:{owner}:{key}"
    # With the server's secret: somebody who reads the database must not get a guest's place.
    sealed = server.ring.visitor_id("", f"desk-op:{hashlib.sha256(text.encode()).hexdigest()}")
    return f"{action}:{sealed}"


def base_url(server: Server, request: Request) -> str:
    """Return how guests reach this server: as the settings say, or as this request did."""
    base = server.settings.public_url
    if base is None:
        scheme = "https" if is_https(server, request) else "http"
        base = f"{scheme}://{request.headers.get('host', 'localhost')}"
    return base.rstrip("/")


def guest_url(server: Server, request: Request, store: str, token: str) -> str:
    """Return the address of a guest's own page."""
    return f"{base_url(server, request)}/desk/{store}/p/{token}"
