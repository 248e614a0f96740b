"""Who is signed in to the operator page: a signed cookie, and what protects its forms.

The cookie holds no key, only whose session it is: it ends after twelve hours, or with its key.
A form counts only if it carries the token of the session and comes from our own page.
"""

from __future__ import annotations

import hmac
import secrets
import time
from dataclasses import dataclass
from hashlib import blake2b

from fastapi import Request, Response

from waitroom.credentials.api_keys import ApiKey
from waitroom.errors import Forbidden
from waitroom.server.context import Server
from waitroom.server.http.auth import Who, address_of, is_https

COOKIE = "waitroom-admin"
PATH = "/admin"
LIFE_S = 12 * 3600
_LONGEST = 200


class NotSignedIn(Exception):
    """Nobody is signed in, or no longer."""


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody who is signed in, and the token that their forms must carry."""

    who: Who
    token: str


def begin(server: Server, request: Request, response: Response, key: ApiKey) -> None:
    """Sign somebody in who has shown a good key."""
    ends_s = int(time.time()) + LIFE_S
    text = f"{key.id}.{key.mark}.{ends_s}.{secrets.token_hex(8)}"
    _set(server, request, response, f"{text}.{_sign(server, 'session', text)}", LIFE_S)


def end(server: Server, request: Request, response: Response) -> None:
    """Sign somebody out."""
    _set(server, request, response, "", 0)


async def current(server: Server, request: Request) -> Session:
    """Return who is signed in."""
    cookie = request.cookies.get(COOKIE, "")[:_LONGEST]
    text, _, seal = cookie.rpartition(".")
    if not hmac.compare_digest(seal.encode(), _sign(server, "session", text).encode()):
        raise NotSignedIn
    key_id, mark, ends_s, _ = text.split(".")
    if int(ends_s) < time.time():
        raise NotSignedIn
    key = await server.keys.get(key_id)
    if key is None or not hmac.compare_digest(key.mark, mark):
        raise NotSignedIn
    return Session(Who(key, address_of(server, request)), _sign(server, "form", text))


def check_form(session: Session, token: str) -> None:
    """Refuse a form that was not made for this session."""
    if not hmac.compare_digest(session.token.encode(), token.encode("utf-8", "replace")):
        raise Forbidden("this form is of another session; go back, reload the page and try again")


def _sign(server: Server, purpose: str, text: str) -> str:
    # No room has an empty name, so no visitor's id can be what signs here.
    key = "".join(server.ring.visitor_id("", f"console:{part}") for part in (purpose, "session"))
    return blake2b(text.encode(), key=key.encode(), digest_size=16).hexdigest()


def _set(server: Server, request: Request, response: Response, value: str, age_s: int) -> None:
    response.set_cookie(
        COOKIE,
        value,
        max_age=age_s,
        path=PATH,
        secure=is_https(server, request),
        httponly=True,
        samesite="strict",
    )
