"""The lane: visitors' requests answered as plain ASGI, before the framework is asked.

It recognises just the requests of the table below, and the check of a pass, and hands everything
else on. What they do is in `tickets`; this module only reads requests and writes answers, with as
little as possible in between.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, MutableMapping
from typing import Any, NamedTuple

from waitroom.errors import BadRequest, WaitroomError
from waitroom.server.context import Server
from waitroom.server.http import bodies, problems
from waitroom.server.http.answers import Answer
from waitroom.server.http.bodies import App, Receive, Send
from waitroom.server.http.request import MOST_BODY, VisitorRequest, room_in_query
from waitroom.server.tickets import actions
from waitroom.server.tickets.actions import Action
from waitroom.server.visitor import events

log = logging.getLogger("waitroom.lane")


class Route(NamedTuple):
    """One request that the lane knows: what it does, and its name in the metrics."""

    action: Action
    name: str


_TICKETS = "/v1/rooms/{room}/tickets"
# By method, number of parts of the path, and its last word where it has one of its own.
ROUTES: dict[tuple[str, int, str], Route] = {
    ("GET", 6, ""): Route(actions.status, f"GET {_TICKETS}/{{ticket}}"),
    ("POST", 5, ""): Route(actions.join, f"POST {_TICKETS}"),
    ("POST", 7, "enter"): Route(actions.enter, f"POST {_TICKETS}/{{ticket}}/enter"),
    ("POST", 7, "renew"): Route(actions.renew, f"POST {_TICKETS}/{{ticket}}/renew"),
    ("POST", 7, "defer"): Route(actions.defer, f"POST {_TICKETS}/{{ticket}}/defer"),
    ("POST", 7, "finish"): Route(actions.finish, f"POST {_TICKETS}/{{ticket}}/finish"),
    ("DELETE", 6, ""): Route(actions.leave, f"DELETE {_TICKETS}/{{ticket}}"),
    ("GET", 4, ""): Route(actions.room, "GET /v1/rooms/{room}"),
}
EVENTS = f"GET {_TICKETS}/{{ticket}}/events"
CHECK = "GET /v1/check"


class Lane:
    """An ASGI app in front of another one; `check` answers whether a pass is good."""

    def __init__(self, app: App, check: Action) -> None:
        self._app = app
        self._check = Route(check, CHECK)
        self.server: Server | None = None

    def __call__(
        self, scope: MutableMapping[str, Any], receive: Receive, send: Send
    ) -> Awaitable[None]:
        """Return the coroutine that answers a request; not async itself, to save another."""
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
            request = VisitorRequest.of(scope, room_in_query(scope), None)
            return _answer(server, self._check, request, send)
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
        request = VisitorRequest.of(scope, parts[3], parts[5] if count > 5 else None)
        if route is None:
            if method != "GET":
                return self._app(scope, receive, send)
            return _stream(server, request, receive, send)
        if method == "POST" and bodies.expected(request.headers):
            return _with_body(server, route, request, receive, send)
        return _answer(server, route, request, send)


async def _answer(server: Server, route: Route, request: VisitorRequest, send: Send) -> None:
    began = time.perf_counter()
    server.counters.lane_requests += 1
    try:
        answer = await route.action(server, request)
    except WaitroomError as error:
        answer = actions.refuse(server, request, route.action, error)
    except Exception:
        log.exception("a visitor's request failed: %s", route.name)
        answer = problems.answer(WaitroomError("an error of ours; it is in the log"))
    await _send(server, answer, send)
    server.counters.request(route.name, answer.status, time.perf_counter() - began)


async def _with_body(
    server: Server, route: Route, request: VisitorRequest, receive: Receive, send: Send
) -> None:
    try:
        request.body = await bodies.read(receive, MOST_BODY)
    except BadRequest as error:
        await _send(server, problems.answer(error), send)
        return
    await _answer(server, route, request, send)


async def _stream(server: Server, request: VisitorRequest, receive: Receive, send: Send) -> None:
    began = time.perf_counter()
    server.counters.lane_requests += 1
    status = await events.serve(server, request, receive, send)
    if status != 200:  # the duration of an open stream means nothing
        server.counters.request(EVENTS, status, time.perf_counter() - began)


async def _send(server: Server, answer: Answer, send: Send) -> None:
    headers = answer.headers
    if server.draining:  # so that a proxy does not keep a connection that will end soon
        headers = [*headers, (b"connection", b"close")]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})
