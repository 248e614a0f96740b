"""The JSON of the desk's API, as pydantic models: what all routes share, and what guests see.

They check bodies and make the OpenAPI document; `host_schemas` has those of hosts and admins.
They check only shapes: the desk itself checks ranges, because its errors say what is allowed.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Header, Path
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from waitroom.desk.inputs import LARGEST_PARTY, MOST_PLACES
from waitroom.desk.models import Status, StoreMode

StoreId = Annotated[
    str,
    Path(description="The store.", examples=["noodle-bar"], pattern=r"^[^/]+$", max_length=100),
]
Token = Annotated[
    str,
    Path(
        description="What the guest got when they joined.",
        examples=["dine-in.AQd0…"],
        pattern=r"^[^/]+$",
        max_length=300,
    ),
]
PartyId = Annotated[int, Path(description="The party.", ge=1, le=2**53, examples=[57])]
Repeat = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="Repeating the call with it answers the same and does nothing twice.",
        min_length=16,
        max_length=128,
        pattern=r"^[ -~]+$",
    ),
]
Moment = Annotated[str, Field(description="RFC 3339 in UTC.")]
_MOST_TEXT = 500


def _between(least: int, most: int) -> dict[str, JsonValue]:
    """Document a range that the desk itself checks."""
    return {"minimum": least, "maximum": most}


Size = Annotated[int, Field(json_schema_extra=_between(1, LARGEST_PARTY))]
Count = Annotated[int, Field(json_schema_extra=_between(1, MOST_PLACES))]
Text = Annotated[str, Field(max_length=_MOST_TEXT)]
_Why = Annotated[
    str,
    Field(
        description="What a join gets: `store_closed`, `store_paused`, `line_full`, `past_closing`."
    ),
]


class Strict(BaseModel):
    """A body: an unknown field is a typo, and text is not a number."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewParty(Strict):
    """Who wants a table."""

    type: Text = Field(examples=["dine-in"], description="One of the store's lines.")
    size: Size = Field(examples=[2], description="How many people.")
    name: Text | None = None
    phone: Text | None = Field(None, description="Only the store's hosts see it, masked.")
    note: Text | None = None
    code: Text | None = Field(
        None, description="Of the QR code at the store. Without a good one they are not there yet."
    )


class Places(Strict):
    """How far back."""

    places: Count = Field(examples=[2], description="How many parties go first.")


class RangeBody(BaseModel):
    """An honest range of the wait, in minutes."""

    low: int
    likely: int
    high: int


class PlaceBody(BaseModel):
    """Where a party stands."""

    store: str
    type: str
    status: Status
    position: int = Field(description="1 is next; 0 if they do not wait.")
    waiting: int = Field(description="How many parties wait in this line.")
    wait_minutes: int | None = Field(description="Minutes per team × position.")
    observed: RangeBody | None = Field(description="What this line was seen to do, if known.")
    poll_after_ms: int = Field(description="Ask again after so long.")


class GuestParty(BaseModel):
    """A party as its guests see it."""

    number: int = Field(description="The number of the day: what is called out.")
    type: str
    size: int
    status: Status
    teams_ahead: int = Field(description="How many waited before it when it registered.")
    defers_left: int
    registered_at: Moment


class Joined(BaseModel):
    """A place in the line."""

    token: str = Field(description="Opaque; keep it secret, it is the place.")
    url: str = Field(description="The guest's own page.")
    party: GuestParty
    place: PlaceBody | None = Field(description="Null while the live line cannot be asked.")


class GuestAnswer(BaseModel):
    """The party after its guest's action."""

    party: GuestParty
    place: PlaceBody | None = Field(description="Null while the live line cannot be asked.")


class LineBody(BaseModel):
    """One of a store's lines."""

    type: str
    title: str
    waiting: int
    called: int
    wait_minutes: int | None = Field(description="For somebody who joined now.")
    observed: RangeBody | None
    largest_party: int
    queue_limit: int | None
    accepts: bool = Field(description="Whether a join would be taken.")
    why_not: _Why | None


class StoreBody(BaseModel):
    """A store as anybody may see it."""

    store: str
    title: str
    time_zone: str
    country: str = Field(description="Of phone numbers that are typed without a country code.")
    mode: StoreMode
    reason: str | None = Field(description="Why it is paused or closed.")
    closes_at: str | None = Field(description="Local time: nobody joins whose wait passes it.")
    remote: bool = Field(description="Whether guests may join from elsewhere.")
    max_defers: int
    accepts: bool = Field(description="Whether any of its lines would take a join.")
    why_not: _Why | None
    lines: list[LineBody]
    version: int = Field(description="Counts changes of the store's settings.")
    now: Moment
