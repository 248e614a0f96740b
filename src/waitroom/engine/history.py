"""A room's past: spans of one minute and of ten minutes, in two streams beside its other keys.

No script knows these keys: they outlive an idle room and a `clear`. They are deleted with the room,
or when nothing is written for as long as they are kept. Spans are made from data kept for a shorter
time: minutes from samples, tens from minutes. So every process makes the same span. A span's id is
its beginning, and the server refuses the second process that writes it.

Ids can only grow. After a clock that was ahead, the first number of an id stays the same, and the
second is the beginning of the span; see `_at`. A span that exists is not written again.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Iterable, Iterator
from typing import Any

from redis.exceptions import ResponseError

from waitroom.engine import keys
from waitroom.engine.protocol import streams
from waitroom.engine.protocol.reply import WRONG_TYPE
from waitroom.engine.runner import Runner
from waitroom.errors import BrokenRoom
from waitroom.history import COUNTERS, HistoryPoint, Step, filled, folded, point_of
from waitroom.models import Mode, Stats

_KEYS = {Step.MINUTE: "minutes", Step.TEN: "tens"}
MOST = {Step.MINUTE: 2_880, Step.TEN: 4_320}
"""How many spans are kept: two days of minutes, thirty days of tens."""

_FORMAT = 1
_MODES = (None, *Mode)
_PEOPLE = ("waiting", "called", "inside", "most_waiting")
_NAMES = (*_PEOPLE, *COUNTERS)
# Format, mode; people; counters; waited, told, capacity; per minute × 1000; woke, in s.
_ENTRY = struct.Struct("<BB4I9Q3IQI")
_MOST_READ = 5_000


class RoomHistory:
    """The past of all rooms."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    async def keep(self, room: str, now_ms: int) -> int | None:
        """Write the spans that are over but not yet written; return when the next one is over."""
        next_ms = [await self._keep(room, step, now_ms) for step in Step]
        return min((at_ms for at_ms in next_ms if at_ms is not None), default=None)

    async def _keep(self, room: str, step: Step, now_ms: int) -> int | None:
        """Write the spans of one step; return when the span that has begun is over."""
        key = keys.room_key(room, _KEYS[step])
        (newest,) = _good(await self._runner.reads([("XREVRANGE", key, "+", "-", "COUNT", "1")]))
        since_ms = now_ms - step.kept_ms
        if newest:
            last_ms = _at(newest[0])
            after_ms = last_ms + step.span_ms
            is_ahead = last_ms > now_ms  # the clock was: only the span that is just over counts
            since_ms = max(since_ms, step.start(now_ms) - step.span_ms if is_ahead else after_ms)
        spans = await self._made(room, step, since_ms)
        over = [span for span in spans if span.at_ms + step.span_ms <= now_ms]
        top_ms = _id_ms(newest[0]) if newest else 0
        for span in over:
            await self._write(key, span, top_ms, MOST[step])
        if over:
            await self._runner.command("EXPIRE", key, step.kept_ms // 1000)
            await self._forget_if_dropped(room)
        begun = [span.at_ms + step.span_ms for span in spans if span.at_ms <= now_ms]
        return next((end_ms for end_ms in begun if end_ms > now_ms), None)

    async def _made(self, room: str, step: Step, since_ms: int) -> list[HistoryPoint]:
        """Make the spans from a moment on; the last one may not be over yet."""
        source = "series" if step is Step.MINUTE else _KEYS[Step.MINUTE]
        points = _read(await self._entries(room, source, since_ms), step)
        return folded((point for point in points if point.at_ms >= since_ms), step)

    async def _entries(self, room: str, name: str, since_ms: int) -> list[Any]:
        """Return the entries from a moment on; an id is never before the time of its entry."""
        start, most = str(max(0, since_ms)), str(_MOST_READ)
        command = ("XRANGE", keys.room_key(room, name), start, "+", "COUNT", most)
        (entries,) = _good(await self._runner.reads([command]))
        return list(entries)

    async def _write(self, key: str, span: HistoryPoint, top_ms: int, most: int) -> None:
        """Write a span after an entry whose id begins with `top_ms`, unless it exists."""
        entry_id = f"{span.at_ms}-0"
        if span.at_ms <= top_ms:
            if await self._runner.command("XRANGE", key, entry_id, entry_id):
                return
            entry_id = f"{top_ms}-{span.at_ms}"
        try:
            await self._runner.command("XADD", key, "MAXLEN", most, entry_id, "v", packed(span))
        except ResponseError as error:
            if "equal or smaller" not in str(error):  # otherwise another process was quicker
                raise

    async def _forget_if_dropped(self, room: str) -> None:
        """Undo a write that came after the room was dropped: nobody else would."""
        dropped = await self._runner.command("HGET", keys.room_key(room, "meta"), "dropped")
        if dropped is not None:
            await self.forget(room)

    async def forget(self, room: str) -> None:
        """Forget a room that was dropped."""
        names = [keys.room_key(room, name) for name in _KEYS.values()]
        await self._runner.command("UNLINK", *names)

    async def read(
        self, room: str, since_ms: int, until_ms: int, step: Step, now: Stats
    ) -> tuple[HistoryPoint, ...]:
        """Return the spans that begin between two moments, including quiet ones and the present."""
        first_ms = step.start(max(since_ms, now.now_ms - step.kept_ms))
        last_ms = min(until_ms, now.now_ms)
        if last_ms < first_ms:
            return ()
        key, before_ms = keys.room_key(room, _KEYS[step]), str(max(0, first_ms - 1))
        command = ("XREVRANGE", key, before_ms, "-", "COUNT", "1")
        (before,) = _good(await self._runner.reads([command]))
        entries = await self._entries(room, _KEYS[step], first_ms)
        # In a thread: thousands of spans must not keep this process's visitors waiting.
        points = await asyncio.to_thread(_known, (*before, *entries), step, now.now_ms)
        open_ms = max(points, default=now.now_ms - step.kept_ms - step.span_ms) + step.span_ms
        if last_ms >= open_ms:
            points |= {point.at_ms: point for point in await self._latest(room, step, open_ms)}
        return await asyncio.to_thread(_between, points, now, first_ms, last_ms)

    async def _latest(self, room: str, step: Step, since_ms: int) -> list[HistoryPoint]:
        """Make the spans that are not written yet."""
        if step is Step.MINUTE:
            return await self._made(room, step, since_ms)
        minutes = [*_read(await self._entries(room, _KEYS[Step.MINUTE], since_ms), step)]
        minutes = [point for point in minutes if point.at_ms >= since_ms]
        open_ms = minutes[-1].at_ms + Step.MINUTE.span_ms if minutes else since_ms
        minutes += await self._made(room, Step.MINUTE, open_ms)
        return folded(minutes, step)


def _known(entries: Iterable[Any], step: Step, now_ms: int) -> dict[int, HistoryPoint]:
    """Return spans by their beginning, without those from a clock that was ahead."""
    points = (_unpacked(entry, step) for entry in entries)
    return {point.at_ms: point for point in points if point and point.at_ms <= now_ms}


def _between(
    points: dict[int, HistoryPoint], now: Stats, first_ms: int, last_ms: int
) -> tuple[HistoryPoint, ...]:
    """Return the spans that begin between two moments, with quiet ones filled in."""
    ordered = (points[at_ms] for at_ms in sorted(points))
    return tuple(point for point in filled(ordered, now) if first_ms <= point.at_ms <= last_ms)


def _good(answers: list[Any]) -> list[Any]:
    """Return the answers, unless a key has a type that is not ours."""
    for answer in answers:
        if isinstance(answer, Exception):
            raise BrokenRoom(WRONG_TYPE.format("a key")) from answer
    return answers


def _id_ms(entry: Any) -> int:
    return int(entry[0].partition(b"-")[0])


def _at(entry: Any) -> int:
    """Return when a span begins: the second number of its id, or the first if that is 0."""
    return int(entry[0].partition(b"-")[2]) or _id_ms(entry)


def _read(entries: Iterable[Any], step: Step) -> Iterator[HistoryPoint]:
    """Read what the spans of a step are made of."""
    for entry in entries:
        if step is Step.MINUTE:
            yield point_of(streams.sampled(_fields(entry[1])))
        elif (minute := _unpacked(entry, Step.MINUTE)) is not None:
            yield minute


def _fields(given: Any) -> dict[bytes, bytes]:
    """Return the fields of an entry; a plain command gives them as a list."""
    return given if isinstance(given, dict) else dict(zip(given[::2], given[1::2], strict=True))


def packed(point: HistoryPoint) -> bytes:
    """Return a span as an entry of its stream: numbers of fixed length, so that reading is quick.

    A number that may be None is written one higher.
    """
    limit = None if point.per_minute is None else round(point.per_minute * 1000)
    woke_s = None if point.woke_ms is None else point.woke_ms // 1000
    maybe = (point.waited_s, point.told_s, point.capacity, limit, woke_s)
    return _ENTRY.pack(
        _FORMAT,
        _MODES.index(point.mode),
        *(getattr(point, name) for name in _PEOPLE),
        *point.counters,
        *(0 if number is None else number + 1 for number in maybe),
    )


def _unpacked(entry: Any, step: Step) -> HistoryPoint | None:
    """Read an entry; None if another version wrote it in another format."""
    octets = _fields(entry[1]).get(b"v", b"")
    if len(octets) != _ENTRY.size or octets[0] != _FORMAT:
        return None
    _, mode, *numbers = _ENTRY.unpack(octets)
    people: dict[str, Any] = dict(zip(_NAMES, numbers, strict=False))
    maybe = (number - 1 if number else None for number in numbers[len(_NAMES) :])
    waited_s, told_s, capacity, limit, woke_s = maybe
    return HistoryPoint(
        at_ms=_at(entry),
        span_ms=step.span_ms,
        **people,
        waited_s=waited_s,
        told_s=told_s,
        mode=_MODES[mode] if mode < len(_MODES) else None,
        capacity=capacity,
        per_minute=None if limit is None else limit / 1000,
        woke_ms=None if woke_s is None else woke_s * 1000,
    )
