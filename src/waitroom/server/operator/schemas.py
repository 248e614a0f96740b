"""The JSON of the operator API, as pydantic models: they make the OpenAPI document.

Fields of a policy come from `Policy` itself, so that one which is added there is here too.
"""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from waitroom.credentials.api_keys import ApiKey
from waitroom.credentials.roles import Role
from waitroom.engine.audit import Entry
from waitroom.estimate.methods import Wait
from waitroom.models import (
    ROOM_NAME,
    BeforeOpen,
    Eta,
    Listed,
    Mode,
    Page,
    Policy,
    Room,
    Sample,
    State,
    Stats,
    WhenAway,
)
from waitroom.short_codes import code_of

OpId = Annotated[
    str | None,
    Field(pattern=r"^[A-Za-z0-9._:-]{1,64}$", description="Repeating it does nothing twice."),
]


class Strict(BaseModel):
    """A body: unknown fields are typos, and text is not a number."""

    model_config = ConfigDict(extra="forbid", strict=True)


_TYPES: dict[str, Any] = {
    "people": int,
    "seconds": float,
    "yes or no": bool,
    "texts": dict[str, dict[str, str]],
}
_ENUMS: dict[str, type[StrEnum]] = {
    "mode": Mode,
    "before_open": BeforeOpen,
    "eta": Eta,
    "when_away": WhenAway,
}
_NEVER_NULL = {*_ENUMS, "renewable", "recover_s", "max_defers"}


def _fields(*, optional: bool) -> dict[str, Any]:
    """Return the fields of a policy with their documentation.

    `Policy` itself checks the ranges, because it says better what is allowed.
    """
    fields: dict[str, Any] = {}
    for spec in dataclasses.fields(Policy):
        kind: Any = _TYPES.get(spec.metadata["unit"], str)
        kind = kind if spec.name in _NEVER_NULL else kind | None
        field = Field(
            None if optional else ...,
            description=spec.metadata["about"],
            json_schema_extra=_allowed(spec) if optional else None,
        )
        fields[spec.name] = (kind, field)
    return fields


def _allowed(spec: dataclasses.Field[Any]) -> dict[str, Any]:
    """Return what a field takes, in the words of JSON Schema; null is as the type says."""
    if spec.name in _ENUMS:
        return {"enum": [str(word) for word in _ENUMS[spec.name]]}
    if spec.metadata["unit"] == "yes or no":
        return {}
    if spec.metadata["unit"] == "moment":
        return {"format": "date-time"}
    if spec.metadata["unit"] == "texts":
        return {}
    low, high = spec.metadata["low"], spec.metadata["high"]
    if spec.metadata["unit"] == "text":
        return {"minLength": low, "maxLength": high}
    return {"minimum": low, "maximum": high}


PolicyBody: type[BaseModel] = create_model(
    "Policy", __doc__="The whole policy of a room; null is no limit.", **_fields(optional=False)
)
PolicyChanges: type[BaseModel] = create_model(
    "PolicyChanges",
    __base__=Strict,
    __doc__="Fields of a policy to change; null removes a limit.",
    **_fields(optional=True),
)


class WaitBody(BaseModel):
    """An estimate, in seconds."""

    low: int
    likely: int
    high: int

    @classmethod
    def of(cls, wait: Wait | None) -> WaitBody | None:
        """Make one of an estimate."""
        return wait and cls(low=wait.low, likely=wait.likely, high=wait.high)


class StatsBody(BaseModel):
    """A room at a glance."""

    waiting: int
    called: int
    inside: int
    entries_in_window: int
    hold_until_ms: int | None
    oldest_wait_ms: int
    may_return: int = Field(
        description="Dropped for silence; a poll gives them their place back, past `queue_limit`."
    )
    counters: dict[str, int] = Field(description="Since the room was made.")
    now_ms: int

    @classmethod
    def of(cls, stats: Stats) -> StatsBody:
        """Make one of a room's numbers."""
        return cls(**{name: getattr(stats, name) for name in cls.model_fields})


class StatsNow(StatsBody):
    """A room at a glance, with what a newcomer would wait."""

    eta_s: WaitBody | None


class RoomBody(BaseModel):
    """A room with its policy and its numbers."""

    name: str
    version: int = Field(description="Goes up with every change of the policy.")
    epoch: int = Field(description="When it was made or last cleared, in µs.")
    message_at_ms: int | None = Field(description="When its message was set, if that is known.")
    policy: PolicyBody  # type: ignore[valid-type]
    stats: StatsBody

    @classmethod
    def of(cls, room: Room, stats: Stats) -> RoomBody:
        """Make one of a room and its numbers."""
        return cls(
            name=room.name,
            version=room.version,
            epoch=room.epoch,
            message_at_ms=room.message_at_ms,
            policy=PolicyBody(**room.policy.as_dict()),
            stats=StatsBody.of(stats),
        )


class RoomProblem(BaseModel):
    """A room that cannot be shown."""

    name: str
    code: str
    detail: str


class RoomsBody(BaseModel):
    """A page of rooms, by name."""

    rooms: list[RoomBody]
    problems: list[RoomProblem]
    after: str | None = Field(description="The cursor of the next page; null on the last.")


class NewRoom(Strict):
    """A room to make."""

    name: str = Field(json_schema_extra={"pattern": f"^{ROOM_NAME.pattern}$"})
    preset: str | None = Field(None, description="batch, manual, slots, desk or per-minute")
    policy: PolicyChanges | None = None  # type: ignore[valid-type]


class RoomChange(Strict):
    """A change of a policy."""

    version: int | None = Field(None, description="Change nothing unless it has this version.")
    policy: PolicyChanges  # type: ignore[valid-type]


class FieldChange(BaseModel):
    """A field before and after."""

    old: Any
    new: Any


class RoomChanged(RoomBody):
    """A room after a change, and what changed."""

    changed: dict[str, FieldChange]


class Undo(Strict):
    """Which change to take back; without either, the last one."""

    entry: str | None = Field(None, max_length=40, description="Its id in the audit log.")
    version: int | None = Field(None, description="The version that the change made.")


class RoomUndone(RoomChanged):
    """A room after a change was taken back."""

    undoes: str = Field(description="The id of the change in the audit log.")


class Admit(Strict):
    """Call the first people of the line."""

    count: int = Field(ge=1, le=1_000_000)
    force: bool = Field(False, description="Even above limits, while paused or on hold.")
    op_id: OpId = None


class Admitted(BaseModel):
    """How many were called: fewer where limits leave no room."""

    called: int
    waiting: int


class Call(Strict):
    """Call one ticket, wherever it stands."""

    ticket_id: str = Field(min_length=1, max_length=64, description="An id or a short code.")
    force: bool = False
    op_id: OpId = None


class Called(BaseModel):
    """Until when a called ticket may enter; null is without limit."""

    ticket_id: str
    enter_by_ms: int | None


class Kick(Strict):
    """Remove named tickets, or those waiting by how long they have."""

    ticket_ids: list[Annotated[str, Field(min_length=1, max_length=64)]] | None = Field(
        None, min_length=1, max_length=500
    )
    older_than_s: float | None = Field(None, ge=0, le=31_622_400)
    newer_than_s: float | None = Field(None, ge=0, le=31_622_400)
    ban: bool = Field(False, description="Named tickets cannot join again, until kicked without.")
    op_id: OpId = None


class KickedBody(BaseModel):
    """How many were meant, and how many of them were in the room."""

    found: int
    kicked: int = Field(description="The others are noted: they come back to no place they had.")
    more: bool = Field(description="By age one request removes up to 10,000; repeat it for more.")


class Clear(Strict):
    """Empty a room."""

    confirm: str = Field(description="The room's name: nobody gets their place back.")
    op_id: OpId = None


class Cleared(BaseModel):
    """How many the room held."""

    cleared: int


class NewNote(Strict):
    """A note on the timeline of a room."""

    text: str = Field(
        min_length=1, max_length=4_000, description="One line of up to 500 characters."
    )


class NoteMade(BaseModel):
    """A note that was written."""

    id: str = Field(description="Of its entry in the audit log.")


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
        """Make ticket of a line of `list`."""
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


class SampleBody(BaseModel):
    """A room at a moment; the counters go up only."""

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

    @classmethod
    def of(cls, sample: Sample) -> SampleBody:
        """Make sample of a sample."""
        return cls(**{name: getattr(sample, name) for name in cls.model_fields})


class SeriesBody(BaseModel):
    """Samples, oldest first."""

    samples: list[SampleBody]


class AuditLine(BaseModel):
    """Who did what."""

    id: str
    at_ms: int
    key_id: str
    key_name: str
    role: str
    way: str = Field(description="How they reached us: api, page, cli or config.")
    action: str
    room: str | None
    detail: dict[str, Any]
    address: str

    @classmethod
    def of(cls, entry: Entry) -> AuditLine:
        """Make entry of an entry of the log."""
        return cls(**{name: getattr(entry, name) for name in cls.model_fields})


class AuditBody(BaseModel):
    """A page of the audit log, newest first."""

    entries: list[AuditLine]
    before: str | None


class NewKey(Strict):
    """An API key to make."""

    # JSON has no enums, so a role is read from its word.
    model_config = ConfigDict(extra="forbid", strict=False)
    name: str = Field(min_length=1, max_length=80, strict=True)
    role: Role = Role.VIEWER


class KeyBody(BaseModel):
    """An API key, without its secret."""

    id: str
    name: str
    role: Role
    created_ms: int

    @classmethod
    def of(cls, key: ApiKey) -> KeyBody:
        """Make key of a key's record."""
        return cls(id=key.id, name=key.name, role=key.role, created_ms=key.created_ms)


class KeyMade(KeyBody):
    """A new API key: the only time that its text is shown."""

    key: str


class KeysBody(BaseModel):
    """All stored keys."""

    keys: list[KeyBody]


ListState = Literal["waiting", "called", "inside"]
