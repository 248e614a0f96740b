"""The JSON of tickets and people, as pydantic models: they make the OpenAPI document."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field

from waitroom.models import Listed, Page, Reason, State
from waitroom.operations.finding import LONGEST_WORDS, Sighting
from waitroom.server.operator.api import OpId, Strict
from waitroom.short_codes import code_of
from waitroom.tickets import LONGEST_TICKET

ListState = Literal["waiting", "called", "inside"]


class Admit(Strict):
    """Call the first people of the line."""

    count: int = Field(ge=1, le=1_000_000)
    force: bool = Field(False, description="Even above limits, while paused or on hold.")
    op_id: OpId = None


class Admitted(BaseModel):
    """How many were called: fewer than requested if limits leave no room."""

    called: int
    waiting: int


class Call(Strict):
    """Call one ticket, wherever it stands."""

    ticket_id: str = Field(min_length=1, max_length=64, description="An id or a short code.")
    force: bool = False
    op_id: OpId = None


class Called(BaseModel):
    """Until when a called ticket may enter; null means without limit."""

    ticket_id: str
    enter_by_ms: int | None


class Kick(Strict):
    """Remove named tickets, or waiting ones by how long they have waited."""

    ticket_ids: list[Annotated[str, Field(min_length=1, max_length=64)]] | None = Field(
        None, min_length=1, max_length=500
    )
    older_than_s: float | None = Field(None, ge=0, le=31_622_400)
    newer_than_s: float | None = Field(None, ge=0, le=31_622_400)
    ban: bool = Field(False, description="Named tickets cannot join again, until kicked without.")
    op_id: OpId = None


class KickedBody(BaseModel):
    """How many were selected, and how many of them were in the room."""

    found: int
    kicked: int = Field(description="The others are noted: they come back to no place they had.")
    more: bool = Field(description="By age one request removes up to 10,000; repeat it for more.")


class TicketLine(BaseModel):
    """A ticket as operators see it."""

    id: str
    short_code: str = Field(description="What its holder can read out: the beginning of the id.")
    state: State
    place: int | None = Field(
        description="Arrival in µs, unique: the order of the line. Null before a draw is over."
    )
    seen_ms: int | None
    until_ms: int | None = Field(description="Enter-by, or the end of the session.")
    sid: int | None

    @classmethod
    def of(cls, ticket: Listed) -> TicketLine:
        """Make a body of a line of `list`."""
        fields = {name: getattr(ticket, name) for name in cls.model_fields if name != "short_code"}
        return cls(short_code=code_of(ticket.id), **fields)


class TicketsBody(BaseModel):
    """A page of tickets."""

    tickets: list[TicketLine]
    after: str | None
    ordered: bool = Field(
        description="False before the opening of a draw: by id, one may come twice."
    )

    @classmethod
    def of(cls, page: Page) -> TicketsBody:
        """Make a body of a page of `list`."""
        tickets = [TicketLine.of(ticket) for ticket in page.tickets]
        return cls(tickets=tickets, after=page.after, ordered=page.ordered)


class SightingBody(BaseModel):
    """One ticket in one room."""

    room: str
    id: str
    short_code: str
    state: State
    reason: Reason | None = Field(description="Why they are gone, as far as it is known.")
    since_ms: int | None = Field(description="Since when they are there, as far as it is known.")
    position: int | None
    seen_ms: int | None
    until_ms: int | None
    banned: bool

    @classmethod
    def of(cls, sighting: Sighting) -> Self:
        """Return a sighting as JSON."""
        person = sighting.person
        return cls(
            room=person.room,
            id=person.id,
            short_code=code_of(person.id),
            state=person.state,
            reason=sighting.reason,
            since_ms=sighting.since_ms,
            position=person.position,
            seen_ms=person.seen_ms,
            until_ms=person.until_ms,
            banned=person.banned,
        )


class StepBody(BaseModel):
    """Something that happened to a person."""

    at_ms: int
    kind: str = Field(description="called, entered, ended, reinstated, placed; gap: some may lack.")
    reason: Reason | None


class PersonBody(SightingBody):
    """One person, and what happened to them."""

    steps: list[StepBody] = Field(description="Oldest first, from events and the archive.")
    steps_since_ms: int | None = Field(
        description="Steps from before are not known; null if all of them are."
    )


class Find(Strict):
    """Whom to look for."""

    q: str = Field(
        min_length=1,
        max_length=LONGEST_WORDS,
        description="A short code in any spelling, an id, a whole ticket or an account.",
    )


class FindingsBody(BaseModel):
    """All people who were found, waiting ones first."""

    matches: list[SightingBody]
    more: bool = Field(description="50 were found, and there may be others.")


class Reinstate(Strict):
    """Give somebody their place back."""

    ticket: str = Field(
        min_length=1,
        max_length=LONGEST_TICKET,
        description="An id, a short code, an account or, best, the whole ticket.",
    )
    lift_ban: bool = False
    force: bool = Field(False, description="Somebody unknown too, at the end of the line.")
    op_id: OpId = None


class ReinstatedBody(BaseModel):
    """Where the person stands again."""

    ticket_id: str
    short_code: str
    position: int
    waiting: int
