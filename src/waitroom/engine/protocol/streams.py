"""Samples and events: what scripts write to a room's streams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from waitroom import history
from waitroom.engine.protocol.reply import Reply
from waitroom.models import Event, Mode, Reason, Sample

_NUMBERS = (*history.PEOPLE, *history.COUNTERS)
_MODES = {str(mode).encode(): mode for mode in Mode}


def sample(reply: Reply) -> Sample | None:
    """Read the reply of `sample`; None if no sample was due."""
    return None if reply.word == "not_due" else _sample(reply.fields)


def sampled(entry: Mapping[bytes, bytes]) -> Sample:
    """Read an entry of the stream of samples; older versions wrote fewer fields."""
    return _sample({name.decode(): value for name, value in entry.items()})


def _sample(fields: Mapping[str, Any]) -> Sample:
    waited_ms, told_s, capacity, per_minute, woke_at = (
        fields.get(name) or None
        for name in ("waited_ms", "told_s", "capacity", "per_minute", "woke_at")
    )
    return Sample(
        int(fields["at"]),
        **{name: int(fields.get(name, 0)) for name in _NUMBERS},
        waited_s=None if waited_ms is None else round(int(waited_ms) / 1000),
        told_s=None if told_s is None else int(told_s),
        mode=_MODES.get(fields.get("mode", b"")),
        capacity=None if capacity is None else int(capacity),
        per_minute=None if per_minute is None else float(per_minute),
        woke_ms=None if woke_at is None else int(woke_at),
    )


_REASONS = {str(reason): reason for reason in Reason}


def event(entry: Mapping[bytes, bytes]) -> Event:
    """Read an entry of the stream of events; a reason that only a newer Waitroom knows is None."""
    return Event(
        kind=entry[b"kind"].decode(),
        at_us=int(entry[b"at"]),
        ids=tuple(entry[b"ids"].decode().split()),
        reason=_REASONS.get(entry.get(b"reason", b"").decode()),
        places=tuple(map(int, entry.get(b"places", b"").split())),
        version=int(entry[b"version"]) if b"version" in entry else None,
    )
