"""A visitor's request for live events: checked, opened, and served until either side ends it."""

from __future__ import annotations

from waitroom.errors import WaitroomError
from waitroom.server.context import Server
from waitroom.server.http import bodies, problems
from waitroom.server.http.bodies import Receive, Send
from waitroom.server.http.request import VisitorRequest
from waitroom.server.tickets.limits import within


async def serve(server: Server, request: VisitorRequest, receive: Receive, send: Send) -> int:
    """Answer a request for events until either side ends it; return the status."""
    try:
        server.backend_health.check(request.room)
        ticket = await within(server, server.engine.read_ticket(request.room, request.ticket))
        await within(server, server.boards.get(request.room))
        network = request.source(server.proxies).network
        stream = server.live_streams.open(request.room, ticket, network)
    except WaitroomError as error:
        answer = problems.answer(error)
        await bodies.send_answer(send, answer, last=server.draining)
        return answer.status
    try:
        await server.open_streams.feed(stream, receive, send)
    finally:
        server.live_streams.close(request.room, stream)
    return 200
