"""The words of Waitroom as types: states, policies, presets and answers. Pure: no I/O.

Times are integers with their unit in the name. `_ms` and `_us` are Unix time.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple, Self

from waitroom import moments
from waitroom.errors import InvalidPolicy, InvalidRoomName
from waitroom.texts import LOCAL_TEXTS, checked_text, checked_texts

ROOM_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
MEMBERS_PER_SCRIPT = 500
"""Most people that one script call may touch, so that every script takes only milliseconds."""

_MOST_PEOPLE = 1_000_000_000
_MOST_SECONDS = 366 * 86_400
_LAST_MS = 4_102_444_800_000  # the end of 2099
_MOST_DEFERS = 7  # the generation of a deferred place has three bits in the ticket


class Mode(StrEnum):
    """How a room treats people."""

    OPEN = "open"
    PAUSED = "paused"
    CLOSED = "closed"
    ENDED = "ended"
    BYPASS = "bypass"
    MANUAL = "manual"


class BeforeOpen(StrEnum):
    """What happens before `opens_at`."""

    PASS = "pass"  # noqa: S105 - a word of the policy
    WAIT = "wait"
    REFUSE = "refuse"
    DRAW = "draw"


class Eta(StrEnum):
    """Which estimate of the wait people see."""

    OBSERVED = "observed"
    BATCH = "batch"
    RATE = "rate"
    SERVICE = "service"


class WhenAway(StrEnum):
    """What visitors get while Redis cannot be reached."""

    CLOSED = "closed"
    OPEN = "open"


class State(StrEnum):
    """Where a ticket is."""

    WAITING = "waiting"
    CALLED = "called"
    INSIDE = "inside"
    GONE = "gone"


class Reason(StrEnum):
    """Why a ticket is gone."""

    FINISHED = "finished"
    LEFT = "left"
    KICKED = "kicked"
    EXPIRED = "expired"
    NO_SHOW = "no_show"
    ABANDONED = "abandoned"
    PASSED = "passed"  # at or before the watermark: served before, or its turn went by
    CLEARED = "cleared"  # of an earlier epoch


@lru_cache(1_024)  # asked for every join and check, of a few rooms
def _is_room_name(name: str) -> bool:
    return ROOM_NAME.fullmatch(name) is not None


def check_room_name(name: str) -> str:
    """Return `name` if it may be a room's, else say which rule it breaks."""
    if not isinstance(name, str) or not _is_room_name(name):
        raise InvalidRoomName(
            "room",
            f"{name!r:.80} is not a room name; use 1 to 64 letters, digits, '-', '_' or '.', "
            "and start with a letter or digit",
        )
    return name


def _setting(default: Any, unit: str, about: str, low: float = 0, high: float = 0) -> Any:
    return field(default=default, metadata={"unit": unit, "about": about, "low": low, "high": high})


def _people(default: int | None, about: str, low: int = 1, high: int = _MOST_PEOPLE) -> Any:
    return _setting(default, "people", about, low, high)


def _seconds(default: float | None, about: str, low: float = 0.001) -> Any:
    return _setting(default, "seconds", about, low, _MOST_SECONDS)


def _moment(about: str) -> Any:
    return _setting(None, "moment", about, 0, _LAST_MS)


def _text(about: str, most: int) -> Any:
    return _setting(None, "text", about, 1, most)


def _texts(about: str, most: int) -> Any:
    meta = {"unit": "texts", "about": about, "low": 1, "high": most}
    return field(default=None, metadata=meta, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a room allows, and what its page says. Any mix works; `None` means no limit, no text.

    Fields that scripts read come first: a small Redis hash is searched from its beginning.
    """

    mode: Mode = _setting(Mode.OPEN, "mode", "open, paused, closed, ended, bypass or manual")
    capacity: int | None = _people(None, "most people called + inside at any instant")
    batch: int | None = _people(None, "most people called by `advance` per slot of `every_s`")
    every_s: float | None = _seconds(None, "length of a pace slot", 0.01)
    max_entries: int | None = _people(None, "most people going inside in any window of `per_s`")
    per_s: float | None = _seconds(None, "the rolling window of `max_entries`", 1)
    session_s: float | None = _seconds(600, "length of a session inside")
    renewable: bool = _setting(False, "yes or no", "whether activity extends a session")
    longest_s: float | None = _seconds(None, "longest session, however often it is extended")
    enter_within_s: float | None = _seconds(60, "how long a called ticket keeps its turn")
    presence_s: float | None = _seconds(150, "silence after which a waiting ticket is dropped", 1)
    return_s: float | None = _seconds(None, "how long a dropped ticket may come back to its place")
    recover_s: float = _seconds(75, "how long admission holds after a loss or an outage", 0)
    queue_limit: int | None = _people(None, "most people waiting; more get `room_full`")
    ticket_ttl_s: float | None = _seconds(86_400, "life of a ticket", 1)
    idle_ttl_s: float | None = _seconds(21_600, "when an empty room's live keys go", 1)
    opens_at: datetime | None = _moment("when the room opens")
    ends_at: datetime | None = _moment("when it is over, as in the mode `ended`")
    before_open: BeforeOpen = _setting(
        BeforeOpen.WAIT, "before_open", "until then: pass, wait, refuse or draw"
    )
    max_defers: int = _people(0, "how often a ticket may go back some places", 0, _MOST_DEFERS)
    eta: Eta = _setting(Eta.OBSERVED, "eta", "observed, batch, rate or service")
    when_away: WhenAway = _setting(
        WhenAway.CLOSED, "when_away", "while Redis is away: closed, or open to everybody"
    )
    time_zone: str | None = _text("zone of the times on the page, like Asia/Seoul", 64)
    title: str | None = _text("the page's title, instead of the room's name", 120)
    message: str | None = _text("what the organiser says to everybody who waits", 1_000)
    ready: str | None = _text("what to have ready when it is your turn", 300)
    logo: str | None = _text("a path on the same host, or a data:image/…;base64,… URI", 65_536)
    colour: str | None = _text("the page's main colour, as #rrggbb", 7)
    go_to: str | None = _text("where people go on to once inside: a URL or a path", 2_000)
    picture: str | None = _text("a picture of the event: a path or a data: URI, as `logo`", 65_536)
    event_date: str | None = _text("when the event is, in the organiser's words", 120)
    event_place: str | None = _text("where the event is", 120)
    background: str | None = _text("the colour around the card, as #rrggbb", 7)
    font: str | None = _text("a font file, as a path on the same host", 500)
    footer: str | None = _text("a text below the card: who the organiser is", 500)
    help_link: str | None = _text("where people get help: a URL, a path, mailto: or tel:", 2_000)
    ended_text: str | None = _text("a paragraph for when it is over", 1_000)
    ended_picture: str | None = _text("a picture for when it is over, given like `logo`", 65_536)
    ended_link: str | None = _text("where people may go when it is over: a URL or a path", 2_000)
    texts: dict[str, dict[str, str]] | None = _texts("other texts by language, like ko", 16_384)

    def __post_init__(self) -> None:
        for spec in dataclasses.fields(self):
            value = _checked(spec, getattr(self, spec.name))
            object.__setattr__(self, spec.name, value)
        for name in MOMENTS:  # last: one without a zone is read in `time_zone`
            object.__setattr__(self, name, _checked_moment(self, name))
        _both_or_neither(self, "batch", "every_s")
        _both_or_neither(self, "max_entries", "per_s")
        if self.opens_at and self.ends_at and self.ends_at <= self.opens_at:
            raise InvalidPolicy("ends_at", "must be after `opens_at`")
        if self.opens_at is None and self.before_open is not BeforeOpen.WAIT:
            raise InvalidPolicy("before_open", f"{self.before_open} needs `opens_at`")

    @property
    def opens_at_ms(self) -> int | None:
        """The opening as Unix time, as scripts and estimates count."""
        return None if self.opens_at is None else moments.to_ms(self.opens_at)

    @property
    def ends_at_ms(self) -> int | None:
        """The end as Unix time."""
        return None if self.ends_at is None else moments.to_ms(self.ends_at)

    def mode_at(self, now_ms: int) -> Mode:
        """Return the mode at a moment: `ended` from `ends_at` on, whatever it was before."""
        ends = self.ends_at_ms
        return self.mode if ends is None or now_ms < ends else Mode.ENDED

    @property
    def longest_stay_s(self) -> float | None:
        """The longest that somebody can be inside, however active they are."""
        spans = (None if self.renewable else self.session_s, self.longest_s)
        return min((span for span in spans if span is not None), default=None)

    @property
    def per_minute(self) -> float | None:
        """The most calls or entries per minute that pace and rolling limit allow."""
        limits = ((self.batch, self.every_s), (self.max_entries, self.per_s))
        rates = (60 * people / span_s for people, span_s in limits if people and span_s)
        return min((round(rate, 3) for rate in rates), default=None)

    def text(self, name: str, lang: str) -> str | None:
        """Return a text in a language, or as it is for all; `zh` also serves `zh-Hant`."""
        texts = self.texts or {}
        local = texts.get(lang) or texts.get(lang.partition("-")[0]) or {}
        value: str | None = local.get(name) or getattr(self, name)
        return value

    def change(self, /, **changes: Any) -> Self:
        """Return a copy with some fields changed; an unknown field is named.

        Another `message` without `texts` is for everybody: those of languages go.
        """
        for name in changes:
            if name not in POLICY_FIELDS:
                raise InvalidPolicy(name, f"no such field; there are {', '.join(POLICY_FIELDS)}")
        if self.texts and changes.get("message", self.message) != self.message:
            texts = {
                lang: {name: text for name, text in local.items() if name != "message"}
                for lang, local in self.texts.items()
            }
            changes.setdefault("texts", {k: local for k, local in texts.items() if local} or None)
        return dataclasses.replace(self, **changes)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return {name: _plain(value) for name, value in dataclasses.asdict(self).items()}


POLICY_FIELDS = tuple(spec.name for spec in dataclasses.fields(Policy))
MOMENTS = tuple(
    spec.name for spec in dataclasses.fields(Policy) if spec.metadata["unit"] == "moment"
)
_LONGEST = {name: Policy.__dataclass_fields__[name].metadata["high"] for name in LOCAL_TEXTS}
_ENUMS: dict[str, type[StrEnum]] = {
    "mode": Mode,
    "before_open": BeforeOpen,
    "eta": Eta,
    "when_away": WhenAway,
}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return moments.written(value)
    return str(value) if isinstance(value, StrEnum) else value


def _checked_moment(policy: Policy, name: str) -> datetime | None:
    value = getattr(policy, name)
    if value is None:
        return None
    moment = moments.read(name, value, policy.time_zone)
    if not 0 <= moments.to_ms(moment) <= _LAST_MS:
        raise InvalidPolicy(name, f"{str(value)!r:.40} is not allowed; it takes 1970 to 2099")
    return moment


def _checked(spec: dataclasses.Field[Any], value: Any) -> Any:
    """Return `value` in the field's type, or raise an error that names the field and its range."""
    name, meta = spec.name, spec.metadata
    if name in _ENUMS:
        try:
            return _ENUMS[name](value)
        except ValueError:
            words = ", ".join(_ENUMS[name])
            raise InvalidPolicy(name, f"{value!r:.40} is not one of {words}") from None
    if meta["unit"] == "yes or no":
        if not isinstance(value, bool):
            raise InvalidPolicy(name, f"{value!r:.40} is neither true nor false")
        return value
    if meta["unit"] == "moment":
        return value  # see `_checked_moment`
    if value is None:
        if spec.default is not None and name in ("recover_s", "max_defers"):
            raise InvalidPolicy(name, "must be a number; 0 turns it off")
        return None
    if meta["unit"] == "text":
        return checked_text(name, value, meta["high"])
    if meta["unit"] == "texts":
        return checked_texts(value, _LONGEST, meta["high"])
    return _number(name, value, meta)


def _number(name: str, value: Any, meta: Mapping[str, Any]) -> int | float:
    whole = meta["unit"] != "seconds"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidPolicy(name, f"{value!r:.40} is not a number")
    # `isfinite` of a whole number of hundreds of digits would overflow.
    if (isinstance(value, float) and not math.isfinite(value)) or (whole and value != int(value)):
        raise InvalidPolicy(name, f"{value} is not a {'whole ' if whole else ''}number")
    if not meta["low"] <= value <= meta["high"]:
        raise InvalidPolicy(
            name, f"{value} is not allowed; it takes {meta['low']:g} to {meta['high']:.0f}"
        )
    return int(value) if whole else round(float(value), 3)


def _both_or_neither(policy: Policy, first: str, second: str) -> None:
    missing, given = first, second
    if getattr(policy, first) is not None:
        missing, given = second, first
    if getattr(policy, missing) is None and getattr(policy, given) is not None:
        raise InvalidPolicy(missing, f"must be set together with `{given}`")


PRESETS: dict[str, Policy] = {
    # Seed 000: a scheduler lets 1,400 people in every 10 s, sessions of 5 minutes.
    "batch": Policy(batch=1_400, every_s=10, session_s=300, eta=Eta.BATCH),
    # Seed 001: an operator admits by hand; limits changeable live.
    "manual": Policy(mode=Mode.MANUAL, queue_limit=100_000),
    # Seed 002: fifty seats, ten minutes each.
    "slots": Policy(capacity=50, session_s=600, eta=Eta.SERVICE),
    # Seed 003: guests put their phone away, so nobody is dropped for silence.
    "desk": Policy(
        mode=Mode.MANUAL,
        session_s=None,
        enter_within_s=None,
        presence_s=None,
        recover_s=0,
        idle_ttl_s=21_600,
        max_defers=2,
        eta=Eta.SERVICE,
    ),
    # Seed 004: a threshold per minute, a tenth of it per 6 s slot while people wait.
    "per-minute": Policy(
        max_entries=100, per_s=60, batch=10, every_s=6, presence_s=60, eta=Eta.RATE
    ),
}


def preset(name: str, **changes: Any) -> Policy:
    """Return the policy of a preset, with some fields changed."""
    try:
        base = PRESETS[name]
    except KeyError:
        known = ", ".join(PRESETS)
        raise InvalidPolicy("preset", f"{name!r:.40} is unknown; there are {known}") from None
    return base.change(**changes)


@dataclass(frozen=True, slots=True)
class Room:
    """A room as stored: its policy, and how often that was changed."""

    name: str
    policy: Policy
    version: int
    epoch: int
    message_at_ms: int | None = None
    """When the message of the policy was set; None if there is none, or nobody knows."""


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """A room directly before and after its policy was changed."""

    old: Room
    new: Room

    @property
    def fields(self) -> dict[str, tuple[Any, Any]]:
        """The fields that differ, each with its old and its new value."""
        old, new = self.old.policy.as_dict(), self.new.policy.as_dict()
        return {name: (old[name], new[name]) for name in old if old[name] != new[name]}


class TicketView(NamedTuple):
    """What a visitor may know about their ticket; the same from join, poll, enter and the rest.

    A tuple, because one is made for every poll, and a frozen dataclass takes six times as long.

    `position` is 1 at the head, and None where it means nothing or is hidden: before a draw, and
    while the room is `restoring` its line after a loss, when not everybody is back. A `stale` view
    repeats what was told before, because the server has not answered yet.
    """

    room: str
    id: str
    state: State
    ticket: str
    position: int | None = None
    waiting: int = 0
    enter_by_ms: int | None = None
    session_ends_at_ms: int | None = None
    sid: int | None = None
    reason: Reason | None = None
    new: bool = False
    stale: bool = False
    restoring: bool = False


@dataclass(frozen=True, slots=True)
class Advanced:
    """What one `advance` did, and when the next one is due (None: nothing is foreseeable)."""

    called: int
    expired: int
    no_shows: int
    abandoned: int
    waiting: int
    more: bool
    due_ms: int | None
    now_ms: int


@dataclass(frozen=True, slots=True)
class Reinstated:
    """The place that somebody was given back, and how many wait with them."""

    place: int
    position: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Listed:
    """One line of `list`: `seen_ms` is when it was seen, `until_ms` the deadline of its state."""

    id: str
    state: State
    place: int | None = None
    seen_ms: int | None = None
    until_ms: int | None = None
    sid: int | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A page of `list`; `after` is the cursor of the next one, None on the last.

    `ordered` is False before the opening of a draw: then tickets come by id and without a place,
    one may come twice, and a page may be short though others follow.
    """

    tickets: tuple[Listed, ...]
    after: str | None
    ordered: bool = True


@dataclass(frozen=True, slots=True)
class Person:
    """What a room knows of one ticket; times are wall-clock ms, and None where nobody knows."""

    room: str
    id: str
    state: State
    reason: Reason | None = None
    """Why they are gone, as far as it is noted; events may tell more."""

    place: int | None = None
    position: int | None = None
    seen_ms: int | None = None
    until_ms: int | None = None
    sid: int | None = None
    defers: int = 0
    kicked_ms: int | None = None
    dropped_ms: int | None = None
    banned: bool = False
    known: bool = True
    """Whether any key tells of them; else only events may."""


@dataclass(frozen=True, slots=True)
class Stats:
    """A room at a glance. Counters run since the room was made and survive `clear`."""

    room: str
    mode: Mode
    """As it is now: `ended` once `ends_at` has come, whatever the policy says."""

    version: int
    epoch: int
    waiting: int
    called: int
    inside: int
    entries_in_window: int
    hold_until_ms: int | None
    oldest_wait_ms: int
    may_return: int
    """Dropped for silence, but not for good: a poll gives them their place back."""

    counters: dict[str, int]
    now_ms: int
    message_at_ms: int | None = None
    """When the message of the policy was set, as far as anybody knows."""

    hidden: bool = False
    """Nobody may learn the order: places are drawn, and the room is not open yet."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A room at one moment, for charts and estimates; the counters run since the room was made."""

    at_ms: int
    waiting: int
    called: int
    inside: int
    joined: int
    called_total: int
    entered: int
    finished: int
    left: int
    kicked: int
    expired: int
    no_show: int
    abandoned: int
    waited_s: int | None = None
    """How long the last one called from the head had waited; None if nobody was called so."""

    told_s: int | None = None
    """The likely wait that a newcomer was told, if that is known."""

    mode: Mode | None = None
    """As it was then; None in a sample of an older version, or of `stats`."""

    capacity: int | None = None
    per_minute: float | None = None
    """The most calls or entries per minute that the policy allowed; None = no limit."""

    woke_ms: int | None = None
    """Until when nothing had changed since the sample before, if that was a minute or longer."""


@dataclass(frozen=True, slots=True)
class Event:
    """What one script did to people, or to the room.

    `called` (with the places that people had), `entered`, `ended` (with a reason), `reinstated`,
    `cleared`, `placed` by a record elsewhere; `room.opened`, `room.ended`, `room.changed` (with a
    version).
    """

    kind: str
    at_us: int
    ids: tuple[str, ...]
    reason: Reason | None = None
    places: tuple[int, ...] = ()
    version: int | None = None


@dataclass(frozen=True, slots=True)
class EventPage:
    """Events in their order; `cursor` is where the next page begins."""

    cursor: str
    events: tuple[Event, ...]
