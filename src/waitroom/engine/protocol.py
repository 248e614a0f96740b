"""What scripts answer, turned into frozen dataclasses or errors. Nothing else reads raw replies."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from waitroom import errors
from waitroom.models import Advanced, Event, Listed, Mode, Page, Reason, Sample, State, Stats

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
)
GONE = {
    "passed": Reason.PASSED,
    "left": Reason.LEFT,
    "cleared": Reason.CLEARED,
    "unknown": Reason.PASSED,
    "no_show": Reason.NO_SHOW,
    "expired": Reason.EXPIRED,
    "finished": Reason.FINISHED,
}
"""Words for a ticket that is in no state any more."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A parsed reply: the word, and its fields by name."""

    word: str
    fields: dict[str, Any]

    def number(self, name: str) -> int:
        """Return a field that must be there."""
        return int(self.fields[name])

    def moment(self, name: str) -> int | None:
        """Return a time in ms; scripts say 0 for none."""
        return int(self.fields.get(name, 0)) or None


@dataclass(frozen=True, slots=True)
class Spot:
    """Where one ticket of a `join` or `poll` call is. `word` is a state, a reason or a refusal."""

    word: str
    place: int
    number: int
    sid: int
    new: bool


def parse(raw: Any) -> Reply:
    """Read a raw reply; raise for what no verb can go on with."""
    if not isinstance(raw, list) or raw[0] != PROTOCOL:
        raise errors.UpgradeNeeded(f"the server answered {raw!r:.60}, not a reply of this version")
    word = raw[1].decode()
    fields = {raw[i].decode(): raw[i + 1] for i in range(2, len(raw), 2)}
    if word == "broken_room":
        raise errors.BrokenRoom(WRONG_TYPE.format(f"the key `{fields['key'].decode()}`"))
    if word == "upgrade_needed":
        raise errors.UpgradeNeeded(
            f"the room has schema {fields['schema']}, newer than this Waitroom; upgrade it"
        )
    return Reply(word, fields)


def joined(reply: Reply) -> Iterator[Spot]:
    """Yield one spot per ticket of a `join`."""
    flat = reply.fields["tickets"]
    for i in range(0, len(flat), 5):
        word, place, number, sid, new = flat[i : i + 5]
        yield Spot(word.decode(), place, number, sid, new == 1)


def entered(reply: Reply) -> Iterator[tuple[str, int, int, bool]]:
    """Yield word, number, sid and whether it is new of each ticket of an `enter`."""
    flat = reply.fields["tickets"]
    for i in range(0, len(flat), 4):
        yield flat[i].decode(), flat[i + 1], flat[i + 2], flat[i + 3] == 1


def others(reply: Reply) -> Iterator[tuple[str, int, int]]:
    """Yield word, number and sid of each ticket of a `poll` that does not wait."""
    flat = reply.fields["others"]
    for i in range(0, len(flat), 3):
        yield flat[i].decode(), flat[i + 1], flat[i + 2]


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
    """Read the reply of `list`."""
    flat = reply.fields["tickets"]
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
    return Page(tuple(lines), reply.fields["after"].decode() or None)


def stats(reply: Reply, room: str) -> Stats:
    """Read the reply of `stats`."""
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
        counters={name: number(name) for name in COUNTERS},
        now_ms=number("now"),
    )


_SAMPLED = tuple(spec.name for spec in dataclasses.fields(Sample) if spec.name != "at_ms")


def sample(reply: Reply) -> Sample | None:
    """Read the reply of `sample`; None if it was not due."""
    if reply.word == "not_due":
        return None
    return Sample(reply.number("at"), **{name: reply.number(name) for name in _SAMPLED})


def sampled(entry: Mapping[bytes, bytes]) -> Sample:
    """Read an entry of the stream of samples."""
    numbers = {name: int(entry.get(name.encode(), 0)) for name in _SAMPLED}
    return Sample(int(entry[b"at"]), **numbers)


_REASONS = {str(reason): reason for reason in Reason}


def event(entry: Mapping[bytes, bytes]) -> Event:
    """Read an entry of the stream of events; a reason of a newer Waitroom is none to us."""
    return Event(
        kind=entry[b"kind"].decode(),
        at_us=int(entry[b"at"]),
        ids=tuple(entry[b"ids"].decode().split()),
        reason=_REASONS.get(entry.get(b"reason", b"").decode()),
    )


_REFUSALS: dict[str, Callable[[], errors.Refused]] = {
    "room_closed": lambda: errors.RoomClosed("the room is closed and takes nobody new"),
    "room_not_open": lambda: errors.RoomNotOpen("the room has not opened yet; come back then"),
    "room_full": lambda: errors.RoomFull("as many people wait as this room allows; try later"),
    "waiting": lambda: errors.NotYourTurn("it is not your turn yet"),
    "session_over": lambda: errors.SessionOver("the session has ended; join again"),
    "not_renewable": lambda: errors.NotRenewable("sessions of this room are not extended"),
    "defers_used_up": lambda: errors.DefersUsedUp("the place was given up as often as allowed"),
    "not_waiting": lambda: errors.NotWaiting("the ticket does not wait in this room"),
    "holding": lambda: errors.Holding(
        "admission holds until the line is complete again after a loss or an outage; "
        "wait for `recover_s`, or force it"
    ),
    "room_paused": lambda: errors.RoomPaused(
        "nobody is called while the room is paused, closed or not yet open; resume it, or force it"
    ),
    "no_capacity": lambda: errors.NoCapacity(
        "`capacity` or `max_entries` leaves no room now; raise it, wait, or force it"
    ),
}


def refusal(word: str) -> errors.WaitroomError:
    """Return the error for a word that says no."""
    if word in _REFUSALS:
        return _REFUSALS[word]()
    if word in GONE:
        return errors.TurnPassed(f"the ticket is gone ({GONE[word]}); join again for a new place")
    return errors.UpgradeNeeded(f"the server answered {word!r}, which this version does not know")
