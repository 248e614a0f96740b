"""`/v1/check`: is this pass valid now? Cheap, because a site asks before every request.

A signature is checked once and cached; the backend is asked each time whether the session is still
inside, for many at once. While it is away only the signature and end are checked.
"""

from __future__ import annotations

import time

from waitroom.engine import Waiter
from waitroom.errors import ClaimRefused, InvalidPass, Unavailable, UnknownRoom, WaitroomError
from waitroom.passes import Pass
from waitroom.server.context import Server
from waitroom.server.http import answers, problems
from waitroom.server.http.answers import Answer
from waitroom.server.http.request import VisitorRequest
from waitroom.server.tickets import actions
from waitroom.server.tickets.limits import within
from waitroom.server.tickets.quick import Quick, Shown, take
from waitroom.web.names import CLAIM_HEADER, PASS_COOKIE

GOOD = Answer(204, answers.EMPTY, b"")
_OVER = "the session is over; join again"


async def check(server: Server, request: VisitorRequest) -> Answer:
    """Answer 204 for a valid pass, else 401; `request.room` is the room asked for, '' for any."""
    try:
        return await take(server, request, CHECK, _without_backend)
    except WaitroomError as error:
        return refuse(server, request, error)


def _ask(server: Server, request: VisitorRequest, waiter: Waiter) -> bool:
    """Ask whether the session of a pass, whose signature and end are valid, is inside now."""
    pass_ = read(server, request)
    # A pass without a session was given while the backend was away, and is valid for its minute.
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
    """Answer after a loss, when nobody is inside until gates have vouched for them, in `recover_s`.

    Until then a pass is valid by its signature, unless its session is known to have ended.
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
        # Only an outage is a reason to trust the signature alone: congestion must open nothing.
        if isinstance(error, Unavailable) and server.backend_health.is_away(
            read(server, request).room
        ):
            return GOOD
    except InvalidPass as ended:  # since then
        error = ended
    return actions.refuse(server, request, check, error)


def read(server: Server, request: VisitorRequest) -> Pass:
    """Return the pass that the caller shows, with its signature and end checked."""
    # A proxy in front of a site asks with the headers of the site's own visitors, whose pages are
    # not ours to judge; and checking whether a pass is valid changes nothing.
    text = request.bearer or request.shown_cookie(PASS_COOKIE + request.room) or ""
    pass_ = server.passes.read(text)
    if request.room and pass_.room != request.room:
        raise InvalidPass("is for another room")
    _check_account(server, request, pass_)
    return pass_


def _check_account(server: Server, request: VisitorRequest, pass_: Pass) -> None:
    """Refuse the pass of another account than the site's claim names, if the caller shows one.

    A pass without a session was given to anybody, while the backend was away.
    """
    text = request.header(CLAIM_HEADER.encode())
    if not text or not pass_.sid:
        return
    try:
        claim = server.ring.read_claim(pass_.room, text, time.time())
    except ClaimRefused as error:
        raise InvalidPass(f"cannot be compared with who has signed in: {error}") from None
    if claim.id != pass_.ticket_id:
        raise InvalidPass("is for another account than the one that has signed in")
