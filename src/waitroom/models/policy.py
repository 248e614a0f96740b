"""What a room allows, and what its page says."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Self

from waitroom import moments
from waitroom.errors import InvalidPolicy
from waitroom.models.fields import (
    LAST_MS,
    checked,
    moment,
    people,
    seconds,
    setting,
    text,
    texts,
)
from waitroom.models.words import (
    BeforeOpen,
    Challenge,
    Eta,
    Mode,
    Needs,
    WhenAway,
    WhenUnverified,
)
from waitroom.texts import LOCAL_TEXTS, checked_texts

_MOST_DEFERS = 7  # the generation of a deferred place has three bits in the ticket


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a room allows, and what its page says. Any mix works; `None` means no limit, no text.

    Fields that scripts read come first: a small Redis hash is searched from its beginning.
    """

    mode: Mode = setting(Mode.OPEN, "mode", "open, paused, closed, ended, bypass or manual")
    capacity: int | None = people(None, "most people called + inside at any instant")
    batch: int | None = people(None, "most people called by `advance` per slot of `every_s`")
    every_s: float | None = seconds(None, "length of a pace slot", 0.01)
    max_entries: int | None = people(None, "most people going inside in any window of `per_s`")
    per_s: float | None = seconds(None, "the rolling window of `max_entries`", 1)
    session_s: float | None = seconds(600, "length of a session inside")
    renewable: bool = setting(False, "yes or no", "whether activity extends a session")
    longest_s: float | None = seconds(None, "longest session, however often it is extended")
    enter_within_s: float | None = seconds(60, "how long a called ticket keeps its turn")
    presence_s: float | None = seconds(150, "silence after which a waiting ticket is dropped", 1)
    return_s: float | None = seconds(None, "how long a dropped ticket may come back to its place")
    recover_s: float = seconds(75, "how long admission holds after a loss or an outage", 0)
    queue_limit: int | None = people(None, "most people waiting; more get `room_full`")
    ticket_ttl_s: float | None = seconds(86_400, "life of a ticket", 1)
    idle_ttl_s: float | None = seconds(21_600, "when an empty room's live keys go", 1)
    opens_at: datetime | None = moment("when the room opens")
    ends_at: datetime | None = moment("when it is over, as in the mode `ended`")
    before_open: BeforeOpen = setting(
        BeforeOpen.WAIT, "before_open", "until then: pass, wait, refuse or draw"
    )
    max_defers: int = people(0, "how often a ticket may go back some places", 0, _MOST_DEFERS)
    once: bool = setting(False, "yes or no", "whoever has been inside does not come back")
    eta: Eta = setting(Eta.OBSERVED, "eta", "observed, batch, rate or service")
    when_away: WhenAway = setting(
        WhenAway.CLOSED, "when_away", "while Redis is away: closed, or open to everybody"
    )
    needs: Needs = setting(
        Needs.NOTHING, "needs", "what a newcomer must show: nothing, identity or code"
    )
    challenge: Challenge = setting(
        Challenge.NONE, "challenge", "none, work, siteverify, observe_work, observe_siteverify"
    )
    when_unverified: WhenUnverified = setting(
        WhenUnverified.WORK, "when_unverified", "while siteverify is away: refuse, work or pass"
    )
    time_zone: str | None = text("zone of the times on the page, like Asia/Seoul", 64)
    title: str | None = text("the page's title, instead of the room's name", 120)
    message: str | None = text("what the organiser says to everybody who waits", 1_000)
    ready: str | None = text("what to have ready when it is your turn", 300)
    logo: str | None = text("a path on the same host, or a data:image/…;base64,… URI", 65_536)
    colour: str | None = text("the page's main colour, as #rrggbb", 7)
    go_to: str | None = text("where people go on to once inside: a URL or a path", 2_000)
    picture: str | None = text("a picture of the event: a path or a data: URI, as `logo`", 65_536)
    event_date: str | None = text("when the event is, in the organiser's words", 120)
    event_place: str | None = text("where the event is", 120)
    background: str | None = text("the colour around the card, as #rrggbb", 7)
    font: str | None = text("a font file, as a path on the same host", 500)
    footer: str | None = text("a text below the card: who the organiser is", 500)
    help_link: str | None = text("where people get help: a URL, a path, mailto: or tel:", 2_000)
    ended_text: str | None = text("a paragraph for when it is over", 1_000)
    ended_picture: str | None = text("a picture for when it is over, given like `logo`", 65_536)
    ended_link: str | None = text("where people may go when it is over: a URL or a path", 2_000)
    texts: dict[str, dict[str, str]] | None = texts("other texts by language, like ko", 16_384)

    def __post_init__(self) -> None:
        for spec in dataclasses.fields(self):
            value = checked(spec, getattr(self, spec.name))
            object.__setattr__(self, spec.name, value)
        if self.texts is not None:
            most = self.__dataclass_fields__["texts"].metadata["high"]
            object.__setattr__(self, "texts", checked_texts(self.texts, _LONGEST, most))
        for name in MOMENTS:  # last: a moment without a zone is read in `time_zone`
            object.__setattr__(self, name, _checked_moment(self, name))
        _both_or_neither(self, "batch", "every_s")
        _both_or_neither(self, "max_entries", "per_s")
        if self.once and self.needs is Needs.NOTHING:
            raise InvalidPolicy("once", "needs `needs`: without identity or code nobody is known")
        if self.opens_at and self.ends_at and self.ends_at <= self.opens_at:
            raise InvalidPolicy("ends_at", "must be after `opens_at`")
        if self.opens_at is None and self.before_open is not BeforeOpen.WAIT:
            raise InvalidPolicy("before_open", f"{self.before_open} needs `opens_at`")

    @property
    def opens_at_ms(self) -> int | None:
        """The opening as Unix time, as scripts and estimates use it."""
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
    def asks_newcomers(self) -> bool:
        """Whether a newcomer must show something for a place; nobody is asked twice."""
        return self.needs is not Needs.NOTHING or self.challenge is not Challenge.NONE

    @property
    def longest_stay_s(self) -> float | None:
        """The longest time that somebody can be inside, however active they are."""
        spans = (None if self.renewable else self.session_s, self.longest_s)
        return min((span for span in spans if span is not None), default=None)

    @property
    def per_minute(self) -> float | None:
        """The most calls or entries per minute that pace and rolling limit allow."""
        limits = ((self.batch, self.every_s), (self.max_entries, self.per_s))
        rates = (60 * people / span_s for people, span_s in limits if people and span_s)
        return min((round(rate, 3) for rate in rates), default=None)

    def text(self, name: str, lang: str) -> str | None:
        """Return a text in a language, or the default one; `zh` also serves `zh-Hant`."""
        texts = self.texts or {}
        local = texts.get(lang) or texts.get(lang.partition("-")[0]) or {}
        value: str | None = local.get(name) or getattr(self, name)
        return value

    def change(self, /, **changes: Any) -> Self:
        """Return a copy with some fields changed; an error names an unknown field.

        A new `message` without `texts` is for everybody: messages in other languages are removed.
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


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return moments.written(value)
    return str(value) if isinstance(value, StrEnum) else value


def _checked_moment(policy: Policy, name: str) -> datetime | None:
    value = getattr(policy, name)
    if value is None:
        return None
    moment = moments.read(name, value, policy.time_zone)
    if not 0 <= moments.to_ms(moment) <= LAST_MS:
        raise InvalidPolicy(name, f"{str(value)!r:.40} is not allowed; it takes 1970 to 2099")
    return moment


def _both_or_neither(policy: Policy, first: str, second: str) -> None:
    missing, given = first, second
    if getattr(policy, first) is not None:
        missing, given = second, first
    if getattr(policy, missing) is None and getattr(policy, given) is not None:
        raise InvalidPolicy(missing, f"must be set together with `{given}`")
