"""What a room and its tickets look like in JSON, with the estimate, the pace and the pass."""

from __future__ import annotations

import random
import time

from waitroom.estimate.methods import Wait
from waitroom.models import Mode, State, TicketView
from waitroom.server.context import Server
from waitroom.server.http.answers import (
    CalledBody,
    EtaBody,
    InsideBody,
    RoomBody,
    TicketBody,
    moment,
)
from waitroom.server.rooms.board import Board
from waitroom.server.visitor.poll_interval import poll_after_ms

AWAY_PASS_S = 60
"""A pass that is given while the backend is away holds so long; by then it may be back."""

PASS_S = 86_400
"""A pass of a session without an end holds so long, and is made anew by each status."""

_MOST_PASSES = 20_000


def ticket(server: Server, view: TicketView) -> TicketBody:
    """Return the body for a ticket that waits, is called or is inside."""
    board = server.boards.known.get(view.room)
    position, state = view.position, view.state
    wait = board.wait(position) if board is not None and position is not None else None
    silence_s = None
    if board is not None:
        board.wanted_at = time.monotonic()  # it is kept renewed as long as somebody polls
        silence_s = board.silence_s
    after_ms = poll_after_ms(
        position,
        state,
        wait,
        silence_s,
        server.boards.load,
        random.random(),  # noqa: S311 - spreads polls, hides nothing
    )
    if state is State.WAITING:
        return TicketBody(
            view.room, view.ticket, "waiting", position, view.waiting, eta(wait), after_ms
        )
    if state is State.CALLED:
        return CalledBody(
            view.room,
            view.ticket,
            "called",
            None,
            view.waiting,
            None,
            after_ms,
            moment(view.enter_by_ms),
        )
    return InsideBody(
        view.room,
        view.ticket,
        "inside",
        None,
        view.waiting,
        None,
        after_ms,
        moment(view.session_ends_at_ms),
        pass_of(server, view),
    )


def room(board: Board) -> RoomBody:
    """Return the public body of a room."""
    policy, stats = board.policy, board.stats
    opens_at = policy.opens_at_ms
    early = opens_at is not None and time.time() * 1000 < opens_at
    refuses = policy.mode is Mode.CLOSED or (early and policy.before_open == "refuse")
    full = policy.queue_limit is not None and stats.waiting >= policy.queue_limit
    return RoomBody(
        room=board.room,
        title=policy.title or board.room,
        mode=str(policy.mode),
        opens_at=moment(opens_at),
        before_open=str(policy.before_open),
        waiting=stats.waiting,
        eta_s=eta(board.wait(stats.waiting + 1)),
        holding=stats.hold_until_ms is not None,
        changed_at=moment(board.changed_at_ms),
        accepts=not (refuses or full),
        now=moment(int(time.time() * 1000)) or "",
    )


def eta(wait: Wait | None) -> EtaBody | None:
    """Return an estimate as JSON."""
    return None if wait is None else EtaBody(wait.low, wait.likely, wait.high)


def pass_of(server: Server, view: TicketView) -> str:
    """Return the pass of a session: the same one as long as the session ends at the same time."""
    key = (view.room, view.sid, view.session_ends_at_ms)
    found = server.made_passes.get(key)
    if found is None:
        now_s = time.time()
        ends_ms = view.session_ends_at_ms
        expires_s = now_s + PASS_S if ends_ms is None else ends_ms / 1000
        found = _sign(server, view.room, view.id, view.sid or 0, now_s, expires_s)
        if len(server.made_passes) >= _MOST_PASSES:
            server.made_passes.clear()
        server.made_passes[key] = found
    return found


def let_in_while_away(server: Server, room: str, held: str) -> InsideBody:
    """Return what a visitor of a room with `when_away = open` gets: a short pass of no session."""
    now_s = time.time()
    made = _sign(server, room, server.ring.new_id(), 0, now_s, now_s + AWAY_PASS_S)
    ends = moment(int((now_s + AWAY_PASS_S) * 1000))
    return InsideBody(room, held, "inside", None, 0, None, AWAY_PASS_S * 500, ends, made)


def _sign(
    server: Server, room: str, ticket_id: str, sid: int, now_s: float, expires_s: float
) -> str:
    issuer = server.settings.public_url or "waitroom"
    return server.passes.sign(room, ticket_id, sid, int(now_s), int(expires_s), issuer)
