"""Who is signed in to a store's console: a signed cookie of that store.

It holds no key, only whose session it is: it ends with its key, or after two weeks, for nobody
wants to type a key on a tablet every evening. The API takes it too, because the console calls it
and a browser's event stream can carry nothing else.
"""

from __future__ import annotations

import hmac
import secrets
import time
from hashlib import blake2b

from fastapi import Request, Response

from waitroom.credentials.api_keys import ApiKey
from waitroom.desk.record.host_keys import HostKey
from waitroom.errors import Forbidden
from waitroom.server.context import Server
from waitroom.server.http.auth import is_https

COOKIE = "waitroom-host-"
LIFE_S = 14 * 86_400
_LONGEST = 200


def begin(
    server: Server, request: Request, response: Response, store: str, key: HostKey | ApiKey
) -> None:
    """Sign somebody in who has shown a good key of this store, or an API key."""
    kind = "h" if isinstance(key, HostKey) else "a"
    ends_s = int(time.time()) + LIFE_S
    text = f"{kind}.{key.id}.{key.mark}.{ends_s}.{secrets.token_hex(8)}"
    _set(server, request, response, store, f"{text}.{_sign(server, store, text)}", LIFE_S)


def end(server: Server, request: Request, response: Response, store: str) -> None:
    """Sign somebody out."""
    _set(server, request, response, store, "", 0)


async def current(
    server: Server, request: Request, store: str
) -> tuple[HostKey | ApiKey, str] | None:
    """Return whose session the store's cookie is, and the token of its forms; None if of nobody."""
    cookie = request.cookies.get(COOKIE + store, "")[:_LONGEST]
    text, _, seal = cookie.rpartition(".")
    if not hmac.compare_digest(seal.encode(), _sign(server, store, text).encode()):
        return None
    kind, key_id, mark, ends_s, _ = text.split(".")
    if int(ends_s) < time.time():
        return None
    key = await _key(server, store, kind, key_id)
    if key is None or not hmac.compare_digest(key.mark, mark):
        return None
    return key, _sign(server, f"form:{store}", text)


def check_form(expected: str, token: str) -> None:
    """Refuse a form that was not made for this session."""
    if not hmac.compare_digest(expected.encode(), token.encode("utf-8", "replace")):
        raise Forbidden("this form is of another session; go back, reload the page and try again")


async def _key(server: Server, store: str, kind: str, key_id: str) -> HostKey | ApiKey | None:
    if kind == "a":
        return await server.keys.get(key_id)
    assert server.desk is not None  # noqa: S101 - its routes are there only then
    found = await server.desk.hosts.get(key_id)
    return found if found is not None and found.store == store else None


def _sign(server: Server, purpose: str, text: str) -> str:
    # No room has an empty name, so no visitor's id can be what signs here.
    key = "".join(server.ring.visitor_id("", f"desk:{part}") for part in (purpose, "session"))
    return blake2b(text.encode(), key=key.encode(), digest_size=16).hexdigest()


def _set(
    server: Server, request: Request, response: Response, store: str, value: str, age_s: int
) -> None:
    response.set_cookie(
        COOKIE + store,
        value,
        max_age=age_s,
        path="/",
        secure=is_https(server, request),
        httponly=True,
        samesite="strict",
    )
