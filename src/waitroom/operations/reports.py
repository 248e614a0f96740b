"""What the report of a sale reads from Redis: history, counters and the audit log of a room."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from waitroom.engine import Engine
from waitroom.engine.audit import Entry
from waitroom.errors import InvalidInput, UnknownRoom
from waitroom.history import COUNTERS, HistoryPoint, Step, point_of
from waitroom.models import Stats
from waitroom.report.gather import Records
from waitroom.report.hands import Action

LONGEST_MS = Step.TEN.kept_ms
"""A report reaches back as far as the history does."""

_SAMPLE_MS = 5_000
_SAMPLES = 1_440  # two hours
_MOST_ACTIONS = 20_000


async def records_of(engine: Engine, room: str, since_ms: int, until_ms: int) -> Records:
    """Read what is known of a room; both times are moved to the beginning of a span."""
    now = await engine.stats(room)
    policy = engine.policy_of(room)
    if policy is None:
        raise UnknownRoom(room)
    _check(since_ms, until_ms, now.now_ms)
    step = Step.MINUTE if since_ms > now.now_ms - Step.MINUTE.kept_ms else Step.TEN
    since_ms = step.start(since_ms)
    until_ms = min(step.start(until_ms + step.span_ms - 1), now.now_ms)
    points = await engine.history(room, since_ms - step.span_ms, until_ms + step.span_ms, step)
    earlier = [point for point in points if point.at_ms + point.span_ms <= since_ms]
    within = [point for point in points if since_ms <= point.at_ms < until_ms]
    later = [point for point in points if point.at_ms >= until_ms]
    before = _counters(earlier[-1]) if earlier else None
    after, is_exact = _end(until_ms, now, within, later)
    actions = await _actions(engine, room, since_ms, until_ms)
    if before is None and any(action.action == "room.create" for action in actions):
        before = dict.fromkeys(COUNTERS, 0)
    return Records(
        room=room,
        since_ms=since_ms,
        until_ms=until_ms,
        policy=policy,
        points=await _fine(engine, room, since_ms, until_ms, now) or within,
        actions=actions,
        before=before,
        after=after,
        exact=is_exact and (not earlier or not within or _is_quiet(earlier[-1], within[0])),
        ongoing=until_ms == now.now_ms,
    )


def _check(since_ms: int, until_ms: int, now_ms: int) -> None:
    if until_ms <= since_ms:
        raise InvalidInput("until", "must be after the beginning")
    if since_ms >= now_ms:
        raise InvalidInput("since", "is yet to come")
    if since_ms < now_ms - LONGEST_MS:
        raise InvalidInput("since", "is more than 30 days ago; the history does not reach there")


def _end(
    until_ms: int, now: Stats, within: Sequence[HistoryPoint], later: Sequence[HistoryPoint]
) -> tuple[Mapping[str, int] | None, bool]:
    """Return the counters at the end, and whether they are exactly of that moment."""
    if until_ms >= now.now_ms:
        return {name: now.counters.get(name, 0) for name in COUNTERS}, True
    if not within:
        return None, False
    return _counters(within[-1]), bool(later) and _is_quiet(within[-1], later[0])


def _is_quiet(point: HistoryPoint, following: HistoryPoint) -> bool:
    """Return whether nothing happened around the border of two spans, which samples may miss."""
    return point.counters == following.counters


def _counters(point: HistoryPoint) -> dict[str, int]:
    return {name: getattr(point, name) for name in COUNTERS}


async def _fine(
    engine: Engine, room: str, since_ms: int, until_ms: int, now: Stats
) -> tuple[HistoryPoint, ...]:
    """Return samples of five seconds, if they reach back far enough.

    A sample shows the room at the end of its span.
    """
    if now.now_ms - since_ms > _SAMPLES * _SAMPLE_MS:
        return ()
    samples = await engine.series(room, since_ms=since_ms, limit=_SAMPLES)
    return tuple(
        dataclasses.replace(point_of(sample, _SAMPLE_MS), at_ms=sample.at_ms - _SAMPLE_MS)
        for sample in samples
        if sample.at_ms <= until_ms
    )


async def _actions(engine: Engine, room: str, since_ms: int, until_ms: int) -> tuple[Action, ...]:
    actions: list[Action] = []
    async for entries in engine.audit.since(since_ms):
        actions += [_action(entry) for entry in entries if entry.room == room]
        if not entries or entries[-1].at_ms > until_ms or len(actions) > _MOST_ACTIONS:
            break
    return tuple(action for action in actions[:_MOST_ACTIONS] if action.at_ms <= until_ms)


def _action(entry: Entry) -> Action:
    return Action(entry.at_ms, entry.key_name, entry.way, entry.action, entry.detail)
