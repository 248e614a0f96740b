"""The fields of a policy by kind, and how one is refused."""

from __future__ import annotations

import dataclasses

import pytest

from waitroom.errors import InvalidPolicy
from waitroom.models import Policy

SPECS = {spec.name: spec for spec in dataclasses.fields(Policy)}
PARTNER = {"batch": "every_s", "every_s": "batch", "max_entries": "per_s", "per_s": "max_entries"}


def refused(name: str, value: object) -> str:
    """Return the message with which a policy refuses `value`; check that it names the field."""
    partner = {PARTNER[name]: 1} if name in PARTNER else {}
    with pytest.raises(InvalidPolicy) as caught:
        Policy(**{name: value, **partner})  # type: ignore[arg-type]
    assert name == caught.value.field
    assert str(caught.value).startswith(f"{name}: ")
    return str(caught.value)
