"""What a room's events say about one ticket, for operators and for `reinstate`."""

from __future__ import annotations

from dataclasses import dataclass

from waitroom.engine.protocol import streams
from waitroom.engine.runner import Runner
from waitroom.models import Event, Reason

_PER_READ = 200  # of at most 500 ids each: less than 2 MB, and no command takes long
_TURN = frozenset({Reason.NO_SHOW, Reason.EXPIRED, Reason.FINISHED})


@dataclass(frozen=True, slots=True)
class Steps:
    """The events that name a ticket since the room was last cleared, oldest first."""

    events: tuple[Event, ...]
    since_us: int | None
    """When the oldest event that was read happened; None if the room has no events."""

    complete: bool
    """Whether no event of this room has been forgotten."""

    @property
    def known_since_ms(self) -> int | None:
        """From when on nothing is missing; None if nothing is missing at all."""
        return None if self.complete or self.since_us is None else self.since_us // 1000

    @property
    def evidence(self) -> str:
        """What the events prove, in the words of the script: `turn`, `there` or `nothing`."""
        kinds, reasons = ({getattr(e, name) for e in self.events} for name in ("kind", "reason"))
        if kinds & {"called", "entered"} or reasons & _TURN:
            return "turn"
        return "there" if self.events else "nothing"


async def steps_of(runner: Runner, room: str, ticket_id: str) -> Steps:
    """Read all events of a room in pages, and keep those that name the ticket."""
    named: list[Event] = []
    first_us: int | None = None
    after, complete = "0-0", True
    while True:
        (entries,) = await runner.streams(room, ("events", False, f"({after}", _PER_READ))
        for _, fields in entries:
            if first_us is None:  # events are numbered from 1
                first_us, complete = int(fields[b"at"]), fields.get(b"n") == b"1"
            if fields[b"kind"] == b"cleared":
                named.clear()  # those named tickets that no longer count
            elif ticket_id.encode() in fields[b"ids"]:
                event = streams.event(fields)
                if ticket_id in event.ids:
                    named.append(event)
        if len(entries) < _PER_READ:
            return Steps(tuple(named), first_us, complete)
        after = entries[-1][0].decode()
