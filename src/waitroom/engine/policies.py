"""How a policy is stored: one hash field per field, as text; '' means no limit or no text.

A moment is stored as Unix time, with its unit in the name of the hash field.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from waitroom.errors import BrokenRoom, InvalidPolicy
from waitroom.models import CHOICES, MOMENTS, POLICY_FIELDS, Policy
from waitroom.moments import from_ms, to_ms, written

_YES_OR_NO = {spec.name for spec in fields(Policy) if spec.metadata["unit"] == "yes or no"}
_WHOLE = {"capacity", "batch", "max_entries", "queue_limit", "max_defers"}
STORED = {name: f"{name}_ms" if name in MOMENTS else name for name in POLICY_FIELDS}
"""The hash field of each field of a policy."""
_TEXTS = {spec.name for spec in fields(Policy) if spec.metadata["unit"] == "text"}


def write(policy: Policy) -> list[str]:
    """Return name, value, name, value, ... for a script's ARGV."""
    flat: list[str] = []
    for name, stored in STORED.items():
        flat += (stored, _text(getattr(policy, name)))
    return flat


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if isinstance(value, datetime):
        return str(to_ms(value))
    return f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def read(raw: Mapping[bytes, bytes]) -> tuple[Policy, int]:
    """Return policy and version of a `config` hash; ignore fields of a newer Waitroom."""
    try:
        texts = {name.decode(): value.decode() for name, value in raw.items()}
        values = {
            name: _value(name, texts[stored]) for name, stored in STORED.items() if stored in texts
        }
        return Policy(**values), int(texts["version"])
    except (InvalidPolicy, KeyError, ValueError) as error:
        raise BrokenRoom(
            f"the key `config` of this room holds what we did not write ({error}): somebody else "
            "writes to it; delete the room's keys, or give Waitroom a database of its own"
        ) from error


def changes(flat: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return what a change did to each field, from name, old, new, ... as they are stored."""
    names = {stored: name for name, stored in STORED.items()}
    return {
        names[flat[i]]: {"old": _plain(names[flat[i]], old), "new": _plain(names[flat[i]], new)}
        for i in range(0, len(flat) - 2, 3)
        if flat[i] in names
        for old, new in ((flat[i + 1], flat[i + 2]),)
    }


def _plain(name: str, text: str) -> Any:
    value = _value(name, text)
    return written(value) if isinstance(value, datetime) else value


def message_at_ms(raw: Mapping[bytes, bytes]) -> int | None:
    """Return when the message of a `config` hash was set; None if that is not known."""
    text = raw.get(b"message_at", b"")
    return int(text) if text.isdigit() else None


def _value(name: str, text: str) -> Any:
    if name in CHOICES:
        return text
    if name in _YES_OR_NO:
        return text == "1"
    if text == "":
        return None
    if name in _TEXTS:
        return text
    if name == "texts":
        return json.loads(text)
    if name in MOMENTS:
        return from_ms(int(text))
    return int(text) if name in _WHOLE else float(text)
