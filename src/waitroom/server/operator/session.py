"""Who is signed in to the operator page: by a signed cookie that ends after twelve hours, or by
the name that a proxy gives them.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from fastapi import Request, Response

from waitroom.credentials.api_keys import ApiKey
from waitroom.credentials.named_users import NotBelieved, User
from waitroom.credentials.roles import Role
from waitroom.errors import Forbidden
from waitroom.operations import sign_ins
from waitroom.operations.trail import Actor, Trail, Way
from waitroom.server.context import Server
from waitroom.server.http.auth import Who, address_of, is_https
from waitroom.server.pages.route import NotSignedIn
from waitroom.server.pages.session import SessionCookie

COOKIE = "waitroom-admin"
PATH = "/admin"
LIFE_S = 12 * 3600
_KIND = "api"
_LOG = logging.getLogger("waitroom.users")


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody who is signed in, and the CSRF token that their forms must carry."""

    who: Who
    token: str
    older_token: str = ""
    """The previous token, which is still valid: a named user's token changes with time."""

    sign_out_url: str | None = None
    """Where a named user signs out; a session by key ends here."""


def begin(server: Server, request: Request, response: Response, key: ApiKey) -> None:
    """Sign in somebody who has shown a valid key."""
    _cookie(server).begin(response, _KIND, key, secure=is_https(server, request))


async def end(server: Server, request: Request, response: Response) -> None:
    """Sign somebody out: on every server, and in every copy of the cookie."""
    cookie = _cookie(server)
    claim = cookie.read(request)
    if claim is not None:
        await server.sign_outs.add(claim.session_id, claim.ends_s)
    cookie.end(response, secure=is_https(server, request))


async def current(server: Server, request: Request) -> Session:
    """Return who is signed in: the named user, else the owner of the cookie."""
    user = _named(server, request)
    if user is not None and user.role is not None:
        return await _of_user(server, request, user, user.role)
    try:
        return await _of_cookie(server, request)
    except NotSignedIn:
        if user is not None:
            raise Forbidden(f"{user.name} has no role here; ask an admin for one") from None
        raise


def _named(server: Server, request: Request) -> User | None:
    """Return the user whom a proxy names; a name that is not believed is ignored."""
    if server.named_users is None:
        return None
    peer = request.client.host if request.client else ""
    try:
        return server.named_users.read(peer, request.scope["headers"])
    except NotBelieved as reason:
        # As rarely as bad keys are answered, or such headers would fill the log.
        if not server.bad_keys.take(f"user_header {reason}"):
            _LOG.warning("a user's name was not believed: %s", reason, extra={"peer": peer})
        return None


async def _of_user(server: Server, request: Request, user: User, role: Role) -> Session:
    server.backend_health.check()
    who = Who.of_user(user, role, address_of(server, request))
    if await server.engine.user_sessions.begin(f"{user.name} {role}", LIFE_S):
        await sign_ins.note(Trail(server.audit, Actor.of_key(who.key, Way.PAGE, who.address)))
    token, older = _cookie(server).user_tokens(user.name)
    return Session(who, token, older, server.settings.user_sign_out_url)


async def _of_cookie(server: Server, request: Request) -> Session:
    claim = _cookie(server).read(request)
    key = None if claim is None else await server.keys.get(claim.key_id)
    if claim is None or key is None or not claim.is_of(key):
        raise NotSignedIn
    server.backend_health.check()  # the backend knows the sign-outs
    if await server.sign_outs.has(claim.session_id):
        raise NotSignedIn
    return Session(Who(key, address_of(server, request)), claim.form_token)


def _cookie(server: Server) -> SessionCookie:
    return SessionCookie(server.ring, COOKIE, PATH, LIFE_S)
