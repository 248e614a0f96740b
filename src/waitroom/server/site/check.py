"""`/v1/check`: is this pass good now? Cheap, because a site asks before every request.

A signature is checked once and remembered; the backend is asked each time whether
the session is still inside, many at once. While it is away only the signature and end are checked.
"""

from __future__ import annotations

from waitroom.engine import Waiter
from waitroom.errors import InvalidPass, Unavailable, UnknownRoom, WaitroomError
from waitroom.passes import Pass
from waitroom.server.context import Server
from waitroom.server.http import answers, problems
from waitroom.server.http.answers import Answer
from waitroom.server.http.request import VisitorRequest
from waitroom.server.tickets import actions
from waitroom.server.tickets.limits import within
from waitroom.server.tickets.quick import Quick, Shown, take
from waitroom.web.names import PASS_COOKIE

GOOD = Answer(204, answers.EMPTY, b"")
_OVER = "the session is over; join again"


async def check(server: Server, request: VisitorRequest) -> Answer:
    """Answer 204 for a good pass, else 401; `request.room` is the room asked for, '' for any."""
    try:
        return await take(server, request, CHECK, _without_backend)
    except WaitroomError as error:
        return refuse(server, request, error)


def _ask(server: Server, request: VisitorRequest, waiter: Waiter) -> bool:
    """Ask whether the session of a pass, whose signature and end are good, is inside now."""
    pass_ = read(server, request)
    # A pass without a session was given while the backend was away, and holds for its minute.
    if not pass_.sid or server.backend_health.is_away(pass_.room):
        return False
    server.engine.check_for(waiter, pass_.room, (pass_.ticket_id, pass_.sid))
    return True


async def _without_backend(server: Server, request: VisitorRequest) -> bool:
    del server, request
    return True


def _show(server: Server, request: VisitorRequest, inside: bool) -> Shown:
    return GOOD if inside else _good_while_held(server, request)


async def _good_while_held(server: Server, request: VisitorRequest) -> Answer:
    """After a loss nobody is inside until gates have vouched for them, in `recover_s`.

    Until then a pass is good by its signature, unless its session is known to have ended.
    """
    pass_ = read(server, request)
    stats = await within(server, server.engine.stats(pass_.room))  # a board may be a second old
    ended = stats.hold_until_ms is None or await within(
        server, server.engine.has_ended(pass_.room, pass_.ticket_id, pass_.sid)
    )
    if ended:
        raise InvalidPass(_OVER)
    return GOOD


CHECK = Quick(_ask, _show)


def refuse(server: Server, request: VisitorRequest, error: WaitroomError) -> Answer:
    """Return the answer to an error."""
    if isinstance(error, UnknownRoom):
        return problems.answer(InvalidPass(_OVER))
    try:
        # Only an outage is a reason to believe the signature alone: congestion must open nothing.
        if isinstance(error, Unavailable) and server.backend_health.is_away(
            read(server, request).room
        ):
            return GOOD
    except InvalidPass as ended:  # meanwhile
        error = ended
    return actions.refuse(server, request, check, error)


def read(server: Server, request: VisitorRequest) -> Pass:
    """Return the pass that the caller shows, with its signature and end checked."""
    # A proxy in front of a site asks with the headers of the site's own visitors, whose pages are
    # not ours to judge; and telling whether a pass is good changes nothing.
    text = request.bearer or request.shown_cookie(PASS_COOKIE + request.room) or ""
    pass_ = server.passes.read(text)
    if request.room and pass_.room != request.room:
        raise InvalidPass("is for another room")
    return pass_
