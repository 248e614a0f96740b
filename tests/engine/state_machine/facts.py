"""What was read from a room, and who its people are."""

from __future__ import annotations

from dataclasses import dataclass, field

from waitroom.models import Policy

FOREVER = 9_000_000_000_000_000


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of the event stream."""

    kind: str
    ids: tuple[str, ...]
    reason: str = ""
    source: str = ""  # of `adopted`: the ticket whose place it was


@dataclass(frozen=True, slots=True)
class Facts:
    """What the keys of a room hold, read with plain commands."""

    policy: Policy | None
    meta: dict[str, int]
    waiting: dict[str, int]
    seen: dict[str, int]
    called: dict[str, int]
    inside: dict[str, int]
    sids: dict[str, int]
    gone: dict[str, int]
    moved: dict[str, str]
    sources: dict[str, float]
    kicked: dict[str, int]
    entries: dict[int, int]
    record: dict[str, int]
    swept: dict[str, int]
    been: frozenset[str]
    events: tuple[tuple[str, Event], ...]
    codes: dict[str, str]
    coded: dict[str, str]
    batches: dict[str, str]


@dataclass(frozen=True, slots=True)
class Step:
    """One engine call: whom it was about, and whether an operator forced it."""

    verb: str
    targets: frozenset[str] = frozenset()
    forced: bool = False
    nameless: frozenset[str] = frozenset()  # the `targets` who came without a ticket
    lifts: bool = False  # whether it lifts a ban
    recorded: frozenset[str] = frozenset()  # those `settle` has told the room about before
    swept: frozenset[str] = frozenset()  # of whom the room knows that they were dropped


@dataclass(slots=True)
class Person:
    """One ticket. `until` is the deadline they were told, in room time."""

    id: str
    place: int
    state: str = "out"
    why: str = "new"
    until: int = FOREVER
    seen: int = 0
    swept: int = 0  # when they were dropped for silence
    arrived: int = 0
    drew: bool = False  # the place was drawn: it is not a time of arrival
    moved: bool = False  # the place was changed
    places: set[int] = field(default_factory=set)
    lost: bool = False  # waits, but the server forgot: a poll must bring them back
    forgiven: bool = False  # is out, but the server forgot: a poll may bring them back
    reverted: bool = False  # was put back by a failover, perhaps behind the watermark
    banned: bool = False  # may not join again
    kicked: bool = False  # the room notes a kick of theirs, also after it was cleared
    settled: bool = False  # has a place from a record elsewhere; only that brings it back
    been: bool = False  # was inside while the policy said `once`
    adopted: bool = False  # an account with a place that was a ticket's; later ones are worthless
    reinstated: bool = False  # has a place the ticket does not prove, but an engine remembers

    def forget(self) -> None:
        """Be forgotten by the server: a ticket brings back people whose place it proves."""
        self.lost = self.state == "waiting" and not self.settled and not self.reinstated
        self.banned = self.been = False
        if not self.lost:
            self.state, self.forgiven = "out", self.why != "cleared"


def ms(seconds: float | None) -> int:
    """Return seconds as ms; no limit is for ever."""
    return FOREVER if seconds is None else round(seconds * 1000)
