"""The JSON of the desk's API for hosts and admins, as pydantic models."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from waitroom.desk.models import OnSite, Source, Status, StoreMode
from waitroom.server.desk.bodies.guest_schemas import Count, Moment, Size, StoreBody, Strict, Text

# What hosts send and see -----------------------------------------------------------------------


class CallNext(Strict):
    """Which party is next."""

    type: Text = Field(examples=["dine-in"])
    fits: Size | None = Field(None, description="Only call a party of at most this size.")
    expected: int | None = Field(
        None, description="The party that the host saw as next; 409 if it is another one now."
    )


class Act(Strict):
    """What a host saw of the party."""

    revision: int | None = Field(
        None, description="Of the party as it was seen; 409 `party_moved` if it is another now."
    )


class HostPlaces(Act):
    """How far back, and what a host saw of the party."""

    places: Count = Field(examples=[2])


class WalkIn(Strict):
    """A party that a host adds."""

    type: Text = Field(examples=["dine-in"])
    size: Size = Field(examples=[2])
    name: Text | None = None
    phone: Text | None = None
    note: Text | None = None
    remote: bool = Field(False, description="Whether they called and are not there yet.")
    force: bool = Field(True, description="Also where the store is paused, full or closing.")


class PartyBody(BaseModel):
    """A party as the hosts see it."""

    id: int
    number: int
    type: str
    day: str
    size: int
    name: str | None
    phone: str | None = Field(description="Masked.")
    note: str | None
    source: Source
    status: Status
    position: int = Field(description="1 is next; 0 if it does not wait.")
    wait_minutes: int | None
    waited_minutes: int = Field(description="Until now, or until it was seated or gone.")
    teams_ahead: int
    defers: int
    revision: int
    registered_at: Moment
    called_at: Moment | None
    seated_at: Moment | None
    ended_at: Moment | None


class HostedLine(BaseModel):
    """A store's parties, and its lines."""

    store: StoreBody
    parties: list[PartyBody]
    recent: list[PartyBody] = Field(description="The last that ended, newest first, to undo them.")
    after: int | None = Field(None, description="With `?after=` of this the list goes on.")


class Acted(BaseModel):
    """The party after the action."""

    party: PartyBody | None = Field(description="Null if nobody (who fits) waits.")


class WalkedIn(BaseModel):
    """A party that a host added, with the guest's own page."""

    party: PartyBody
    token: str
    url: str


class ChangeBody(BaseModel):
    """One line of a party's history."""

    at: Moment
    action: str
    before: Status | None
    after: Status
    by: str = Field(description="`guest`, or the name of a key.")
    detail: dict[str, object]


class History(BaseModel):
    """What happened to a party, oldest first."""

    changes: list[ChangeBody]


class Phone(BaseModel):
    """A whole phone number."""

    phone: str | None


class OnSiteCode(BaseModel):
    """What the QR code at the store carries now."""

    code: str | None = Field(description="Null if the store has none.")
    url: str = Field(description="Where the QR code leads.")
    ends_at: Moment | None = Field(description="When the code ends; null if it does not.")


# What admins send and see ----------------------------------------------------------------------


class TypeChange(Strict):
    """A line as it should be; fields that are left out stay as they are, or get the default."""

    name: Text = Field(examples=["dine-in"])
    title: Text | None = None
    queue_limit: int | None = None
    largest_party: int | None = None


class StoreChange(Strict):
    """What to change; hosts may change all fields except those that say `admin`."""

    version: int | None = Field(None, description="As it was read; 409 if it is another now.")
    mode: Literal["open", "paused", "closed"] | None = None
    reason: Text | None = None
    closes_at: Text | None = Field(None, examples=["22:00"])
    max_defers: int | None = None
    remote: bool | None = None
    on_site: Literal["none", "poster", "rotating"] | None = None
    joins_per_hour: int | None = Field(None, description="From one address; null for no limit.")
    types: list[TypeChange] | None = Field(None, max_length=50)
    title: Text | None = Field(None, description="admin")
    time_zone: Text | None = Field(None, description="admin")
    country: Text | None = Field(
        None, examples=["KR"], description="admin; of phone numbers, two letters of ISO 3166"
    )
    keep_phones_days: int | None = Field(None, description="admin")
    webhook_url: Annotated[str, Field(max_length=2_000)] | None = Field(None, description="admin")
    webhook_secret: Text | None = Field(None, description="admin; never shown again")


class NewStore(StoreChange):
    """A store to create."""

    id: Text = Field(examples=["noodle-bar"], description="Part of addresses.")
    title: Text


class StoreRecord(BaseModel):
    """A store with its settings, as hosts and admins see it."""

    id: str
    title: str
    time_zone: str
    country: str
    mode: StoreMode
    reason: str | None
    closes_at: str | None
    max_defers: int
    remote: bool
    on_site: OnSite
    joins_per_hour: int | None
    keep_phones_days: int
    webhook_url: str | None = Field(description="Null to hosts.")
    webhook_signed: bool = Field(description="Whether there is a secret to sign with.")
    types: list[TypeBody]
    version: int
    created_at: Moment


class TypeBody(BaseModel):
    """A line's settings."""

    name: str
    title: str
    queue_limit: int | None
    largest_party: int


class Stores(BaseModel):
    """All stores."""

    stores: list[StoreRecord]


class NewHost(Strict):
    """A key to create."""

    name: Text = Field(examples=["front tablet"], description="Stands in the history.")


class HostKeyBody(BaseModel):
    """A host key, without its secret."""

    id: str
    name: str
    created_at: Moment


class HostKeyMade(HostKeyBody):
    """A new host key."""

    key: str = Field(description="`wrh_…`; shown only here.")


class HostKeysBody(BaseModel):
    """The host keys of a store."""

    hosts: list[HostKeyBody]
