"""Tickets and rooms as public JSON, declared once: answers and OpenAPI follow it."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from waitroom.estimate.reasons import Reason
from waitroom.models import Mode

# Only in some states; the others leave them out.
_EnterBy = Annotated[str | None, Meta(description="Of a called ticket: enter before.")]
_EndsAt = Annotated[str | None, Meta(description="Of a ticket inside.")]
_Stale = Annotated[
    bool, Meta(description="True if the backend was slow, and this repeats the last answer.")
]
_ShortCode = Annotated[
    str, Meta(description="Of the answer to a join: a short code to quote to support, no secret.")
]
_Restoring = Annotated[
    bool,
    Meta(
        description="True after a loss of state, until everybody had time to come back: then "
        "`position` and `eta_s` are null."
    ),
]
_Texts = Annotated[
    dict[str, dict[str, str]],
    Meta(description="By language, those of these texts that it has of its own."),
]
_RoomMark = Annotated[
    int, Meta(description="Unless the room that you know has this `mark`, read it again.")
]
_Pass = Annotated[str, Meta(description="Of a ticket inside: the proof.")]


class Eta(Struct, frozen=True):
    """An honest range of the wait, in seconds."""

    low: int
    likely: int
    high: int


class Ticket(Struct, frozen=True):
    """A ticket as its holder sees it."""

    room: str
    ticket: Annotated[str, Meta(description="Opaque; keep it secret, it is the place.")]
    state: Annotated[
        Literal["waiting", "called", "inside"], Meta(extra_json_schema={"type": "string"})
    ]
    position: Annotated[
        int | None, Meta(description="1 is next; null where it means nothing or is hidden.")
    ]
    waiting: Annotated[int, Meta(description="How many wait in all.")]
    eta_s: Eta | None
    eta_reason: Annotated[
        str | None,
        Meta(
            description="Why `eta_s` has moved by more than a quarter lately; null if it has not, "
            "or if the room shows no reason.",
            extra_json_schema={"enum": [*map(str, Reason), None]},
        ),
    ]
    poll_after_ms: Annotated[int, Meta(description="Ask again after so long.")]
    enter_by: _EnterBy | UnsetType = UNSET
    session_ends_at: _EndsAt | UnsetType = UNSET
    stale: _Stale | UnsetType = UNSET
    # Not in polls: it would cost 2 % of a poll, and it never changes.
    short_code: _ShortCode | UnsetType = UNSET
    restoring: _Restoring | UnsetType = UNSET
    room_mark: _RoomMark | UnsetType = UNSET
    # A keyword of Python, so the field has a different name here.
    pass_: _Pass | UnsetType = field(name="pass", default=UNSET)


class RoomView(Struct, frozen=True):
    """A room as anybody may see it."""

    room: str
    title: str
    message: Annotated[str | None, Meta(description="What the organiser says: plain text.")]
    message_at: Annotated[str | None, Meta(description="When that was said, if it is known.")]
    ready: Annotated[str | None, Meta(description="What to have ready for one's turn.")]
    go_to: Annotated[str | None, Meta(description="Where people go on to once inside.")]
    footer: Annotated[str | None, Meta(description="Who the organiser is.")]
    help_link: Annotated[str | None, Meta(description="Where people get help.")]
    mode: Annotated[
        str,
        Meta(
            description="As it is now: `ended` once `ends_at` has come.",
            extra_json_schema={"enum": [str(mode) for mode in Mode]},
        ),
    ]
    opens_at: str | None
    ends_at: str | None
    before_open: str
    waiting: int
    eta_s: Annotated[Eta | None, Meta(description="For somebody who joined now.")]
    holding: Annotated[bool, Meta(description="Whether admission holds after a loss of state.")]
    changed_at: str | None
    mark: Annotated[int, Meta(description="Changes with all of this but numbers and times.")]
    accepts: Annotated[bool, Meta(description="Whether a join would be taken.")]
    now: str
    ended_text: Annotated[str | None, Meta(description="What to say when it is over.")]
    ended_picture: Annotated[
        str | None, Meta(description="What to show then; null too if it is a large `data:` URI.")
    ]
    ended_link: Annotated[str | None, Meta(description="Where people may go then.")]
    texts: _Texts | UnsetType = UNSET
