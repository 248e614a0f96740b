"""Who is signed in to a store's console: a signed cookie of that store.

It lasts two weeks: nobody wants to type a key on a tablet every evening. The API takes it too,
because the console calls it and a browser's event stream can carry nothing else.
"""

from __future__ import annotations

from fastapi import Request, Response

from waitroom.credentials.api_keys import ApiKey
from waitroom.desk.desk import Desk
from waitroom.desk.record.host_keys import HostKey
from waitroom.server.context import Server
from waitroom.server.http.auth import is_https
from waitroom.server.pages.session import Claim, SessionCookie

COOKIE = "waitroom-host-"
LIFE_S = 14 * 86_400


def begin(
    server: Server, request: Request, response: Response, store: str, key: HostKey | ApiKey
) -> None:
    """Sign in somebody who has shown a valid key of this store, or an API key."""
    kind = "host" if isinstance(key, HostKey) else "api"
    _cookie(server, store).begin(response, kind, key, secure=is_https(server, request))


async def end(server: Server, request: Request, response: Response, store: str) -> None:
    """Sign somebody out: on every server, and in every copy of the cookie."""
    cookie = _cookie(server, store)
    claim = cookie.read(request)
    if claim is not None:
        await _desk(server).sign_outs.add(claim.session_id, claim.ends_s)
    cookie.end(response, secure=is_https(server, request))


async def current(
    server: Server, request: Request, store: str
) -> tuple[HostKey | ApiKey, str] | None:
    """Return the key and CSRF token of the store's session cookie; None if it is not valid."""
    claim = _cookie(server, store).read(request)
    key = None if claim is None else await _key(server, store, claim)
    if claim is None or key is None or not claim.is_of(key):
        return None
    if await _desk(server).sign_outs.has(claim.session_id):
        return None
    return key, claim.form_token


async def _key(server: Server, store: str, claim: Claim) -> HostKey | ApiKey | None:
    if claim.kind == "api":
        return await server.keys.get(claim.key_id)
    key = await _desk(server).hosts.get(claim.key_id)
    return key if key is not None and key.store == store else None


def _desk(server: Server) -> Desk:
    assert server.desk is not None  # noqa: S101 - its routes exist only then
    return server.desk


def _cookie(server: Server, store: str) -> SessionCookie:
    return SessionCookie(server.ring, COOKIE + store, "/", LIFE_S)
