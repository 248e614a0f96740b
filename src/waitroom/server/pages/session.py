"""A session in a signed cookie: whose key it is and until when, and the CSRF token of its forms.

The cookie holds no key, only its id and mark: it ends after its time, with its key, or when its
owner signs out.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

from fastapi import Request, Response

from waitroom.credentials.bearer_keys import BearerKey
from waitroom.tickets import KeyRing
from waitroom.web.names import cookie_name, cookie_names

_LONGEST = 200


class Claim(NamedTuple):
    """The content of a valid cookie; the caller checks whether its key is still valid."""

    kind: str
    key_id: str
    mark: str
    form_token: str
    session_id: str
    ends_s: int

    def is_of(self, key: BearerKey) -> bool:
        """Return whether the session was begun with this key."""
        return hmac.compare_digest(key.mark, self.mark)


@dataclass(frozen=True, slots=True)
class SessionCookie:
    """The cookie of one face, or of one store; one cannot be used in place of another."""

    ring: KeyRing
    name: str
    path: str
    life_s: int
    clock: Callable[[], float] = time.time

    def begin(self, response: Response, kind: str, key: BearerKey, *, secure: bool) -> None:
        """Sign in somebody who has shown a valid key."""
        ends_s = int(self.clock()) + self.life_s
        text = f"{kind}.{key.id}.{key.mark}.{ends_s}.{secrets.token_hex(8)}"
        self._set(response, f"{text}.{self._sign('session', text)}", self.life_s, secure=secure)

    def end(self, response: Response, *, secure: bool) -> None:
        """Remove the cookie; the sign-outs refuse any copy of it."""
        self._set(response, "", 0, secure=secure)
        if secure:  # also the cookie of an older server, which would be read again
            response.delete_cookie(self.name, self.path)

    def read(self, request: Request) -> Claim | None:
        """Return the session of a request's cookie; None if it is not ours, or expired."""
        shown = filter(None, map(request.cookies.get, cookie_names(self.name)))
        text, _, seal = next(shown, "")[:_LONGEST].rpartition(".")
        if not hmac.compare_digest(seal.encode(), self._sign("session", text).encode()):
            return None
        kind, key_id, mark, ends_s, session_id = text.split(".")
        if int(ends_s) < self.clock():
            return None
        return Claim(kind, key_id, mark, self._sign("form", text), session_id, int(ends_s))

    def user_tokens(self, name: str) -> tuple[str, str]:
        """Return the CSRF tokens of somebody who is signed in elsewhere and has no cookie from us.

        The first is for new forms, the second is from the period before: a form is valid for at
        least `life_s`, and at most twice as long.
        """
        span = int(self.clock()) // self.life_s
        now, before = (self._sign("user", f"{name}.{number}") for number in (span, span - 1))
        return now, before

    def _sign(self, purpose: str, text: str) -> str:
        # No room has an empty name, so no visitor's id can equal a signature made here.
        halves = (self.ring.visitor_id("", f"{purpose}:{half}:{self.name}") for half in (1, 2))
        return blake2b(text.encode(), key="".join(halves).encode(), digest_size=16).hexdigest()

    def _set(self, response: Response, value: str, age_s: int, *, secure: bool) -> None:
        response.set_cookie(
            cookie_name(self.name, secure=secure),
            value,
            max_age=age_s,
            path="/" if secure else self.path,  # browsers accept `__Host-` only with this path
            secure=secure,
            httponly=True,
            samesite="strict",
        )
