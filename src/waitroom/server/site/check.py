"""`/v1/check`: is this pass good now? Cheap, because a site asks before every request.

A signature is checked once and remembered; the backend is asked each time whether
the session is still inside, many at once. While it is away only the signature and end are checked.
"""

from __future__ import annotations

from waitroom.errors import InvalidPass, Unavailable, UnknownRoom
from waitroom.passes import Pass
from waitroom.server.context import Server
from waitroom.server.http import problems
from waitroom.server.http.answers import Answer
from waitroom.server.http.request import VisitorRequest
from waitroom.server.tickets.limits import within
from waitroom.web.names import PASS_COOKIE

_GOOD = [(b"cache-control", b"no-store")]
GOOD = Answer(204, _GOOD, b"")


async def check(server: Server, request: VisitorRequest) -> Answer:
    """Answer 204 for a good pass, else 401; `request.room` is the room asked for, '' for any."""
    try:
        if not await _goes_on(server, read(server, request)):
            raise InvalidPass("the session is over; join again")
    except InvalidPass as error:
        return problems.answer(error)
    return GOOD


async def _goes_on(server: Server, pass_: Pass) -> bool:
    """Tell whether the session of a pass, whose signature and end are good, is inside now."""
    # A pass without a session was given while the backend was away, and holds for its minute.
    if not pass_.sid or server.backend_health.is_away(pass_.room):
        return True
    try:
        if await server.engine.check(pass_.room, pass_.ticket_id, pass_.sid):
            return True
        # After a loss nobody is inside until gates have vouched for them, in `recover_s`. Asked
        # of the backend: a board may be a second old.
        stats = await within(server, server.engine.stats(pass_.room))
    except UnknownRoom:
        return False
    except Unavailable:
        server.backend_health.suspect()
        # Only an outage is a reason to believe the signature alone: congestion must open nothing.
        if not server.backend_health.is_away(pass_.room):
            raise
        return True
    return stats.hold_until_ms is not None


def read(server: Server, request: VisitorRequest) -> Pass:
    """Return the pass that the caller shows, with its signature and end checked."""
    text = request.bearer or request.cookie(PASS_COOKIE + request.room) or ""
    pass_ = server.passes.read(text)
    if request.room and pass_.room != request.room:
        raise InvalidPass("is for another room")
    return pass_
