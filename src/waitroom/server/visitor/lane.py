"""The lane: visitor calls answered as plain ASGI, before the framework is asked.

It recognises just the calls of the table below and hands everything else on. What a call does is
in `service.py`; here is only how it comes in and goes out, with as little as possible in between.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, MutableMapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from waitroom.errors import BadRequest, WaitroomError
from waitroom.server.context import Server
from waitroom.server.http import bodies, problems
from waitroom.server.http.answers import Answer
from waitroom.server.http.bodies import App, Receive, Send
from waitroom.server.http.request import MOST_BODY, Call
from waitroom.server.site import check
from waitroom.server.visitor import events, service

log = logging.getLogger("waitroom.lane")


class Route(NamedTuple):
    """One call of the lane: what it does, and its name in the metrics."""

    act: service.Act
    name: str


_TICKETS = "/v1/rooms/{room}/tickets"
# By method, number of parts of the path, and its last word where it has one of its own.
ROUTES: dict[tuple[str, int, str], Route] = {
    ("GET", 6, ""): Route(service.status, f"GET {_TICKETS}/{{ticket}}"),
    ("POST", 5, ""): Route(service.join, f"POST {_TICKETS}"),
    ("POST", 7, "enter"): Route(service.enter, f"POST {_TICKETS}/{{ticket}}/enter"),
    ("POST", 7, "renew"): Route(service.renew, f"POST {_TICKETS}/{{ticket}}/renew"),
    ("POST", 7, "defer"): Route(service.defer, f"POST {_TICKETS}/{{ticket}}/defer"),
    ("POST", 7, "finish"): Route(service.finish, f"POST {_TICKETS}/{{ticket}}/finish"),
    ("DELETE", 6, ""): Route(service.leave, f"DELETE {_TICKETS}/{{ticket}}"),
    ("GET", 4, ""): Route(service.room, "GET /v1/rooms/{room}"),
}
EVENTS = f"GET {_TICKETS}/{{ticket}}/events"
CHECK = Route(check.check, "GET /v1/check")


class Lane:
    """An ASGI app in front of another one."""

    def __init__(self, app: App) -> None:
        self._app = app
        self.server: Server | None = None

    def __call__(
        self, scope: MutableMapping[str, Any], receive: Receive, send: Send
    ) -> Awaitable[None]:
        """Return the work that answers a request; not itself async, to save a coroutine each."""
        server = self.server
        if scope["type"] != "http" or server is None:
            return self._app(scope, receive, send)
        path: str = scope["path"]
        if not path.startswith("/v1/"):
            return self._app(scope, receive, send)
        parts = path.split("/")
        if parts[2] == "rooms" and 4 <= len(parts) <= 7:
            return self._visitor(server, parts, scope, receive, send)
        if path == "/v1/check" and scope["method"] == "GET":
            call = Call.of(scope, room_asked(scope), None)
            return _answer(server, CHECK, call, send)
        return self._app(scope, receive, send)

    def _visitor(
        self,
        server: Server,
        parts: list[str],
        scope: MutableMapping[str, Any],
        receive: Receive,
        send: Send,
    ) -> Awaitable[None]:
        count, method = len(parts), scope["method"]
        verb = parts[6] if count == 7 else ""
        route = ROUTES.get((method, count, verb))
        if (count > 4 and parts[4] != "tickets") or (route is None and verb != "events"):
            return self._app(scope, receive, send)
        if not parts[3] or (count > 5 and not parts[5]):  # no such path
            return self._app(scope, receive, send)
        call = Call.of(scope, parts[3], parts[5] if count > 5 else None)
        if route is None:
            if method != "GET":
                return self._app(scope, receive, send)
            return _stream(server, call, receive, send)
        if method == "POST" and bodies.expected(call.headers):
            return _with_body(server, route, call, receive, send)
        return _answer(server, route, call, send)


async def _answer(server: Server, route: Route, call: Call, send: Send) -> None:
    began = time.perf_counter()
    server.counters.lane_requests += 1
    try:
        answer = await route.act(server, call)
    except WaitroomError as error:
        answer = service.refused(server, call, route.act, error)
    except Exception:
        log.exception("a visitor's call failed: %s", route.name)
        answer = problems.answer(WaitroomError("an error of ours; it is in the log"))
    await _send(server, answer, send)
    server.counters.request(route.name, answer.status, time.perf_counter() - began)


async def _with_body(
    server: Server, route: Route, call: Call, receive: Receive, send: Send
) -> None:
    try:
        call.body = await bodies.read(receive, MOST_BODY)
    except BadRequest as error:
        await _send(server, problems.answer(error), send)
        return
    await _answer(server, route, call, send)


async def _stream(server: Server, call: Call, receive: Receive, send: Send) -> None:
    began = time.perf_counter()
    server.counters.lane_requests += 1
    status = await events.serve(server, call, receive, send)
    if status != 200:  # an open stream has no duration that says anything
        server.counters.request(EVENTS, status, time.perf_counter() - began)


async def _send(server: Server, answer: Answer, send: Send) -> None:
    headers = answer.headers
    if server.draining:  # so that a proxy does not keep a connection that is about to end
        headers = [*headers, (b"connection", b"close")]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


def room_asked(scope: MutableMapping[str, Any]) -> str:
    """Return the `room` of the query of a check; empty for any room."""
    for part in scope["query_string"].split(b"&"):
        name, _, value = part.partition(b"=")
        if name == b"room":
            return unquote(value.decode("latin-1"))
    return ""
