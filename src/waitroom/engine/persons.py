"""One person according to a room's keys: where they are, or what is noted about their past."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from waitroom.engine import keys
from waitroom.engine.endings import FOREVER
from waitroom.engine.protocol.reply import WRONG_TYPE
from waitroom.engine.runner import Runner
from waitroom.errors import BrokenRoom
from waitroom.models import Person, Reason, State

_SCORES = ("waiting", "called", "inside", "swept", "gone", "kicked", "swept_at")
_READS = len(_SCORES) + 4


async def look(runner: Runner, room: str, ids: Sequence[str], *, hidden: bool) -> list[Person]:
    """Return what the room knows of each ticket; no place and no order if those are hidden."""
    commands: list[tuple[str, ...]] = [
        ("HMGET", keys.room_key(room, "meta"), "offset", "restoring_until", "alive_at")
    ]
    for ticket_id in ids:
        commands += [("ZSCORE", keys.room_key(room, name), ticket_id) for name in _SCORES]
        commands.append(("ZRANK", keys.room_key(room, "waiting"), ticket_id))
        commands += [
            ("HGET", keys.room_key(room, name), ticket_id) for name in ("seen", "sids", "moved")
        ]
    answers = await runner.reads(commands)
    if any(isinstance(answer, Exception) for answer in answers):
        raise BrokenRoom(WRONG_TYPE.format("a key"))
    offset_ms, restoring_until, alive_at = (int(float(value or 0)) for value in answers[0])
    shown = not hidden and restoring_until <= alive_at
    facts = [answers[at : at + _READS] for at in range(1, len(answers), _READS)]
    return [
        _person(room, ticket_id, answers_of, offset_ms // 1000, shown=shown)
        for ticket_id, answers_of in zip(ids, facts, strict=True)
    ]


def _person(room: str, ticket_id: str, facts: list[Any], offset_ms: int, *, shown: bool) -> Person:
    numbers = [None if fact is None else int(float(fact)) for fact in facts[: len(_SCORES) + 1]]
    waiting, called, inside, swept, gone, kicked, swept_ms, rank = numbers
    seen, sid, moved = facts[len(_SCORES) + 1 :]
    defers, _, moved_place = (moved or b"0:0").decode().partition(":")
    deadline = called if called is not None else inside
    state, reason = State.GONE, None
    if waiting is not None:
        state = State.WAITING
    elif deadline is not None:
        state = State.CALLED if called is not None else State.INSIDE
    elif kicked is not None:
        reason = Reason.KICKED
    elif swept is not None:
        reason = Reason.ABANDONED
    elif gone is not None:
        reason = Reason.LEFT
    places = [place for place in (waiting, swept, gone, int(moved_place) or None) if place]
    return Person(
        room=room,
        id=ticket_id,
        state=state,
        reason=reason,
        place=places[0] if places and shown else None,
        position=rank + 1 if rank is not None and shown else None,
        seen_ms=int(float(seen)) * 1000 - offset_ms if seen else None,
        until_ms=_wall(deadline, offset_ms),
        sid=int(sid) if sid else None,
        defers=int(defers),
        kicked_ms=_wall(kicked, offset_ms),
        dropped_ms=_wall(swept_ms, offset_ms),
        banned=kicked is not None and kicked >= FOREVER,
        known=bool(moved) or any(number is not None for number in numbers),
    )


def _wall(room_ms: int | None, offset_ms: int) -> int | None:
    return None if room_ms is None or room_ms >= FOREVER else room_ms - offset_ms
