"""The lane: visitors' requests answered at the connection, before ASGI or the framework is asked.

It knows only the requests of the table below, and the check of a pass, and leaves everything else
to the app. What they do is in `tickets`; this module only reads requests and writes answers, with
as little as possible in between.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from waitroom.errors import Busy, WaitroomError
from waitroom.server.context import Server
from waitroom.server.counters.worker import OTHER
from waitroom.server.http import problems, request_ids
from waitroom.server.http.answers import Answer
from waitroom.server.http.bodies import App, Message, Receive, Send
from waitroom.server.http.bridge import HttpRequest
from waitroom.server.http.connection import Connection
from waitroom.server.http.request import MOST_BODY, VisitorRequest, room_in_query
from waitroom.server.http.under_way import Noted
from waitroom.server.tickets import actions
from waitroom.server.tickets.actions import Action
from waitroom.server.tickets.quick import Quick
from waitroom.server.visitor import events

log = logging.getLogger("waitroom.lane")


Refuse = Callable[[Server, VisitorRequest, WaitroomError], Answer]


class Route(NamedTuple):
    """One request that the lane knows: what it does, and its name in the metrics.

    A quick one is not done in a task; `refuse` is for what goes wrong in its own way. `pages` says
    that scripts of pages call it, also those of listed origins.
    """

    action: Action
    name: str
    quick: Quick | None = None
    refuse: Refuse | None = None
    pages: bool = True


_TICKETS = "/v1/rooms/{room}/tickets"
# By method, number of path parts, and the last word if the route has its own.
ROUTES: dict[tuple[str, int, str], Route] = {
    ("GET", 6, ""): Route(actions.status, f"GET {_TICKETS}/{{ticket}}", actions.POLL),
    ("POST", 5, ""): Route(actions.join, f"POST {_TICKETS}", actions.JOIN),
    ("POST", 7, "enter"): Route(actions.enter, f"POST {_TICKETS}/{{ticket}}/enter"),
    ("POST", 7, "renew"): Route(actions.renew, f"POST {_TICKETS}/{{ticket}}/renew"),
    ("POST", 7, "defer"): Route(actions.defer, f"POST {_TICKETS}/{{ticket}}/defer"),
    ("POST", 7, "finish"): Route(actions.finish, f"POST {_TICKETS}/{{ticket}}/finish"),
    ("DELETE", 6, ""): Route(actions.leave, f"DELETE {_TICKETS}/{{ticket}}"),
    ("GET", 4, ""): Route(actions.room, "GET /v1/rooms/{room}"),
}
EVENTS = f"GET {_TICKETS}/{{ticket}}/events"
PREFLIGHT = f"OPTIONS {OTHER}"
_OURS = "internal error; details are in the log"
_running: set[asyncio.Task[None]] = set()
"""Running tasks: the loop itself holds only weak references."""


class Lane:
    """Takes visitors' requests from a connection; `check` is the route that checks a pass."""

    def __init__(self, server: Server, check: Route) -> None:
        self._server = server
        self._check = check

    def __call__(self, client: Connection, request: HttpRequest) -> bool:
        """Answer a request that the lane knows, now or later; return whether it does."""
        if not request.target.startswith(b"/v1/") or len(request.body) > MOST_BODY:
            return False  # the framework refuses what is too long
        path, _, query = request.path_and_query()
        parts = path.split("/")
        count, method = len(parts), request.method
        if parts[2] != "rooms":
            if path != "/v1/check" or method != "GET":
                return False
            call = LaneCall(self._server, self._check, client, request, room_in_query(query), None)
            # A site asks whether a pass is valid, and may be set to let people in on a 503. A
            # request without a valid pass costs no call, so it is never answered as busy.
            call.begin(always=True)
            return True
        if count < 4 or count > 7 or not parts[3] or (count > 4 and parts[4] != "tickets"):
            return False
        if count > 5 and not parts[5]:
            return False
        verb, ticket = parts[6] if count == 7 else "", parts[5] if count > 5 else None
        route = ROUTES.get((method, count, verb))
        if route is not None:
            LaneCall(self._server, route, client, request, parts[3], ticket).begin()
            return True
        if verb == "events" and method == "GET":
            visitor = VisitorRequest(
                self._server.origins,
                method,
                parts[3],
                ticket,
                request.headers,
                client.peer,
                client.scheme,
            )
            stream, cors = self._stream(visitor), self._server.cors
            stream = stream if cors is None else cors.around(stream)
            client.run(request_ids.identified(stream))
            return True
        return method == "OPTIONS" and self._allow(client, request)

    def _allow(self, client: Connection, request: HttpRequest) -> bool:
        """Answer a browser that asks whether a page elsewhere may call; return whether it does."""
        cors, counters = self._server.cors, self._server.counters
        answer = None if cors is None else cors.preflight(request.method, request.headers)
        if answer is None:
            return False
        began, access = time.perf_counter(), self._server.access_log
        counters.lane_requests += 1
        request_id = None if access is None else request_ids.of_headers(request.headers)
        client.answer(answer, request_id)
        seconds = time.perf_counter() - began
        counters.request(PREFLIGHT, answer.status, seconds)
        if access is not None:
            access.note(PREFLIGHT, answer.status, seconds, request_id=request_id)
        return True

    def _stream(self, visitor: VisitorRequest) -> App:
        async def stream(scope: Message, receive: Receive, send: Send) -> None:
            began = time.perf_counter()
            server = self._server
            server.counters.lane_requests += 1
            status = await events.serve(server, visitor, receive, send)
            seconds = time.perf_counter() - began
            if status != 200:  # the duration of an open stream means nothing
                server.counters.request(EVENTS, status, seconds)
            if server.access_log is not None:
                server.access_log.note(EVENTS, status, seconds, request_id=scope["request_id"])

        return stream


class LaneCall(VisitorRequest):
    """A request and its way to an answer: waits for the engine's reply, and sends it to the client.

    One object for all of it, because every poll makes one.
    """

    __slots__ = ("_began", "_client", "_done", "_noted", "_route", "_server", "_show")

    def __init__(
        self,
        server: Server,
        route: Route,
        client: Connection,
        request: HttpRequest,
        room: str,
        ticket: str | None,
    ) -> None:
        self.origins = server.origins
        self.method = request.method
        self.room = room
        self.path_ticket = ticket
        self.headers = request.headers
        self.peer = client.peer
        self.scheme = client.scheme
        self.body = request.body
        self._server = server
        self._route = route
        self._client = client
        self._began = time.perf_counter()
        self._noted: Noted | None = None
        self._done = False

    def begin(self, *, always: bool = False) -> None:
        """Do what is asked, unless too many others are under way."""
        server, route = self._server, self._route
        server.counters.lane_requests += 1
        try:
            self._noted = server.under_way.begin(self, always=always)
        except Busy as busy:
            self._send(problems.answer(busy))
            return
        try:
            if route.quick is not None:
                ask, self._show = route.quick
                if ask(server, self, self):
                    return
        except Exception as error:  # it was counted, so it must be answered
            self.set_exception(error)
            return
        self._run(route.action(server, self))

    def done(self) -> bool:
        """Return whether the engine's reply has come."""
        return self._done

    def set_result(self, result: Any, /) -> None:
        """Answer with the engine's reply."""
        self._done = True
        try:
            shown = self._show(self._server, self, result)
        except Exception as error:
            self.set_exception(error)
            return
        if isinstance(shown, Answer):
            self._finish(shown)
        else:
            self._run(shown)

    def set_exception(self, exception: Exception, /) -> None:
        """Answer why there is no reply."""
        self._done = True
        request_id = None
        try:
            answer = self._refusal(exception)
        except Exception as error:  # others wait for their answers behind this one
            request_id = request_ids.of_headers(self.headers)
            more = {"request_id": request_id}
            log.error(
                "a visitor's request failed: %s", self._route.name, exc_info=error, extra=more
            )
            answer = problems.answer(WaitroomError(_OURS))
        self._finish(answer, request_id)

    def _refusal(self, error: Exception) -> Answer:
        route = self._route
        if not isinstance(error, WaitroomError):
            raise error
        if route.refuse is not None:
            return route.refuse(self._server, self, error)
        return actions.refuse(self._server, self, route.action, error)

    def cancel(self) -> None:
        """Give up: the loop is being closed."""
        self._done = True
        self._client.abort()

    def _run(self, answering: Awaitable[Answer]) -> None:
        task = asyncio.get_running_loop().create_task(self._answer(answering))
        _running.add(task)
        task.add_done_callback(_running.discard)

    async def _answer(self, answering: Awaitable[Answer]) -> None:
        try:
            answer = await answering
        except Exception as error:
            self.set_exception(error)
        else:
            self._finish(answer)

    def _finish(self, answer: Answer, request_id: str | None = None) -> None:
        self._server.under_way.end(self._noted)
        self._send(answer, request_id)

    def _send(self, answer: Answer, request_id: str | None = None) -> None:
        cors, access = self._server.cors, self._server.access_log
        if cors is not None and self._route.pages:
            answer = cors.allow(self.headers, answer)
        if access is not None and request_id is None:
            request_id = request_ids.of_headers(self.headers)
        try:
            self._client.answer(answer, request_id)
        except Exception:  # others wait for their answers behind this one
            log.exception("an answer could not be sent: %s", self._route.name)
            self._client.abort()
        seconds = time.perf_counter() - self._began
        self._server.counters.request(self._route.name, answer.status, seconds)
        if access is not None:
            access.note(self._route.name, answer.status, seconds, request_id=request_id)
