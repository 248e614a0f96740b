"""Waitroom from Python, over HTTP: for services, scripts and tests.

    async with Client("http://localhost:8080") as client:
        ticket = await client.join("concert")
        async for view in client.follow(ticket):
            if view.state is State.CALLED:
                inside = await client.enter(view)
                break

A refusal is raised as the error of `waitroom.errors` that has its code. While the server is away,
requests are retried for up to `patience_s`; a retry never does anything twice.
"""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from waitroom import errors
from waitroom.estimate.methods import Wait
from waitroom.models import BeforeOpen, Mode, Reason, State

if TYPE_CHECKING:
    import httpx

_AWAY = {502, 503, 504}
_GONE = (errors.TurnPassed, errors.SessionOver)
_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 10.0


@dataclass(frozen=True, slots=True)
class Place:
    """What a ticket is known by: its room and its text, which is a secret."""

    room: str
    ticket: str


@dataclass(frozen=True, slots=True)
class Ticket(Place):
    """A ticket as its holder sees it; `pass_` is there once inside, `short_code` after a join.

    While `restoring` the line is not complete after a loss, so that no position is told.
    """

    state: State
    position: int | None
    waiting: int
    eta_s: Wait | None
    poll_after_ms: int
    enter_by: datetime | None = None
    session_ends_at: datetime | None = None
    pass_: str | None = None
    short_code: str | None = None
    restoring: bool = False


@dataclass(frozen=True, slots=True)
class Room:
    """A room as anybody may see it; `eta_s` is what a newcomer would wait."""

    room: str
    title: str
    message: str | None
    message_at: datetime | None
    ready: str | None
    go_to: str | None
    footer: str | None
    help_link: str | None
    mode: Mode
    opens_at: datetime | None
    ends_at: datetime | None
    before_open: BeforeOpen
    waiting: int
    eta_s: Wait | None
    holding: bool
    changed_at: datetime | None
    accepts: bool
    now: datetime
    ended_text: str | None
    ended_picture: str | None
    ended_link: str | None
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    """By language, those of these texts that it has of its own."""


@dataclass(frozen=True, slots=True)
class Code:
    """A one-time code that takes a session to another host."""

    code: str
    expires_at: datetime


class Client:
    """A Waitroom server. With an API `key`, visitors may be named in `join`."""

    def __init__(
        self,
        base: str,
        *,
        key: str | None = None,
        patience_s: float = 30.0,
        timeout_s: float = 10.0,
    ) -> None:
        self._base = base.rstrip("/")
        self._key = key
        self._patience_s = patience_s
        self._timeout_s = timeout_s
        self._http: httpx.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections; a later call opens them again."""
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    # Visitors -----------------------------------------------------------------------------------

    async def join(
        self,
        room: str,
        *,
        visitor: str | None = None,
        enter: bool = False,
        idempotency_key: str | None = None,
    ) -> Ticket:
        """Take a place; `enter` goes inside in the same call if there is room.

        `visitor` says who it is, so that one person has one place, and needs an API key. Calls with
        the same `idempotency_key` (16 to 128 characters) answer the same place.
        """
        body = {"enter": enter} if visitor is None else {"enter": enter, "visitor": visitor}
        return await self._view(
            "POST",
            f"{_room(room)}/tickets",
            bearer=self._key,
            body=body,
            once=idempotency_key or uuid.uuid4().hex,
        )

    async def status(self, ticket: Place) -> Ticket:
        """Return the state of a ticket, and tell the server that its holder is there.

        Raises if the ticket is gone.
        """
        return await self._view("GET", _me(ticket), bearer=ticket.ticket)

    async def follow(self, ticket: Place) -> AsyncIterator[Ticket]:
        """Yield the ticket's view, now and then at the poll interval that the server asks for.

        It goes on until the caller stops, and raises what `status` raises once the ticket is gone.
        """
        view = ticket if isinstance(ticket, Ticket) else await self.status(ticket)
        while True:
            yield view
            await asyncio.sleep(view.poll_after_ms / 1000)
            view = await self.status(view)

    async def enter(self, ticket: Place) -> Ticket:
        """Go inside; the reply has the pass. A repeated call returns the same session."""
        return await self._view("POST", f"{_me(ticket)}/enter", bearer=ticket.ticket)

    async def renew(self, ticket: Place) -> Ticket:
        """Extend the session, where the room's policy has `renewable`."""
        return await self._view("POST", f"{_me(ticket)}/renew", bearer=ticket.ticket)

    async def defer(self, ticket: Place, places: int) -> Ticket:
        """Let some people go first; the answer has a new ticket."""
        return await self._view(
            "POST",
            f"{_me(ticket)}/defer",
            bearer=ticket.ticket,
            body={"places": places},
            once=uuid.uuid4().hex,
        )

    async def finish(self, ticket: Place) -> None:
        """End the session; its place goes to the next one."""
        await self._end("POST", f"{_me(ticket)}/finish", ticket)

    async def leave(self, ticket: Place) -> None:
        """Give up the place, the turn or the session."""
        await self._end("DELETE", _me(ticket), ticket)

    async def handoff(self, ticket: Place, browser: str | None = None) -> Code:
        """Make a one-time code that takes the session to a site on another host.

        A gate takes it only from the browser whose mark, the `browser` in the address that the gate
        sent it to, is given here.
        """
        wish = {"browser": browser}
        body = await self._call("POST", f"{_me(ticket)}/handoff", bearer=ticket.ticket, body=wish)
        return Code(body["code"], datetime.fromisoformat(body["expires_at"]))

    async def room(self, name: str) -> Room:
        """Show a room."""
        body = await self._call("GET", _room(name))
        return Room(
            room=body["room"],
            title=body["title"],
            message=body["message"],
            message_at=_moment(body["message_at"]),
            ready=body["ready"],
            go_to=body["go_to"],
            footer=body["footer"],
            help_link=body["help_link"],
            mode=Mode(body["mode"]),
            opens_at=_moment(body["opens_at"]),
            ends_at=_moment(body["ends_at"]),
            before_open=BeforeOpen(body["before_open"]),
            waiting=body["waiting"],
            eta_s=_wait(body["eta_s"]),
            holding=body["holding"],
            changed_at=_moment(body["changed_at"]),
            accepts=body["accepts"],
            now=datetime.fromisoformat(body["now"]),
            ended_text=body["ended_text"],
            ended_picture=body["ended_picture"],
            ended_link=body["ended_link"],
            texts=body.get("texts", {}),
        )

    # Gates --------------------------------------------------------------------------------------

    async def check(self, pass_: str, room: str | None = None) -> bool:
        """Tell whether a pass is good now, for a room or for any."""
        path = "/v1/check" if room is None else f"/v1/check?room={quote(room, safe='')}"
        try:
            await self._call("GET", path, bearer=pass_)
        except errors.InvalidPass:
            return False
        return True

    # Inside -------------------------------------------------------------------------------------

    async def _view(self, method: str, path: str, **given: Any) -> Ticket:
        return _ticket(await self._call(method, path, **given))

    async def _end(self, method: str, path: str, ticket: Place) -> None:
        await self._call(method, path, bearer=ticket.ticket, ends=True)

    async def _call(
        self,
        method: str,
        path: str,
        *,
        bearer: str | None = None,
        body: Mapping[str, object] | None = None,
        once: str | None = None,
        ends: bool = False,
    ) -> dict[str, Any]:
        """Send a request until it is answered; return the body.

        `once` is the idempotency key. A call that `ends` a ticket needs none: if the ticket is gone
        at the second try, the first try ended it and only the reply was lost.
        """
        headers = {} if bearer is None else {"authorization": f"Bearer {bearer}"}
        if once is not None:
            headers["idempotency-key"] = once
        until, pause_s = time.monotonic() + self._patience_s, _PAUSE_S
        while True:
            answer = await self._send(method, path, headers, body)
            if not isinstance(answer, _No):
                return answer
            if ends and pause_s > _PAUSE_S and isinstance(answer.error, _GONE):
                return {}
            wait_s = answer.retry_s
            if wait_s is None or time.monotonic() + max(wait_s, pause_s) > until:
                raise answer.error
            await asyncio.sleep(max(wait_s, pause_s * (0.5 + random.random())))  # noqa: S311
            pause_s = min(_LONGEST_PAUSE_S, pause_s * 2)

    async def _send(
        self, method: str, path: str, headers: Mapping[str, str], body: Mapping[str, object] | None
    ) -> dict[str, Any] | _No:
        import httpx

        if self._http is None:
            self._http = httpx.AsyncClient(timeout=self._timeout_s)
        try:
            answer = await self._http.request(method, self._base + path, headers=headers, json=body)
            if not answer.is_success:
                return _refusal(answer)
            document: dict[str, Any] = {} if answer.status_code == 204 else answer.json()
        except (httpx.TransportError, ValueError) as error:
            why = f"{self._base} does not answer as Waitroom does: {error!r:.200}"
            return _No(errors.BackendUnavailable(why), 0.0)
        return document


def reason_of(error: errors.WaitroomError) -> Reason | None:
    """Return why a ticket is gone, from the error that says so."""
    reason = getattr(error, "problem", {}).get("reason")
    return Reason(reason) if reason in set(Reason) else None


@dataclass(frozen=True, slots=True)
class _No:
    """A failed request: its error, and whether and when to retry."""

    error: errors.WaitroomError
    retry_s: float | None


def _refusal(answer: httpx.Response) -> _No:
    try:
        problem = answer.json()
    except ValueError:
        problem = None
    if not isinstance(problem, dict) or "code" not in problem:  # a proxy's own error page
        problem = {"detail": f"the answer was {answer.status_code} without a problem document"}
        if answer.status_code in _AWAY:
            problem["code"] = errors.BackendUnavailable.code
    after = answer.headers.get("retry-after", "")
    after_s = float(after) if after.isdecimal() else 0.0
    error = _error(problem, after_s)
    again = answer.status_code in _AWAY or isinstance(error, errors.TooMany)
    return _No(error, after_s if again else None)


def _error(problem: dict[str, Any], after_s: float) -> errors.WaitroomError:
    """Make the error of a code; its message is complete, so the constructor is skipped."""
    kind = _kinds().get(str(problem.get("code")), errors.WaitroomError)
    error = kind.__new__(kind)
    error.args = (str(problem.get("detail", "")),)
    known = {name: problem.get(name) for name in ("field", "reason")}
    known |= {"problem": problem, "retry_after_s": int(after_s)}
    if retry_at := _moment(problem.get("retry_at")):
        known["retry_at_ms"] = int(retry_at.timestamp() * 1000)
    vars(error).update({name: value for name, value in known.items() if value is not None})
    return error


@cache
def _kinds() -> dict[str, type[errors.WaitroomError]]:
    """Return the errors by their codes."""
    kinds: dict[str, type[errors.WaitroomError]] = {}
    todo: list[type[errors.WaitroomError]] = [errors.WaitroomError]
    while todo:
        kind = todo.pop()
        kinds[kind.code] = kind
        todo += kind.__subclasses__()
    return kinds


def _ticket(body: Mapping[str, Any]) -> Ticket:
    return Ticket(
        room=body["room"],
        ticket=body["ticket"],
        state=State(body["state"]),
        position=body["position"],
        waiting=body["waiting"],
        eta_s=_wait(body["eta_s"]),
        poll_after_ms=body["poll_after_ms"],
        enter_by=_moment(body.get("enter_by")),
        session_ends_at=_moment(body.get("session_ends_at")),
        pass_=body.get("pass"),
        short_code=body.get("short_code"),
        restoring=body.get("restoring", False),
    )


def _wait(body: Mapping[str, int] | None) -> Wait | None:
    return None if body is None else Wait(body["low"], body["likely"], body["high"])


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _room(name: str) -> str:
    return f"/v1/rooms/{quote(name, safe='')}"


def _me(ticket: Place) -> str:
    """Return the path of a ticket; its text goes in a header, so that logs do not show it."""
    return f"{_room(ticket.room)}/tickets/me"
