"""What each verb replies, turned into tuples, frozen dataclasses or errors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from waitroom import errors
from waitroom.engine.protocol.reply import Reply
from waitroom.models import (
    Advanced,
    CodeBatch,
    Listed,
    Mode,
    Page,
    Reinstated,
    State,
    Stats,
)

COUNTERS = (
    "joined",
    "restored",
    "called_total",
    "entered",
    "finished",
    "left",
    "kicked",
    "expired",
    "no_show",
    "abandoned",
    "deferred",
    "reinstated",
)
_INSIDE = ord("1")


class JoinedTicket(NamedTuple):
    """One ticket of a `join`. `word` is a state, a reason or a refusal."""

    word: str
    place: int
    number: int
    sid: int
    new: bool


class Joined(NamedTuple):
    """The answer of a `join`, or of an `adopt`, which also says the entry code of the place."""

    waiting: int
    restoring: bool
    epoch: int
    tickets: Sequence[JoinedTicket]
    code: str = ""


class EnteredTicket(NamedTuple):
    """One ticket of an `enter`. `word` is `inside`, or why it is not."""

    word: str
    number: int
    sid: int
    new: bool


class Elsewhere(NamedTuple):
    """One ticket of a `poll` that is not waiting. `word` says where it is."""

    word: str
    number: int
    sid: int


class Polled(NamedTuple):
    """The answer of a `poll`: a position per ticket, -1 for each ticket that is elsewhere."""

    waiting: int
    restoring: bool
    positions: Sequence[int]
    elsewhere: Iterator[Elsewhere]


class Deferred(NamedTuple):
    """The new place of a ticket after a `defer`."""

    place: int
    epoch: int
    generation: int
    position: int


class Admitted(NamedTuple):
    """How many people an `admit` called, and whether another call could call more."""

    called: int
    more: bool


def joined(reply: Reply) -> Joined:
    """Read the reply of `join` or `adopt`."""
    flat = reply.fields["tickets"]
    tickets = [
        JoinedTicket(flat[i].decode(), flat[i + 1], flat[i + 2], flat[i + 3], flat[i + 4] == 1)
        for i in range(0, len(flat), 5)
    ]
    restoring = reply.fields["restoring"] == 1
    code = reply.fields.get("code", b"").decode()
    return Joined(reply.number("waiting"), restoring, reply.number("epoch"), tickets, code)


def entered(reply: Reply) -> list[EnteredTicket]:
    """Read the reply of `enter`."""
    flat = reply.fields["tickets"]
    return [
        EnteredTicket(flat[i].decode(), flat[i + 1], flat[i + 2], flat[i + 3] == 1)
        for i in range(0, len(flat), 4)
    ]


def polled(reply: Reply) -> Polled:
    """Read the reply of `poll`."""
    fields = reply.fields
    elsewhere, restoring = _elsewhere(fields["others"]), fields["restoring"] == 1
    return Polled(fields["waiting"], restoring, fields["positions"], elsewhere)


def _elsewhere(flat: Sequence[Any]) -> Iterator[Elsewhere]:
    for i in range(0, len(flat), 3):
        yield Elsewhere(flat[i].decode(), flat[i + 1], flat[i + 2])


def checked(reply: Reply) -> list[bool]:
    """Return for each session of a `check` whether it is inside."""
    return [letter == _INSIDE for letter in reply.fields["inside"]]


def renewed(reply: Reply) -> EnteredTicket:
    """Read the reply of `renew`, or raise why the session was not extended."""
    number = reply.expect("inside").number
    return EnteredTicket("inside", number("ends"), number("sid"), reply.fields.get("new") == 1)


def deferred(reply: Reply) -> Deferred:
    """Read the reply of `defer`, or raise why the place is kept."""
    number = reply.expect("waiting").number
    return Deferred(number("place"), number("epoch"), number("defers"), number("position"))


def admitted(reply: Reply) -> Admitted:
    """Read the reply of `admit`, or raise why nobody may be called."""
    number = reply.expect("ok").number
    return Admitted(number("called"), number("more") == 1)


def called(reply: Reply) -> int | None:
    """Read the reply of `call`: until when the ticket may enter; or raise why it may not."""
    return reply.expect("called").moment("until")


def cleared(reply: Reply) -> int:
    """Read how many people a room held before its `clear`."""
    return reply.number("cleared")


def kicked(reply: Reply) -> int:
    """Read how many tickets a `kick` has removed."""
    return reply.number("kicked")


def reinstated(reply: Reply) -> Reinstated:
    """Read the reply of `reinstate`, or raise why no place was given back."""
    if reply.word == "already_here":
        raise errors.AlreadyHere(State(reply.fields["was"].decode()))
    number = reply.expect("waiting").number
    return Reinstated(number("place"), number("position"), number("waiting"))


def settled(reply: Reply) -> int:
    """Read how many tickets a `settle` has changed."""
    return reply.number("settled")


def issued(reply: Reply) -> CodeBatch | None:
    """Read the reply of `issue`; None if the room has a batch of that name."""
    if reply.word == "batch_taken":
        return None
    fields = reply.expect("ok").fields
    return code_batch(fields["batch"].decode(), fields["record"], None, 0)


def revoked_ms(reply: Reply) -> int:
    """Read when a batch of codes was revoked, or raise why it was not."""
    return reply.expect("ok").number("at")


def code_batch(batch: str, record: bytes | None, revoked: bytes | None, used: int) -> CodeBatch:
    """Read what a room notes of a batch of codes; a loss may have forgotten the record."""
    known = json.loads(record) if record else {}
    return CodeBatch(
        batch=batch,
        count=known.get("count", 0),
        uses=known.get("uses", 0),
        note=known.get("note", ""),
        by=known.get("by", ""),
        made_ms=int(known["made_ms"]) if "made_ms" in known else None,
        revoked_ms=int(revoked) if revoked else None,
        used=used,
    )


def advanced(reply: Reply) -> Advanced:
    """Read the reply of `advance`."""
    number = reply.number
    return Advanced(
        called=number("called"),
        expired=number("expired"),
        no_shows=number("no_shows"),
        abandoned=number("abandoned"),
        waiting=number("waiting"),
        more=number("more") == 1,
        due_ms=reply.moment("due"),
        now_ms=number("now"),
    )


def listed(reply: Reply, state: State) -> Page:
    """Read the reply of `list`, or raise why nobody is listed."""
    fields = reply.expect("ok").fields
    flat = fields["tickets"]
    lines = []
    for i in range(0, len(flat), 5):
        ticket_id, place, seen, until, sid = flat[i : i + 5]
        lines.append(
            Listed(
                id=ticket_id.decode(),
                state=state,
                place=place or None,
                seen_ms=seen or None,
                until_ms=until or None,
                sid=sid or None,
            )
        )
    return Page(tuple(lines), fields["after"].decode() or None, fields["ordered"] == 1)


def stats(reply: Reply, room: str, message_at_ms: int | None = None) -> Stats:
    """Read the reply of `stats`; the time when the message was set is known from the policy."""
    number = reply.number
    return Stats(
        room=room,
        mode=Mode(reply.fields["mode"].decode()),
        version=number("version"),
        epoch=number("epoch"),
        waiting=number("waiting"),
        called=number("called"),
        inside=number("inside"),
        entries_in_window=number("entries"),
        hold_until_ms=reply.moment("hold_until"),
        oldest_wait_ms=number("oldest"),
        may_return=number("may_return"),
        counters={name: number(name) for name in COUNTERS},
        now_ms=number("now"),
        message_at_ms=message_at_ms,
        hidden=number("hidden") == 1,
    )
