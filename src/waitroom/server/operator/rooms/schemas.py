"""The JSON of rooms and their policies, as pydantic models: they make the OpenAPI document.

Fields of a policy come from `Policy` itself, so that a field added there is here too.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from pydantic import BaseModel, Field, create_model

from waitroom.estimate.methods import Wait
from waitroom.models import (
    CHOICES,
    ROOM_NAME,
    Policy,
    Room,
    Stats,
)
from waitroom.server.operator.api import OpId, Shown, Strict

_TYPES: dict[str, Any] = {
    "people": int,
    "seconds": float,
    "yes or no": bool,
    "texts": dict[str, dict[str, str]],
}
_NEVER_NULL = {*CHOICES, "renewable", "once", "recover_s", "max_defers"}


def _fields(*, optional: bool) -> dict[str, Any]:
    """Return the fields of a policy with their documentation.

    `Policy` itself checks the ranges, because its errors say what is allowed.
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
    """Return the allowed values of a field as JSON Schema; the type says whether null is one."""
    if spec.name in CHOICES:
        return {"enum": [str(word) for word in CHOICES[spec.name]]}
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
        """Make the body of an estimate."""
        return wait and cls(low=wait.low, likely=wait.likely, high=wait.high)


class StatsBody(Shown):
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


class StatsNow(StatsBody):
    """A room at a glance, with the wait of a newcomer."""

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
        """Make the body of a room and its numbers."""
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
    """A room to create."""

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
    """Which change to undo; without either, the last one."""

    entry: str | None = Field(None, max_length=40, description="Its id in the audit log.")
    version: int | None = Field(None, description="The version that the change made.")


class RoomUndone(RoomChanged):
    """A room after an undo."""

    undoes: str = Field(description="The id of the change in the audit log.")


class Clear(Strict):
    """Empty a room."""

    confirm: str = Field(description="The room's name: nobody gets their place back.")
    op_id: OpId = None


class Cleared(BaseModel):
    """How many people the room held."""

    cleared: int
