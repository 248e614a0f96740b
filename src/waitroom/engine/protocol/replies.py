"""The replies: a word with fields, turned into tuples, frozen dataclasses or errors."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from waitroom import errors
from waitroom.engine.protocol.refusals import refusal
from waitroom.models import (
    Advanced,
    Event,
    Listed,
    Mode,
    Page,
    Reason,
    Reinstated,
    Sample,
    State,
    Stats,
)

PROTOCOL = b"waitroom/1"
WRONG_TYPE = (
    "{} of this room holds another type than ours, so somebody else writes to it; delete that key, "
    "or give Waitroom a database of its own"
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


@dataclass(frozen=True, slots=True)
class Reply:
    """A parsed reply: the word, and its fields by name."""

    word: str
    fields: dict[str, Any]

    def number(self, name: str) -> int:
        """Return a required number."""
        return int(self.fields[name])

    def moment(self, name: str) -> int | None:
        """Return a time in ms; scripts say 0 for none."""
        return int(self.fields.get(name, 0)) or None

    def expect(self, word: str) -> Reply:
        """Return the reply itself if this is its word; else raise the error for its word."""
        if self.word != word:
            raise refusal(self.word)
        return self


class Head(NamedTuple):
    """The first fields of every reply of a room: its state of progress."""

    epoch: int
    rev: int
    watermark: int
    last: int
    version: int


class JoinedTicket(NamedTuple):
    """One ticket of a `join`. `word` is a state, a reason or a refusal."""

    word: str
    place: int
    number: int
    sid: int
    new: bool


class Joined(NamedTuple):
    """The answer of a `join`."""

    waiting: int
    restoring: bool
    epoch: int
    tickets: Sequence[JoinedTicket]


class EnteredTicket(NamedTuple):
    """One ticket of an `enter`. `word` is `inside`, or why it is not."""

    word: str
    number: int
    sid: int
    new: bool


class Elsewhere(NamedTuple):
    """One ticket of a `poll` that does not wait. `word` is where it is."""

    word: str
    number: int
    sid: int


class Polled(NamedTuple):
    """The answer of a `poll`: a position per ticket, -1 for each of those elsewhere."""

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
    """How many an `admit` has called, and whether a further call could call more."""

    called: int
    more: bool


def parse(raw: Any) -> Reply:
    """Read a raw reply; raise for errors that no verb can handle."""
    word = word_of(raw)
    fields = {raw[i].decode(): raw[i + 1] for i in range(2, len(raw), 2)}
    if word == "broken_room":
        raise errors.BrokenRoom(WRONG_TYPE.format(f"the key `{fields['key'].decode()}`"))
    if word == "upgrade_needed":
        raise errors.UpgradeNeeded(
            f"the room has schema {fields['schema']}, newer than this Waitroom; upgrade it"
        )
    return Reply(word, fields)


def word_of(raw: Any) -> str:
    """Read only the word of a raw reply, which is much quicker."""
    if not isinstance(raw, list) or raw[0] != PROTOCOL:
        raise errors.UpgradeNeeded(f"the server answered {raw!r:.60}, not a reply of this version")
    word: str = raw[1].decode()
    return word


def head(reply: Reply) -> Head | None:
    """Read the head; a reply that ends a call early has none."""
    fields = reply.fields
    if "epoch" not in fields:
        return None
    return Head(*(fields[name] for name in Head._fields))


def endings(reply: Reply) -> list[str]:
    """Read what is to be remembered of those whom a call took out."""
    return [ending.decode() for ending in reply.fields.get("endings", ())]


def epoch(reply: Reply) -> int:
    """Read the epoch of the room."""
    return reply.number("epoch")


def message_at_ms(reply: Reply) -> int | None:
    """Read when the message of the policy was set."""
    return reply.moment("message_at")


def version(reply: Reply) -> int:
    """Read the version of the policy."""
    return reply.number("version")


def joined(reply: Reply) -> Joined:
    """Read the reply of `join`."""
    flat = reply.fields["tickets"]
    tickets = [
        JoinedTicket(flat[i].decode(), flat[i + 1], flat[i + 2], flat[i + 3], flat[i + 4] == 1)
        for i in range(0, len(flat), 5)
    ]
    restoring = reply.fields["restoring"] == 1
    return Joined(reply.number("waiting"), restoring, reply.number("epoch"), tickets)


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
    """Tell of each session of a `check` whether it is inside."""
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
    """Read how many a room held before its `clear`."""
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
    """Read the reply of `stats`; when the message was set is known with the policy."""
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


_NUMBERS = tuple(
    spec.name
    for spec in dataclasses.fields(Sample)
    if spec.default is dataclasses.MISSING and spec.name != "at_ms"
)
_MODES = {str(mode).encode(): mode for mode in Mode}


def sample(reply: Reply) -> Sample | None:
    """Read the reply of `sample`; None if it was not due."""
    return None if reply.word == "not_due" else _sample(reply.fields)


def sampled(entry: Mapping[bytes, bytes]) -> Sample:
    """Read an entry of the stream of samples; older versions wrote fewer fields."""
    return _sample({name.decode(): value for name, value in entry.items()})


def _sample(fields: Mapping[str, Any]) -> Sample:
    waited_ms, told_s, capacity, per_minute, woke_at = (
        fields.get(name) or None
        for name in ("waited_ms", "told_s", "capacity", "per_minute", "woke_at")
    )
    return Sample(
        int(fields["at"]),
        **{name: int(fields.get(name, 0)) for name in _NUMBERS},
        waited_s=None if waited_ms is None else round(int(waited_ms) / 1000),
        told_s=None if told_s is None else int(told_s),
        mode=_MODES.get(fields.get("mode", b"")),
        capacity=None if capacity is None else int(capacity),
        per_minute=None if per_minute is None else float(per_minute),
        woke_ms=None if woke_at is None else int(woke_at),
    )


_REASONS = {str(reason): reason for reason in Reason}


def event(entry: Mapping[bytes, bytes]) -> Event:
    """Read an entry of the stream of events; an unknown reason of a newer Waitroom becomes None."""
    return Event(
        kind=entry[b"kind"].decode(),
        at_us=int(entry[b"at"]),
        ids=tuple(entry[b"ids"].decode().split()),
        reason=_REASONS.get(entry.get(b"reason", b"").decode()),
        places=tuple(map(int, entry.get(b"places", b"").split())),
        version=int(entry[b"version"]) if b"version" in entry else None,
    )
