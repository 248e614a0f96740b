"""Rooms and tickets as JSON, with the estimate, the poll interval and the pass.

Status answers, live streams and the waiting page show the same bodies.
"""

from __future__ import annotations

import random
import time

from msgspec import UNSET, UnsetType

from waitroom.errors import Refused, SessionOver, TurnPassed
from waitroom.estimate.methods import Wait
from waitroom.models import Mode, Policy, Reason, State, TicketView
from waitroom.server.http import problems
from waitroom.server.http.answers import Answer, moment
from waitroom.server.rooms.board import Board, Boards
from waitroom.server.rooms.passes import AWAY_PASS_S, Passes
from waitroom.server.rooms.poll_interval import poll_after_ms, restored_after_ms
from waitroom.server.rooms.schemas import Eta, RoomView, Ticket

STALE_MS = 3_000
"""The longest time until the next poll after an answer that only repeats the last one."""

_LIVE_TEXTS = (
    *("message", "ready", "go_to", "footer", "help_link"),
    *("ended_text", "ended_link"),
)
"""Texts of the policy that open pages update; `RoomView` declares them."""
_LONGEST_PICTURE = 2_000
"""Longest picture, in characters, sent to every open stream; a larger one comes with the page."""

_LOCAL_TEXTS = {"title", *_LIVE_TEXTS}
_OVER = {Reason.FINISHED, Reason.EXPIRED}


def ticket_body(boards: Boards, passes: Passes, view: TicketView) -> Ticket:
    """Return the body for a ticket that waits, is called or is inside."""
    board = boards.known.get(view.room)
    position, state = view.position, view.state
    wait = board.wait(position) if board is not None and position is not None else None
    silence_s = reason = None
    mark: int | UnsetType = UNSET
    if board is not None:
        mark = board.mark
        board.wanted_at = time.monotonic()  # keeps it renewed as long as somebody polls
        silence_s = board.silence_s
        reason = board.eta_reason if wait is not None else None
    after_ms = poll_after_ms(
        position,
        state,
        wait,
        silence_s,
        boards.load,
        random.random(),  # noqa: S311 - spreads polls, hides nothing
    )
    if state is State.WAITING:
        stale: bool | UnsetType = UNSET
        restoring: bool | UnsetType = UNSET
        if view.stale:  # it missed a heartbeat too, so the next must come soon
            stale, after_ms = True, min(after_ms, STALE_MS)
        if view.restoring:
            restoring, after_ms = True, _restored_after_ms(board, view.waiting, after_ms)
        return Ticket(
            view.room,
            view.ticket,
            "waiting",
            position,
            view.waiting,
            eta(wait),
            reason,
            after_ms,
            stale=stale,
            restoring=restoring,
            room_mark=mark,
        )
    if state is State.CALLED:
        enter_by = moment(view.enter_by_ms)
        return Ticket(
            view.room,
            view.ticket,
            "called",
            None,
            view.waiting,
            None,
            None,
            after_ms,
            enter_by=enter_by,
            room_mark=mark,
        )
    return _inside(
        view.room, view.ticket, view.waiting, after_ms, view.session_ends_at_ms, passes.of(view)
    )


def _restored_after_ms(board: Board | None, waiting: int, after_ms: int) -> int:
    if board is None or board.stats.hold_until_ms is None:  # not renewed since the loss
        return after_ms
    age_ms = int((time.monotonic() - board.fresh_at) * 1000)
    left_ms = board.stats.hold_until_ms - board.stats.now_ms - age_ms
    jitter = random.random()  # noqa: S311 - spreads polls, hides nothing
    return restored_after_ms(after_ms, left_ms, waiting, jitter)


def room_body(board: Board) -> RoomView:
    """Return the public body of a room."""
    policy, stats, picture = board.policy, board.stats, board.policy.ended_picture
    opens_at = policy.opens_at_ms
    early = opens_at is not None and time.time() * 1000 < opens_at
    shut = stats.mode in (Mode.CLOSED, Mode.ENDED)
    refuses = shut or (early and policy.before_open == "refuse")
    full = policy.queue_limit is not None and stats.waiting >= policy.queue_limit
    return RoomView(
        room=board.room,
        title=policy.title or board.room,
        **{name: getattr(policy, name) for name in _LIVE_TEXTS},
        message_at=moment(stats.message_at_ms),
        mode=str(stats.mode),
        opens_at=moment(opens_at),
        ends_at=moment(policy.ends_at_ms),
        before_open=str(policy.before_open),
        waiting=stats.waiting,
        eta_s=eta(board.wait(stats.waiting + 1)),
        holding=stats.hold_until_ms is not None,
        changed_at=moment(board.changed_at_ms),
        mark=board.mark,
        accepts=not (refuses or full),
        now=moment(int(time.time() * 1000)) or "",
        ended_picture=picture if len(picture or "") <= _LONGEST_PICTURE else None,
        texts=_texts(policy),
    )


def _texts(policy: Policy) -> dict[str, dict[str, str]] | UnsetType:
    """Return the texts that open pages update, in the languages that have their own."""
    texts = {
        lang: {name: text for name, text in local.items() if name in _LOCAL_TEXTS}
        for lang, local in (policy.texts or {}).items()
    }
    return {lang: local for lang, local in texts.items() if local} or UNSET


def eta(wait: Wait | None) -> Eta | None:
    """Return an estimate as JSON."""
    return None if wait is None else Eta(wait.low, wait.likely, wait.high)


def let_in_while_away(room: str, ticket: str, pass_: str) -> Ticket:
    """Return the body of a room with `when_away = open`: a short pass without a session."""
    ends_at_ms = int((time.time() + AWAY_PASS_S) * 1000)
    return _inside(room, ticket, 0, AWAY_PASS_S * 500, ends_at_ms, pass_)


def _inside(
    room: str, ticket: str, waiting: int, after_ms: int, ends_at_ms: int | None, pass_: str
) -> Ticket:
    ends_at = moment(ends_at_ms)
    return Ticket(
        room,
        ticket,
        "inside",
        None,
        waiting,
        None,
        None,
        after_ms,
        session_ends_at=ends_at,
        pass_=pass_,
    )


def gone_answer(view: TicketView) -> Answer:
    """Answer for a ticket that is gone."""
    return problems.answer(gone_error(view))


def gone_error(view: TicketView) -> Refused:
    """Return the message for a ticket that is gone."""
    reason = view.reason or Reason.PASSED
    if reason in _OVER:
        return SessionOver("the session has ended; join again", reason)
    return TurnPassed(f"the ticket is gone ({reason}); join again for a new place", reason)
