"""What the calls of visitors do. The lane and the framework's routes both end here.

Each function takes the server and a `Call` and returns an `Answer`; what it raises, `respond` turns
into a problem, or, while the backend is away, into what the room's policy wants.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import msgspec

from waitroom import errors
from waitroom.engine.api_keys import Role
from waitroom.models import BeforeOpen, Mode, State, TicketView, WhenAway
from waitroom.server.context import Server
from waitroom.server.http import answers, auth, problems
from waitroom.server.http.answers import Answer
from waitroom.server.http.request import Call, cookie
from waitroom.server.rooms import ticket_json
from waitroom.server.rooms.passes import AWAY_PASS_S
from waitroom.server.rooms.ticket_json import gone_answer, ticket_body
from waitroom.web.names import PASS_COOKIE, TICKET_COOKIE

Act = Callable[[Server, Call], Awaitable[Answer]]
Found = TypeVar("Found")
ANSWER_SHARE = 0.28 / 0.3
"""Share of `answer_within_s` that the backend gets in all; the rest is for the answer itself."""

_LONGEST_HELD = 256
LONGEST_VISITOR = 1_000
_SHORTEST_KEY, _LONGEST_KEY = 16, 128
_DESK = "desk."


class JoinWish(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a join."""

    visitor: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_VISITOR)] | None = None
    enter: bool = False


class DeferWish(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a defer."""

    places: float  # a whole one, but `3.0` is whole in JSON


async def respond(server: Server, act: Act, call: Call) -> Answer:
    """Do what was called for; whatever goes wrong on purpose becomes a problem."""
    try:
        return await act(server, call)
    except errors.WaitroomError as error:
        return refused(server, call, act, error)


def refused(server: Server, call: Call, act: Act, error: errors.WaitroomError) -> Answer:
    """Answer for what went wrong."""
    if isinstance(error, errors.BackendUnavailable):
        server.backend_health.suspect()
        return _away(server, call, act, error)
    return problems.answer(error)


async def status(server: Server, call: Call) -> Answer:
    """Tell where a ticket is."""
    view = await (_polled(server, call) or poll(server, call))
    if view.state is State.GONE:
        return gone_answer(view)
    if call.ticket != "me":
        return Answer(
            200, answers.JSON, answers.encode(ticket_body(server.boards, server.passes, view))
        )
    return _told(server, call, view, 200)


def _polled(server: Server, call: Call) -> Awaitable[TicketView] | None:
    """Ask for a ticket of a room that is known here, which is nearly every call there is."""
    known = call.room in server.boards.known and server.engine.policy_of(call.room) is not None
    if not known or server.backend_health.away:
        return None
    return server.engine.poll(call.room, call.held)


async def poll(server: Server, call: Call) -> TicketView:
    """Return the view of the caller's ticket, and note that its holder is there."""
    server.backend_health.check()
    held = await within(server, server.engine.read_ticket(call.room, call.held))
    await within(server, server.boards.get(call.room))
    return await server.engine.poll(call.room, held)


async def join(server: Server, call: Call) -> Answer:
    """Take a place, or keep the one that the caller has."""
    view = await joined(server, call, call.json(JoinWish))
    board = server.boards.known.get(call.room)
    if view.state is State.WAITING and board is not None and not board.stats.waiting:
        # The board is from before the rush, and would promise the first in line no wait at all.
        with contextlib.suppress(errors.WaitroomError):  # the place is taken, whatever it says
            await within(server, server.boards.renew(call.room))
    return _told(server, call, view, 201 if view.new else 200)


async def joined(server: Server, call: Call, wish: JoinWish) -> TicketView:
    """Return the view of the caller's place, old or new."""
    check_not_desk(call.room)
    visitor = await _visitor(server, call, wish)
    server.backend_health.check()
    if call.room not in server.boards.known:
        await within(server, server.boards.get(call.room))
    old = None if visitor is not None else call.cookie(TICKET_COOKIE + call.room)
    if old is not None:
        try:
            view = await server.engine.join(call.room, old, enter=wish.enter)
        except errors.InvalidTicket:
            pass  # a cookie of an earlier secret or a lost bet: its holder is new
        else:
            if view.state is not State.GONE:
                return view
    return await server.engine.join(call.room, visitor=visitor, enter=wish.enter)


async def _visitor(server: Server, call: Call, wish: JoinWish) -> str | None:
    """Return who joins, if they are known; a stranger is counted by their address."""
    if wish.visitor is not None:
        server.backend_health.check()
        if not call.bearer:
            raise errors.Unauthorized("`visitor` may be given only with an API key")
        address = server.proxies.visitor(call.peer, call.headers)
        who = await within(server, auth.who_is(server, call.bearer, address))
        who.need(Role.OPERATOR)
        return f"visitor:{wish.visitor}"
    wait_s = server.joins.take(server.proxies.visitor(call.peer, call.headers))
    if wait_s > 0:
        server.counters.limited("joins")
        raise errors.TooMany("too many people join from this address; try again", math.ceil(wait_s))
    text = _key(call)
    return None if text is None else f"key:{text}"


def _key(call: Call) -> str | None:
    """Return the Idempotency-Key, if there is a good one."""
    text = call.header(b"idempotency-key")
    if text is None:
        return None
    good = text.isascii() and text.isprintable() and _SHORTEST_KEY <= len(text) <= _LONGEST_KEY
    if not good:
        # Whoever guesses the key of another gets their place, so a short one is refused.
        raise errors.InvalidInput(
            "Idempotency-Key",
            f"takes {_SHORTEST_KEY} to {_LONGEST_KEY} printable characters; use a random UUID",
        )
    return text


async def enter(server: Server, call: Call) -> Answer:
    """Go inside; the answer carries the pass."""
    server.backend_health.check()
    return _told(server, call, await within(server, server.engine.enter(call.room, call.held)), 200)


async def renew(server: Server, call: Call) -> Answer:
    """Extend the session."""
    server.backend_health.check()
    return _told(server, call, await within(server, server.engine.renew(call.room, call.held)), 200)


async def defer(server: Server, call: Call) -> Answer:
    """Let some people go first."""
    server.backend_health.check()
    places = call.json(DeferWish).places
    if not places.is_integer():
        raise errors.InvalidInput("places", "must be a whole number")
    view = await within(
        server, server.engine.defer(call.room, call.held, int(places), op_id=_op_id(server, call))
    )
    return _told(server, call, view, 200)


async def finish(server: Server, call: Call) -> Answer:
    """End the session; its place goes to the next one."""
    server.backend_health.check()
    await within(server, server.engine.finish(call.room, call.held))
    return _forgotten(server, call)


async def leave(server: Server, call: Call) -> Answer:
    """Give up the place, the turn or the session."""
    server.backend_health.check()
    await within(server, server.engine.leave(call.room, call.held))
    return _forgotten(server, call)


async def room(server: Server, call: Call) -> Answer:
    """Show a room to anybody."""
    check_not_desk(call.room)
    board = server.boards.known.get(call.room)
    if board is None:
        server.backend_health.check()
        board = await within(server, server.boards.get(call.room))
    server.boards.want(call.room)
    return Answer(200, answers.JSON, answers.encode(ticket_json.room_body(board)))


def check_not_desk(room: str) -> None:
    """Refuse the line of a store: only the desk puts people there, so to visitors it is no room."""
    if room.startswith(_DESK):
        raise errors.UnknownRoom(room)


async def within(server: Server, work: Awaitable[Found]) -> Found:
    """Wait for the backend no longer than an answer may take."""
    try:
        async with asyncio.timeout(ANSWER_SHARE * server.settings.answer_within_s):
            return await work
    except TimeoutError:
        raise errors.BackendUnavailable("the backend did not answer in time; try again") from None


def secure(server: Server, call: Call) -> bool:
    """Tell whether the visitor's browser speaks https to us, maybe through a proxy."""
    return server.proxies.is_https(call.peer, call.scheme, call.headers)


def cookies(server: Server, call: Call, view: TicketView) -> answers.Headers:
    """Return the cookies that a browser gets with a view: its ticket, and inside its pass."""
    policy = server.boards.known[view.room].policy if view.room in server.boards.known else None
    safe = secure(server, call)
    life_s = policy.ticket_ttl_s if policy else None
    found = [cookie(TICKET_COOKIE + view.room, view.ticket, secure=safe, max_age_s=life_s)]
    if view.state is State.INSIDE:
        made, ends = server.passes.of(view), view.session_ends_at_ms
        left_s = None if ends is None else max(1.0, ends / 1000 - time.time())
        found.append(cookie(PASS_COOKIE + view.room, made, secure=safe, max_age_s=left_s))
    return found


def _told(server: Server, call: Call, view: TicketView, status: int) -> Answer:
    if view.state is State.GONE:
        return gone_answer(view)
    body = answers.encode(ticket_body(server.boards, server.passes, view))
    if not call.is_browser:
        return Answer(status, answers.JSON, body)
    known = call.cookie(TICKET_COOKIE + call.room) == view.ticket
    if known and view.state is not State.INSIDE:
        return Answer(status, answers.JSON, body)
    return Answer(status, [*answers.JSON, *cookies(server, call, view)], body)


def _forgotten(server: Server, call: Call) -> Answer:
    if not call.is_browser:
        return Answer(204, [(b"cache-control", b"no-store")], b"")
    safe = secure(server, call)
    names = (TICKET_COOKIE + call.room, PASS_COOKIE + call.room)
    gone = [cookie(name, "", secure=safe, max_age_s=0) for name in names]
    return Answer(204, [(b"cache-control", b"no-store"), *gone], b"")


def _op_id(server: Server, call: Call) -> str | None:
    """Return the caller's Idempotency-Key as an id of its own kind; two callers never share one."""
    text = _key(call)
    if text is None:
        return None
    return server.ring.visitor_id(call.room, f"op:{call.held[:_LONGEST_HELD]}:{text}")


_LETS_IN = {join, status, enter}
_LETS_IN_MODES = {Mode.OPEN, Mode.BYPASS}


def _away(server: Server, call: Call, act: Act, error: errors.BackendUnavailable) -> Answer:
    """Answer while the backend is away, as the room's policy wants it."""
    held = call.held
    try:
        if held or call.ticket is not None:
            server.ring.read(call.room, held)
    except errors.InvalidTicket as invalid:  # for that the backend need not be asked
        if call.ticket is not None:
            return problems.answer(invalid)
        held = ""
    if act not in _LETS_IN or not open_while_away(server, call.room):
        return problems.answer(error)
    server.counters.let_in_while_away()
    body = ticket_json.let_in_while_away(server.passes, call.room, held, server.ring.new_id())
    if not call.is_browser or body.pass_ is None:
        return Answer(200, answers.JSON, answers.encode(body))
    made = cookie(
        PASS_COOKIE + call.room,
        body.pass_,
        secure=secure(server, call),
        max_age_s=AWAY_PASS_S,
    )
    return Answer(200, [*answers.JSON, made], answers.encode(body))


def open_while_away(server: Server, room: str) -> bool:
    """Tell whether a room lets everybody in while the backend is away.

    It does not where nobody would be let in anyway: closed, paused, by hand, or not open yet.
    """
    policy = server.engine.policy_of(room)
    if policy is None or policy.when_away is not WhenAway.OPEN:
        return False
    early = policy.opens_at_ms is not None and time.time() * 1000 < policy.opens_at_ms
    waits = early and policy.before_open is not BeforeOpen.PASS
    return policy.mode in _LETS_IN_MODES and not waits
