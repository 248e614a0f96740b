"""A visitor's HTTP request, from the lane or the framework; headers are parsed on demand.

A browser keeps its ticket in a cookie; any client may send it as `Authorization: Bearer`, or in the
path. The cookie belongs to this host alone, no script can read it, and requests from a page of
another site can neither read nor set it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Self
from urllib.parse import unquote

import msgspec

from waitroom.errors import BadRequest, InvalidInput
from waitroom.server.http.answers import Headers
from waitroom.server.http.proxies import TrustedProxies
from waitroom.web.addresses import Source
from waitroom.web.names import TICKET_COOKIE, cookie_name, cookie_names
from waitroom.web.origins import Origins

MOST_BODY = 16_384
_LONGEST_COOKIES = 16_384
_BROWSER = {b"origin", b"sec-fetch-mode", b"cookie"}


class VisitorRequest:
    """One request: which room and ticket its path names, and the headers as they came."""

    __slots__ = ("body", "headers", "method", "origins", "path_ticket", "peer", "room", "scheme")

    def __init__(
        self,
        origins: Origins,
        method: str,
        room: str,
        path_ticket: str | None,
        headers: Headers,
        peer: str,
        scheme: str,
        body: bytes = b"",
    ) -> None:
        self.origins = origins
        self.method = method
        self.room = room
        self.path_ticket = path_ticket
        self.headers = headers
        self.peer = peer
        self.scheme = scheme
        self.body = body

    @classmethod
    def of(
        cls,
        origins: Origins,
        scope: Mapping[str, Any],
        room: str,
        path_ticket: str | None,
        body: bytes = b"",
    ) -> Self:
        """Make a request from an ASGI scope."""
        client = scope.get("client")
        peer, scheme = client[0] if client else "", scope["scheme"]
        headers = scope["headers"]
        return cls(origins, scope["method"], room, path_ticket, headers, peer, scheme, body)

    def header(self, name: bytes) -> str | None:
        """Return a header by its name in lower case."""
        for key, value in self.headers:
            if key == name:
                return value.decode("latin-1")
        return None

    @property
    def bearer(self) -> str | None:
        """What `Authorization: Bearer` carries."""
        scheme, _, token = (self.header(b"authorization") or "").partition(" ")
        return token.strip() or None if scheme.lower() == "bearer" else None

    def cookie(self, name: str) -> str | None:
        """Return a visitor's cookie, if the page that sent the request may use it."""
        text = self.header(b"cookie")
        if text is None or not self.origins.may_use_cookies(self.method, self.headers):
            return None
        return _cookie_in(text, name)

    def shown_cookie(self, name: str) -> str | None:
        """Return a cookie, whoever sent the request: only for requests that change nothing."""
        text = self.header(b"cookie")
        return None if text is None else _cookie_in(text, name)

    @property
    def ticket(self) -> str:
        """The caller's ticket from the path, the cookie or the header; empty if there is none."""
        if self.path_ticket is not None and self.path_ticket != "me":
            return self.path_ticket
        return self.cookie(TICKET_COOKIE + self.room) or self.bearer or ""

    @property
    def takes_cookies(self) -> bool:
        """Whether the caller is a browser, with a page that may set a visitor's cookies."""
        for name, _ in self.headers:
            if name in _BROWSER:
                return self.origins.may_use_cookies(self.method, self.headers)
        return False

    def address(self, proxies: TrustedProxies) -> str:
        """Return the visitor's address, seen through trusted proxies."""
        return proxies.visitor(self.peer, self.headers)

    def source(self, proxies: TrustedProxies) -> Source:
        """Return the source that limits count the visitor as."""
        return proxies.source(proxies.visitor(self.peer, self.headers))

    def is_https(self, proxies: TrustedProxies) -> bool:
        """Return whether the visitor's browser uses https, directly or through a proxy."""
        return proxies.is_https(self.peer, self.scheme, self.headers)

    def json(self, kind: type[msgspec.Struct]) -> Any:
        """Read the body; an empty one stands for `{}`."""
        try:
            return _decoder(kind).decode(self.body or b"{}")
        except msgspec.ValidationError as error:
            what, _, where = str(error).partition(" - at `$.")
            raise InvalidInput(where.rstrip("`") or "body", what) from None
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise BadRequest("the body is not JSON; send an object, or nothing") from None


@cache
def _decoder(kind: type[msgspec.Struct]) -> msgspec.json.Decoder[Any]:
    """Return what reads a body; making one for each join would cost more than reading it."""
    return msgspec.json.Decoder(kind)


def _cookie_in(text: str, name: str) -> str | None:
    """Return a cookie; of two with the same name the first, which is the more specific."""
    if name not in text or len(text) > _LONGEST_COOKIES:
        return None
    pairs = [part.strip().partition("=") for part in text.split(";")]
    for known in cookie_names(name):
        for key, _, value in pairs:
            if key == known:
                return value
    return None


def cookie(name: str, value: str, *, secure: bool, max_age_s: float | None) -> tuple[bytes, bytes]:
    """Return a Set-Cookie header for this host alone; an age of 0 removes the cookie."""
    parts = [f"{cookie_name(name, secure=secure)}={value}", "Path=/", "HttpOnly", "SameSite=Lax"]
    if max_age_s is not None:
        parts.append(f"Max-Age={int(max_age_s)}")
    if secure:
        parts.append("Secure")
    return b"set-cookie", "; ".join(parts).encode("latin-1")


def room_in_query(query: bytes) -> str:
    """Return the `room` of a query; empty if there is none."""
    for part in query.split(b"&"):
        name, _, value = part.partition(b"=")
        if name == b"room":
            return unquote(value.decode("latin-1"))
    return ""
