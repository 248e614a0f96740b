"""What routes of the API and of the pages share: limits, repeated requests, and addresses."""

from __future__ import annotations

import hashlib
import math
import re

from fastapi import Request

from waitroom.desk.inputs import Wish
from waitroom.desk.models import Party, Store
from waitroom.errors import BadRequest, TooMany
from waitroom.server.context import Server
from waitroom.server.desk.access import desk_of
from waitroom.server.http.auth import address_of, is_https

_HOST = re.compile(r"[A-Za-z0-9.:\[\]_-]{1,255}")
"""What a Host may be: it goes into addresses for people, and a QR code has little room."""


async def join(
    server: Server, request: Request, store: str, line_name: str, wish: Wish, key: str | None
) -> tuple[Party, str]:
    """Let a guest join, within the limits of their address; return the party and its token."""
    limit_joins(server, request)
    try:
        return await desk_of(server).join(
            store,
            line_name,
            wish,
            op_id=op_id(server, "join", store, key),
            address=server.proxies.network(address_of(server, request)),
        )
    except TooMany:
        server.counters.limited("joins")
        raise


def limit_joins(server: Server, request: Request) -> None:
    """Refuse an address from which too many people join."""
    wait_s = server.joins.take(server.proxies.network(address_of(server, request)))
    if wait_s > 0:
        server.counters.limited("joins")
        raise TooMany("too many join from this address; try again", math.ceil(wait_s))


def op_id(server: Server, action: str, owner: str, key: str | None) -> str | None:
    """Return a caller's Idempotency-Key as an id that nobody else can repeat or guess."""
    if key is None:
        return None
    text = f"{action}:{owner}:{key}"
    # Keyed with the server's secret: somebody who reads the database must not get a guest's place.
    sealed = server.ring.visitor_id("", f"desk-op:{hashlib.sha256(text.encode()).hexdigest()}")
    return f"{action}:{sealed}"


def base_url(server: Server, request: Request) -> str:
    """Return how guests reach this server: from the settings, or from this request."""
    base = server.settings.public_url
    if base is None:
        scheme = "https" if is_https(server, request) else "http"
        host = request.headers.get("host", "localhost")
        if not _HOST.fullmatch(host):
            raise BadRequest("the header Host is not the name of a host")
        base = f"{scheme}://{host}"
    return base.rstrip("/")


def door_url(server: Server, request: Request, store: Store) -> str:
    """Return where the QR code at a store leads now, with the on-site code if there is one."""
    code = desk_of(server).on_site.current(store)
    query = "" if code is None else f"?code={code}"
    return f"{base_url(server, request)}/desk/{store.id}{query}"


def guest_url(server: Server, request: Request, store: str, token: str) -> str:
    """Return the address of a guest's own page."""
    return f"{base_url(server, request)}/desk/{store}/p/{token}"
