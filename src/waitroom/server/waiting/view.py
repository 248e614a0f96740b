"""What the waiting page shows, from facts; `page.py` writes it as HTML. Pure.

Clock times come from the script, because only the browser knows its time zone; without the script
the page shows spans ("8–11 minutes") and the opening time in the room's zone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from zoneinfo import ZoneInfo

from waitroom.estimate.methods import Wait
from waitroom.models import BeforeOpen, Mode, Needs, Policy
from waitroom.server.pages.languages import DEFAULT
from waitroom.server.pages.locales import Locales, load_locales
from waitroom.server.pages.text import Text
from waitroom.server.tickets.entry.challenges import asked_kind
from waitroom.server.waiting.faces import LIVES, REJOINS, Face
from waitroom.server.waiting.onward import Onward, onward, returning
from waitroom.server.waiting.theme import Theme
from waitroom.server.waiting.words import span, wait_words, words_of

_ICON = (
    "data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 16 16%22%3E"
    "%3Ccircle cx=%228%22 cy=%228%22 r=%226%22 fill=%22{fill}%22 stroke=%22%231f9d55%22"
    " stroke-width=%223%22/%3E%3C/svg%3E"
)
_SOON_S = 3_600
_CODE_ERRORS = {
    "missing": "code_missing",
    "unknown": "code_unknown",
    "used": "code_used",
    "revoked": "code_revoked",
    "later": "code_busy",
    "full": "full_title",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """Everything that the page shows; fields that its face does not use are not set."""

    room: str
    face: Face
    now_ms: int
    nonce: str
    text: Text = field(default_factory=lambda: words_of(DEFAULT))
    locales: Locales = field(default_factory=lambda: load_locales(None))
    policy: Policy | None = None
    mode: Mode | None = None
    holds: bool = False
    code: str = ""
    push: str | None = None
    position: int | None = None
    waiting: int = 0
    eta: Wait | None = None
    start: int = 0
    eta_reason: str | None = None
    holding: bool = False
    restoring: bool = False
    message_at_ms: int | None = None
    enter_by_ms: int | None = None
    session_ends_at_ms: int | None = None
    poll_after_ms: int = 10_000
    refused: str | None = None
    host: str | None = None
    secure: bool = False
    wanted: str | None = None
    browser: str | None = None
    key: str = ""
    """By which the server knows this browser again, where a room needs a code."""

    ripe_in_s: int = 15
    ticket: Mapping[str, Any] | None = None
    view: Mapping[str, Any] | None = None
    sample: bool = False
    """Whether it is only a preview: without script and reload."""

    # For the template ------------------------------------------------------------------------

    @property
    def path(self) -> str:
        """The page's own address, under which its forms are."""
        return f"/rooms/{self.room}"

    @property
    def theme(self) -> Theme:
        """Title, texts, logo and colours."""
        if self.face is Face.UNKNOWN:
            return Theme(title="")
        return Theme.of(self.room, self.policy, self.text.lang)

    @property
    def lives(self) -> bool:
        """Whether the script can turn this page into a waiting one without a reload."""
        return self.face in LIVES or (self.face is Face.ENDED and self.holds)

    @property
    def follows(self) -> bool:
        """Whether there is anything to follow, so that the script is needed."""
        return self.lives or self.face in (Face.INSIDE, Face.AWAY)

    @property
    def away(self) -> bool:
        """Whether the backend is away."""
        return self.face is Face.AWAY

    @property
    def headline(self) -> str:
        """The beginning of the window title."""
        if self.face is Face.WAITING and self.position:
            return self.text("title_ahead", n=self.position - 1)
        if self.face is Face.SOON:
            return self.soon
        sign = "● " if self.face is Face.CALLED else ""
        return sign + self.text(f"{self.face}_title")

    @property
    def soon(self) -> str:
        """What the page says before a room opens: "soon" within an hour."""
        return self.text("soon_title" if self.opens_left_s <= _SOON_S else "soon_later")

    @property
    def icon(self) -> str:
        """The icon of the tab: a ring, filled when it is the reader's turn."""
        return _ICON.format(fill="%231f9d55" if self.face is Face.CALLED else "none")

    @property
    def refresh_s(self) -> int:
        """How often the page reloads itself without a script; 0 is never."""
        if self.face is Face.AWAY:
            return 3
        if self.face is Face.RIPENING:
            return self.ripe_in_s + 1
        if self.face in (Face.FULL, Face.CLOSED) or (self.face is Face.ENDED and self.holds):
            return 30
        if self.face is Face.SOON and self.opens_left_s:
            return max(5, min(30, math.ceil(self.opens_left_s) + 1))
        if self.face in (Face.WAITING, Face.CALLED):
            # Ten seconds leave time to answer "do you want to leave?", unless turns are that short.
            turn_s = self.policy.enter_within_s if self.policy else None
            least = 10 if turn_s is None or turn_s >= 30 else 3
            return max(least, math.ceil(self.poll_after_ms / 1000))
        if self.face is Face.INSIDE and self.session_ends_at_ms is not None:
            return max(5, min(60, math.ceil(self._left_s(self.session_ends_at_ms)) + 2))
        return 0

    @property
    def ahead(self) -> str:
        """How many people stand before the reader."""
        return self.text.number(self.position - 1) if self.position else "…"

    @property
    def place(self) -> str:
        """How many people are in line, or that the reader is next."""
        if not self.position or self.restoring:
            return ""
        if self.position == 1:
            return self.text("place_next")
        return self.text("place", n=max(self.position, self.waiting))

    @property
    def behind(self) -> str:
        """How many people stand behind the reader."""
        behind = self.waiting - self.position if self.position and not self.restoring else 0
        return self.text("place_behind", n=behind) if behind > 0 else ""

    @property
    def bar_max(self) -> int:
        """The places from where the reader started to the front."""
        return max(1, max(self.start, self.position or 0) - 1)

    @property
    def bar_value(self) -> int:
        """How many of them are done."""
        return max(0, self.start - self.position) if self.position else 0

    @property
    def wait(self) -> str:
        """The wait in words."""
        stands = self._mode in (Mode.PAUSED, Mode.CLOSED) or self.holding or self.restoring
        if self.eta is None and stands:
            return self.text("wait_paused")
        return wait_words(self.text, self.eta, self.position)

    @property
    def note(self) -> str:
        """Why nobody is called, or why the wait has moved; empty if there is no reason."""
        if self.face is not Face.WAITING:
            return ""
        if self.restoring:
            return self.text("note_restoring")
        if self._mode in (Mode.CLOSED, Mode.PAUSED):
            return self.text(f"note_{self._mode}")
        if self.holding:
            return self.text("note_holding")
        return self.text(f"why_{self.eta_reason}") if self.eta_reason else self.refusal

    @property
    def message_ago(self) -> str:
        """How long ago the message was set; empty if that is unknown."""
        if self.message_at_ms is None:
            return ""
        ago_s = max(0.0, -self._left_s(self.message_at_ms))
        return self.text("message_ago", span=span(self.text, ago_s))

    @property
    def kept(self) -> str:
        """How long the place is kept after the page is closed."""
        presence_s = self.policy.presence_s if self.policy else None
        if presence_s is None:
            return self.text("kept_always")
        if self.policy is not None and self.policy.return_s is not None:
            return self.text("kept_only", span=span(self.text, presence_s + self.policy.return_s))
        return self.text("kept_for", span=span(self.text, presence_s))

    @property
    def early(self) -> str:
        """What applies before the room opens."""
        if self.policy is not None and self.policy.before_open is BeforeOpen.DRAW:
            return self.text("soon_draw")
        if not self.holds:
            return self.text("soon_refuse")
        return self.text("soon_place", n=self.position) if self.position else self.text("soon_wait")

    @property
    def opens_left_s(self) -> float:
        """Seconds until the room opens, 0 if it is open."""
        opens = self.policy.opens_at_ms if self.policy else None
        return 0 if opens is None else max(0.0, self._left_s(opens))

    @property
    def may_open(self) -> bool:
        """Whether there is an opening to count down to; if one is set later, the page reloads."""
        return self.opens_left_s > 0 or self.face is Face.SOON

    @property
    def opens_in(self) -> str:
        """The same in words: without a script nothing counts down."""
        return span(self.text, self.opens_left_s)

    @property
    def opens_at(self) -> str:
        """The moment itself, in the room's zone or in UTC."""
        if self.policy is None or self.policy.opens_at is None:
            return ""
        moment = self.policy.opens_at.astimezone(ZoneInfo(self.policy.time_zone or "UTC"))
        return self.text("soon_time", time=f"{moment:%Y-%m-%d %H:%M %Z}")

    @property
    def enter_in(self) -> str:
        """How long the turn lasts; empty for no limit."""
        return "" if self.enter_by_ms is None else span(self.text, self._left_s(self.enter_by_ms))

    @property
    def ends_in(self) -> str:
        """How long the session lasts; empty for no limit."""
        ends = self.session_ends_at_ms
        return "" if ends is None else span(self.text, self._left_s(ends))

    @property
    def go_to(self) -> str | None:
        """Where the room leads."""
        return self.policy.go_to if self.policy else None

    @property
    def back(self) -> str | None:
        """Where the reader came from and wants to return, if that is an allowed address."""
        return returning(self.wanted, self.host, self.go_to)

    @property
    def site(self) -> str | None:
        """Where people sign in: the site's gate sends them here again, with a claim."""
        return (self.back or self.go_to) if self.face is Face.SIGN_IN else None

    @property
    def onward(self) -> Onward | None:
        """Where people inside go next."""
        return onward(self.back, self.host, self.go_to, secure=self.secure)

    @property
    def asks(self) -> str:
        """What newcomers are asked to solve: `work`, `siteverify` or nothing."""
        return asked_kind(self.policy)

    @property
    def may_defer(self) -> bool:
        """Whether people may defer here."""
        return self.policy is not None and self.policy.max_defers > 0

    @property
    def is_last(self) -> bool:
        """Whether nobody is behind, or that is unknown, so that nobody can be let go first."""
        return not self.position or self.position >= self.waiting

    @property
    def may_rejoin(self) -> bool:
        """Whether a new place is the next step."""
        return self.face in REJOINS and not self.ended

    @property
    def needs_code(self) -> bool:
        """Whether a place takes an entry code."""
        return self.policy is not None and self.policy.needs is Needs.CODE

    @property
    def code_error(self) -> str:
        """Why the last code gave no place; empty if none was tried."""
        return self.text(_CODE_ERRORS[self.refused]) if self.refused in _CODE_ERRORS else ""

    @property
    def join_label(self) -> str:
        """What the button says that takes a place."""
        return self.text("join_button" if self.face is Face.CODE else "rejoin")

    @property
    def ended(self) -> bool:
        """Whether it is over."""
        return self._mode is Mode.ENDED

    @property
    def ended_text(self) -> str:
        """What the page says then: the organiser's words, or ours."""
        return self.theme.ended_text or self.text("ended_text")

    @property
    def face_text(self) -> str:
        """What the face says; when it is over, nobody is told that they may join again."""
        if self.ended and self.face in REJOINS:
            return self.ended_text
        if self.face is Face.CLOSED and self.needs_code:
            return self.text("code_closed")
        if self.face is Face.RIPENING:
            return self.text("ripening_text", span=span(self.text, self.ripe_in_s))
        return self.text(f"{self.face}_text")

    @property
    def refusal(self) -> str:
        """Why the reader could not let others go first; empty if nobody refused."""
        notes = {"defer": "note_defers", "last": "note_last"}
        return self.text(notes[self.refused]) if self.refused in notes else ""

    # Inside -----------------------------------------------------------------------------------

    @property
    def _mode(self) -> Mode | None:
        return self.mode or (self.policy.mode if self.policy else None)

    def _left_s(self, until_ms: int) -> float:
        return (until_ms - self.now_ms) / 1000
