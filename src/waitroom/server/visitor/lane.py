"""The lane: visitors' requests answered at the connection, before ASGI or the framework is asked.

It recognises just the requests of the table below, and the check of a pass, and leaves everything
else to the app. What they do is in `tickets`; this module only reads requests and writes answers,
with as little as possible in between.
"""

from __future__ import annotations

import asyncio
import logging
import time
from functools import partial
from typing import NamedTuple

from waitroom.errors import Busy, WaitroomError
from waitroom.models import TicketView
from waitroom.server.context import Server
from waitroom.server.http import problems
from waitroom.server.http.answers import Answer
from waitroom.server.http.bodies import App, Receive, Send
from waitroom.server.http.bridge import HttpRequest
from waitroom.server.http.connection import Connection
from waitroom.server.http.request import MOST_BODY, VisitorRequest, room_in_query
from waitroom.server.http.under_way import Noted
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
_running: set[asyncio.Task[None]] = set()
"""Tasks under way: the loop itself holds them weakly."""


class Lane:
    """Takes the requests of visitors from a connection; `check` answers whether a pass is good."""

    def __init__(self, server: Server, check: Action) -> None:
        self._server = server
        self._check = Route(check, CHECK)

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
            self._begin(client, self._check, _visitor(client, request, room_in_query(query), None))
            return True
        if count < 4 or count > 7 or not parts[3] or (count > 4 and parts[4] != "tickets"):
            return False
        if count > 5 and not parts[5]:
            return False
        verb = parts[6] if count == 7 else ""
        visitor = _visitor(client, request, parts[3], parts[5] if count > 5 else None)
        route = ROUTES.get((method, count, verb))
        if route is not None:
            self._begin(client, route, visitor)
            return True
        if verb == "events" and method == "GET":
            client.run(self._stream(visitor))
            return True
        return False

    def _begin(self, client: Connection, route: Route, visitor: VisitorRequest) -> None:
        began = time.perf_counter()
        self._server.counters.lane_requests += 1
        try:
            # A site asks whether a pass is good, and may be told to let people in when it gets a
            # 503. Who shows no good pass costs no call, so that is never answered as busy.
            noted = self._server.under_way.begin(visitor, always=route is self._check)
        except Busy as busy:
            self._send(client, route, problems.answer(busy), began)
            return
        if route.action is actions.status:
            try:
                future = actions.poll_known(self._server, visitor)
            except Exception as error:  # it was counted, so it must be answered
                self._finish(client, route, self._refusal(route, visitor, error), began, noted)
                return
            if future is not None:
                future.add_done_callback(
                    partial(self._polled, client, route, visitor, began, noted)
                )
                return
        answering = self._answer(client, route, visitor, began, noted)
        task = asyncio.get_running_loop().create_task(answering)
        _running.add(task)
        task.add_done_callback(_running.discard)

    def _polled(
        self,
        client: Connection,
        route: Route,
        visitor: VisitorRequest,
        began: float,
        noted: Noted | None,
        future: asyncio.Future[TicketView],
    ) -> None:
        """Answer a poll: nearly every request, so it has no task of its own."""
        try:
            answer = actions.shown(self._server, visitor, future.result())
        except Exception as error:
            answer = self._refusal(route, visitor, error)
        self._finish(client, route, answer, began, noted)

    async def _answer(
        self,
        client: Connection,
        route: Route,
        visitor: VisitorRequest,
        began: float,
        noted: Noted | None,
    ) -> None:
        try:
            answer = await route.action(self._server, visitor)
        except Exception as error:
            answer = self._refusal(route, visitor, error)
        self._finish(client, route, answer, began, noted)

    def _refusal(self, route: Route, visitor: VisitorRequest, error: Exception) -> Answer:
        if isinstance(error, WaitroomError):
            return actions.refuse(self._server, visitor, route.action, error)
        log.error("a visitor's request failed: %s", route.name, exc_info=error)
        return problems.answer(WaitroomError("an error of ours; it is in the log"))

    def _finish(
        self,
        client: Connection,
        route: Route,
        answer: Answer,
        began: float,
        noted: Noted | None,
    ) -> None:
        self._server.under_way.end(noted)
        self._send(client, route, answer, began)

    def _send(self, client: Connection, route: Route, answer: Answer, began: float) -> None:
        client.answer(answer)
        self._server.counters.request(route.name, answer.status, time.perf_counter() - began)

    def _stream(self, visitor: VisitorRequest) -> App:
        async def stream(scope: object, receive: Receive, send: Send) -> None:
            del scope
            began = time.perf_counter()
            self._server.counters.lane_requests += 1
            status = await events.serve(self._server, visitor, receive, send)
            if status != 200:  # the duration of an open stream means nothing
                self._server.counters.request(EVENTS, status, time.perf_counter() - began)

        return stream


def _visitor(
    client: Connection, request: HttpRequest, room: str, ticket: str | None
) -> VisitorRequest:
    return VisitorRequest(room, ticket, request.headers, client.peer, client.scheme, request.body)
