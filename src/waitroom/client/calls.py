"""The calls of visitors and gates, each as steps that end with its result."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import quote

from waitroom import errors, work
from waitroom.client import views
from waitroom.client.steps import Solve, Steps, Target, call, new_id
from waitroom.client.views import Code, Place, Room, Ticket

_GONE = (errors.TurnPassed, errors.SessionOver)
_MOST_CHALLENGES = 3


def join(
    target: Target,
    /,
    room: str,
    *,
    visitor: str | None = None,
    enter: bool = False,
    code: str | None = None,
    idempotency_key: str | None = None,
) -> Steps[Ticket]:
    """Take a place; `enter` goes inside in the same call if there is room.

    `visitor` says who it is, so that one person has one place, and needs an API key. `code` is an
    entry code, for a room that needs one. Calls with the same `idempotency_key` (16 to 128
    characters) answer the same place. A proof of work that the room asks for is solved here, which
    may take seconds of a core.
    """
    wish: dict[str, object] = {"enter": enter, "visitor": visitor, "code": code}
    body = {name: value for name, value in wish.items() if value is not None}
    path, once = f"{_room(room)}/tickets", idempotency_key or new_id()
    for left in reversed(range(_MOST_CHALLENGES + 1)):
        try:
            answer = yield from call(target, "POST", path, bearer=target.key, body=body, once=once)
            break
        except errors.ChallengeRequired as error:
            # A solution may be refused, for one because our address has changed meanwhile.
            if not left or error.challenge.get("kind") != work.KIND:
                raise
            body["solution"] = yield Solve(error.challenge)
    return views.ticket(answer)


def status(target: Target, /, ticket: Place) -> Steps[Ticket]:
    """Return the state of a ticket, and tell the server that its holder is there.

    Raises if the ticket is gone.
    """
    return views.ticket((yield from call(target, "GET", _me(ticket), bearer=ticket.ticket)))


def enter(target: Target, /, ticket: Place) -> Steps[Ticket]:
    """Go inside; the reply has the pass. A repeated call returns the same session."""
    path = f"{_me(ticket)}/enter"
    return views.ticket((yield from call(target, "POST", path, bearer=ticket.ticket)))


def renew(target: Target, /, ticket: Place) -> Steps[Ticket]:
    """Extend the session, where the room's policy has `renewable`."""
    path = f"{_me(ticket)}/renew"
    return views.ticket((yield from call(target, "POST", path, bearer=ticket.ticket)))


def defer(target: Target, /, ticket: Place, places: int) -> Steps[Ticket]:
    """Let some people go first; the answer has a new ticket."""
    path, body = f"{_me(ticket)}/defer", {"places": places}
    steps = call(target, "POST", path, bearer=ticket.ticket, body=body, once=new_id())
    return views.ticket((yield from steps))


def finish(target: Target, /, ticket: Place) -> Steps[None]:
    """End the session; its place goes to the next one."""
    yield from call(target, "POST", f"{_me(ticket)}/finish", bearer=ticket.ticket, done=_GONE)


def leave(target: Target, /, ticket: Place) -> Steps[None]:
    """Give up the place, the turn or the session."""
    yield from call(target, "DELETE", _me(ticket), bearer=ticket.ticket, done=_GONE)


def handoff(target: Target, /, ticket: Place, browser: str | None = None) -> Steps[Code]:
    """Make a one-time code that takes the session to a site on another host.

    A gate takes it only from the browser whose mark, the `browser` in the address that the gate
    sent it to, is given here.
    """
    path, wish = f"{_me(ticket)}/handoff", {"browser": browser}
    answer = yield from call(target, "POST", path, bearer=ticket.ticket, body=wish)
    return Code(answer["code"], datetime.fromisoformat(answer["expires_at"]))


def room(target: Target, /, name: str) -> Steps[Room]:
    """Show a room."""
    return views.room((yield from call(target, "GET", _room(name))))


def check(target: Target, /, pass_: str, room: str | None = None) -> Steps[bool]:
    """Tell whether a pass is good now, for a room or for any."""
    try:
        yield from call(target, "GET", "/v1/check", bearer=pass_, query={"room": room})
    except errors.InvalidPass:
        return False
    return True


def _room(name: str) -> str:
    return f"/v1/rooms/{quote(name, safe='')}"


def _me(ticket: Place) -> str:
    """Return the path of a ticket; its text goes in a header, so that logs do not show it."""
    return f"{_room(ticket.room)}/tickets/me"
