"""Who is signed in to the operator page, by a signed cookie that ends after twelve hours."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request, Response

from waitroom.credentials.api_keys import ApiKey
from waitroom.server.context import Server
from waitroom.server.http.auth import Who, address_of, is_https
from waitroom.server.pages.route import NotSignedIn
from waitroom.server.pages.session import SessionCookie

COOKIE = "waitroom-admin"
PATH = "/admin"
LIFE_S = 12 * 3600
_KIND = "api"


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody who is signed in, and the CSRF token that their forms must carry."""

    who: Who
    token: str


def begin(server: Server, request: Request, response: Response, key: ApiKey) -> None:
    """Sign somebody in who has shown a good key."""
    _cookie(server).begin(response, _KIND, key, secure=is_https(server, request))


async def end(server: Server, request: Request, response: Response) -> None:
    """Sign somebody out: on every server, and in every copy of the cookie."""
    cookie = _cookie(server)
    claim = cookie.read(request)
    if claim is not None:
        await server.sign_outs.add(claim.session_id, claim.ends_s)
    cookie.end(response, secure=is_https(server, request))


async def current(server: Server, request: Request) -> Session:
    """Return who is signed in."""
    claim = _cookie(server).read(request)
    key = None if claim is None else await server.keys.get(claim.key_id)
    if claim is None or key is None or not claim.is_of(key):
        raise NotSignedIn
    server.backend_health.check()  # which knows the sign-outs
    if await server.sign_outs.has(claim.session_id):
        raise NotSignedIn
    return Session(Who(key, address_of(server, request)), claim.form_token)


def _cookie(server: Server) -> SessionCookie:
    return SessionCookie(server.ring, COOKIE, PATH, LIFE_S)
