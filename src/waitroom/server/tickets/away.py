"""Answers while the backend is away: a problem, or entry if the room's policy says so."""

from __future__ import annotations

import time

from waitroom.errors import InvalidTicket, Unavailable
from waitroom.models import BeforeOpen, Mode, Needs, WhenAway
from waitroom.server.context import Server
from waitroom.server.http import answers, problems
from waitroom.server.http.answers import Answer
from waitroom.server.http.request import VisitorRequest, cookie
from waitroom.server.rooms import ticket_json
from waitroom.server.rooms.passes import AWAY_PASS_S
from waitroom.server.rooms.schemas import Ticket
from waitroom.web.names import PASS_COOKIE

_LETS_IN = {Mode.OPEN, Mode.BYPASS}


def away_answer(
    server: Server, request: VisitorRequest, error: Unavailable, *, may_enter: bool
) -> Answer:
    """Answer as the room's policy says; `may_enter` if the request could let somebody in."""
    ticket = request.ticket
    try:
        if ticket or request.path_ticket is not None:
            server.ring.read(request.room, ticket)
    except InvalidTicket as invalid:  # this needs no backend
        if request.path_ticket is not None:
            return problems.answer(invalid)
        ticket = ""
    if not may_enter or not open_while_away(server, request.room, known=bool(ticket)):
        return problems.answer(error)
    body, pass_cookie = let_in(server, request, ticket)
    headers = [*answers.JSON, pass_cookie] if request.takes_cookies else answers.JSON
    return Answer(200, headers, answers.encode(body))


def let_in(
    server: Server, request: VisitorRequest, ticket: str
) -> tuple[Ticket, tuple[bytes, bytes]]:
    """Let a visitor in uncounted: return their ticket's body, and the cookie of a short pass."""
    server.counters.let_in_while_away()
    pass_ = server.passes.while_away(request.room, server.ring.new_id())
    body = ticket_json.let_in_while_away(request.room, ticket, pass_)
    secure = request.is_https(server.proxies)
    name = PASS_COOKIE + request.room
    return body, cookie(name, pass_, secure=secure, max_age_s=AWAY_PASS_S)


def open_while_away(server: Server, room: str, *, known: bool) -> bool:
    """Return whether a room lets everybody in while the backend is away.

    It does not if nobody would be let in anyway: closed, ended, paused, by hand, not open yet. A
    room that needs something of newcomers opens only to those who are `known` by their ticket.
    Congestion, ours or the backend's, never opens a room: only failed probes do.
    """
    if not server.backend_health.is_away(room):
        return False
    policy = server.engine.policy_of(room)
    if policy is None or policy.when_away is not WhenAway.OPEN:
        return False
    if policy.needs is not Needs.NOTHING and not known:
        return False
    now_ms = int(time.time() * 1000)
    early = policy.opens_at_ms is not None and now_ms < policy.opens_at_ms
    waits = early and policy.before_open is not BeforeOpen.PASS
    return policy.mode_at(now_ms) in _LETS_IN and not waits
