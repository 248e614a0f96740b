"""What visitors get: tickets, rooms and codes, made from the JSON of the server. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, TypeVar

from waitroom.estimate.methods import Wait
from waitroom.models import BeforeOpen, Mode, State

_View = TypeVar("_View")


@dataclass(frozen=True, slots=True)
class Place:
    """What a ticket is known by: its room and its text, which is a secret."""

    room: str
    ticket: str


@dataclass(frozen=True, slots=True)
class Ticket(Place):
    """A ticket as its holder sees it; `pass_` is there once inside, `short_code` after a join.

    While `restoring` the line is not complete after a loss, so that no position is told.
    `eta_reason` says why `eta_s` has moved lately (see `waitroom.estimate.reasons.Reason`).
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
    eta_reason: str | None = None


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


def made(kind: type[_View], body: Mapping[str, Any], **read: Any) -> _View:
    """Make a dataclass of a JSON object and of what was `read` out of it.

    Fields that a newer server adds are left out, and those that an older one lacks get their
    default.
    """
    names = {spec.name for spec in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in body.items() if name in names} | read)


def ticket(body: Mapping[str, Any]) -> Ticket:
    """Read a ticket."""
    return made(
        Ticket,
        body,
        state=State(body["state"]),
        eta_s=wait(body["eta_s"]),
        enter_by=moment(body.get("enter_by")),
        session_ends_at=moment(body.get("session_ends_at")),
        pass_=body.get("pass"),
    )


def room(body: Mapping[str, Any]) -> Room:
    """Read a room."""
    moments = ("message_at", "opens_at", "ends_at", "changed_at")
    return made(
        Room,
        body,
        mode=Mode(body["mode"]),
        before_open=BeforeOpen(body["before_open"]),
        eta_s=wait(body["eta_s"]),
        now=datetime.fromisoformat(body["now"]),
        **{name: moment(body[name]) for name in moments},
    )


def wait(body: Mapping[str, int] | None) -> Wait | None:
    """Read an estimate."""
    return None if body is None else Wait(body["low"], body["likely"], body["high"])


def moment(text: str | None) -> datetime | None:
    """Read a time."""
    return None if text is None else datetime.fromisoformat(text)
