"""Which pages of other origins may call the visitors' API from a browser (CORS).

Only calls under `/v1/rooms/`: those of operators and gates are for programs. An origin is compared
whole, as browsers write it; there is no wildcard. A page may send cookies along only if it may use
them, which is another list (`origins`). Where nothing is listed, nothing here runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping
from typing import Any, NamedTuple, Self

from waitroom.server.http import answers
from waitroom.server.http.answers import Answer, Headers
from waitroom.server.http.bodies import App, Message, Receive, Send, send_answer
from waitroom.web.origins import listed_origins

PATH = "/v1/rooms/"
_ORIGIN, _WANTED = b"origin", b"access-control-request-method"
# Also for other origins and for none: a cache in between must not give one the other's answer.
_VARY = (b"vary", b"Origin")
_EXPOSED = (b"access-control-expose-headers", b"Retry-After, X-Request-Id")
_PREFLIGHT: Headers = [
    (b"access-control-allow-methods", b"GET, POST, DELETE"),
    (b"access-control-allow-headers", b"authorization, content-type, idempotency-key, traceparent"),
    (b"access-control-max-age", b"7200"),  # two hours: Chromium keeps no answer for longer
]


class _Permit(NamedTuple):
    """What answers to one origin add, and the whole headers of the usual answers with it."""

    more: Headers
    json: Headers
    empty: Headers


class Cors:
    """The origins that may call, and those of them that may send cookies."""

    __slots__ = ("_listed", "_others")

    def __init__(self, listed: Iterable[str], with_cookies: Iterable[str] = ()) -> None:
        cookies = frozenset(listed_origins(with_cookies, "origins"))
        self._others = _permit([])
        self._listed = {
            origin.encode(): _permit(_permission(origin, cookies=origin in cookies))
            for origin in listed_origins(listed, "cors_origins")
        }

    @classmethod
    def of_settings(cls, cors_origins: str | None, origins: str | None) -> Self | None:
        """Make one of the settings `cors_origins` and `origins`; None if no origin may call."""
        if not cors_origins:
            return None
        return cls(*((text or "").replace(",", " ").split() for text in (cors_origins, origins)))

    @property
    def shared_headers(self) -> list[Headers]:
        """The lists of headers that nearly all answers have, for connections to prepare."""
        permits = (self._others, *self._listed.values())
        return [headers for permit in permits for headers in (permit.json, permit.empty)]

    def allow(self, headers: Headers, answer: Answer) -> Answer:
        """Return the answer to a request with these headers, with what its origin may do."""
        permit = self._permit_of(headers)
        if answer.headers is answers.JSON:
            return Answer(answer.status, permit.json, answer.body)
        if answer.headers is answers.EMPTY:
            return Answer(answer.status, permit.empty, answer.body)
        return Answer(answer.status, [*answer.headers, *permit.more], answer.body)

    def preflight(self, method: str, headers: Headers) -> Answer | None:
        """Return the answer to a browser that asks for permission; None for all other requests."""
        if method != "OPTIONS" or all(name != _WANTED for name, _ in headers):
            return None
        permit = self._permit_of(headers)
        return None if permit is self._others else Answer(204, [*permit.more, *_PREFLIGHT], b"")

    def around(self, app: App) -> App:
        """Wrap an app: preflights are answered here, and answers say what their origin may do."""

        async def wrapped(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
            answer = self.preflight(scope["method"], scope["headers"])
            if answer is not None:
                await send_answer(send, answer)
                return
            more = self._permit_of(scope["headers"]).more

            async def allowed(message: Message) -> None:
                if message["type"] == "http.response.start":
                    message = {**message, "headers": [*message.get("headers", ()), *more]}
                await send(message)

            await app(scope, receive, allowed)

        return wrapped

    def _permit_of(self, headers: Headers) -> _Permit:
        origins = [value for name, value in headers if name == _ORIGIN]
        return self._listed.get(origins[0], self._others) if len(origins) == 1 else self._others


def cross_origin(app: App, cors: Callable[[], Cors | None]) -> App:
    """Let `cors` decide who may use what an app has under `/v1/rooms/`; None before start-up."""

    async def wrapped(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        rules = cors() if scope["type"] == "http" and scope["path"].startswith(PATH) else None
        await (app if rules is None else rules.around(app))(scope, receive, send)

    return wrapped


def _permission(origin: str, *, cookies: bool) -> Headers:
    credentials = [(b"access-control-allow-credentials", b"true")] if cookies else []
    return [(b"access-control-allow-origin", origin.encode()), *credentials, _EXPOSED]


def _permit(permission: Headers) -> _Permit:
    more = [*permission, _VARY]
    return _Permit(more, [*answers.JSON, *more], [*answers.EMPTY, *more])
