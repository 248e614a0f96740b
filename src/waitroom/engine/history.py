"""A room's past: spans of a minute and of ten, in two streams beside its other keys.

No script knows these keys: they outlive an idle room and a `clear`, and go with the room or when
nothing is written for as long as they are kept. Spans are made of what is kept for a shorter time,
minutes of samples and tens of minutes, so every process makes the same one; its id is its
beginning, and the server refuses whoever comes second. While a clock that went back has not caught
up, nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from redis.exceptions import ResponseError

from waitroom.engine import keys
from waitroom.engine.protocol import replies
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
_MOST_READ = 5_000


class RoomHistory:
    """The past of all rooms."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    async def keep(self, room: str, now_ms: int) -> int | None:
        """Write the spans that are over and not written yet; return when the next one is."""
        next_ms = [await self._keep(room, step, now_ms) for step in Step]
        return min((at_ms for at_ms in next_ms if at_ms is not None), default=None)

    async def _keep(self, room: str, step: Step, now_ms: int) -> int | None:
        """Write the spans of one step; return when one is over that has begun."""
        key = keys.room_key(room, _KEYS[step])
        (newest,) = _good(await self._runner.reads([("XREVRANGE", key, "+", "-", "COUNT", "1")]))
        since_ms = max(_at(newest[0]) + step.span_ms if newest else 0, now_ms - step.kept_ms)
        spans = await self._made(room, step, since_ms)
        over = [span for span in spans if span.at_ms + step.span_ms <= now_ms]
        for span in over:
            await self._write(key, span, MOST[step])
        if over:
            await self._runner.command("EXPIRE", key, step.kept_ms // 1000)
            await self._forget_if_dropped(room)
        pending = [span.at_ms + step.span_ms for span in spans[len(over) :]]
        return min(pending, default=None)

    async def _made(self, room: str, step: Step, since_ms: int) -> list[HistoryPoint]:
        """Make the spans from a moment on, the last of which may not be over."""
        source = "series" if step is Step.MINUTE else _KEYS[Step.MINUTE]
        key = keys.room_key(room, source)
        command = ("XRANGE", key, str(max(0, since_ms)), "+", "COUNT", str(_MOST_READ))
        (entries,) = _good(await self._runner.reads([command]))
        return folded(_read(entries, step, since_ms), step)

    async def _write(self, key: str, span: HistoryPoint, most: int) -> None:
        entry_id = f"{span.at_ms}-0"
        try:
            await self._runner.command("XADD", key, "MAXLEN", most, entry_id, "v", packed(span))
        except ResponseError as error:
            if "equal or smaller" not in str(error):  # else another process was quicker
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
        """Return the spans that begin between two moments, quiet ones and the present included."""
        first_ms = step.start(max(since_ms, now.now_ms - step.kept_ms))
        last_ms = min(until_ms, now.now_ms)
        if last_ms < first_ms:
            return ()
        key = keys.room_key(room, _KEYS[step])
        commands: list[tuple[str, ...]] = [
            ("XREVRANGE", key, str(max(0, first_ms - 1)), "-", "COUNT", "1"),
            ("XRANGE", key, str(max(0, first_ms)), str(last_ms), "COUNT", str(_MOST_READ)),
            ("XREVRANGE", key, "+", "-", "COUNT", "1"),
        ]
        before, entries, newest = _good(await self._runner.reads(commands))
        points = [_unpacked(entry, step) for entry in (*before, *entries)]
        open_ms = _at(newest[0]) + step.span_ms if newest else now.now_ms - step.kept_ms
        if last_ms >= open_ms:
            points += await self._latest(room, step, open_ms)
        return tuple(point for point in filled(points, now) if first_ms <= point.at_ms <= last_ms)

    async def _latest(self, room: str, step: Step, since_ms: int) -> list[HistoryPoint]:
        """Make the spans that are not written yet."""
        if step is Step.MINUTE:
            return await self._made(room, step, since_ms)
        key = keys.room_key(room, _KEYS[Step.MINUTE])
        command = ("XRANGE", key, str(max(0, since_ms)), "+", "COUNT", str(_MOST_READ))
        (entries,) = _good(await self._runner.reads([command]))
        minutes = [_unpacked(entry, Step.MINUTE) for entry in entries]
        open_ms = minutes[-1].at_ms + Step.MINUTE.span_ms if minutes else since_ms
        minutes += await self._made(room, Step.MINUTE, open_ms)
        return folded(minutes, step)


def _good(answers: list[Any]) -> list[Any]:
    """Return answers, unless a key holds another type than ours."""
    for answer in answers:
        if isinstance(answer, Exception):
            raise BrokenRoom(replies.WRONG_TYPE.format("a key")) from answer
    return answers


def _at(entry: Any) -> int:
    return int(entry[0].partition(b"-")[0])


def _read(entries: Iterable[Any], step: Step, since_ms: int) -> Iterator[HistoryPoint]:
    """Read what the spans of a step are made of."""
    for entry in entries:
        if step is Step.TEN:
            yield _unpacked(entry, Step.MINUTE)
            continue
        # The id of a sample is its time, or later where the clock went back.
        sample = replies.sampled(_fields(entry[1]))
        if sample.at_ms >= since_ms:
            yield point_of(sample)


def _fields(given: Any) -> dict[bytes, bytes]:
    """Return the fields of an entry; a plain command gives them as a list."""
    return given if isinstance(given, dict) else dict(zip(given[::2], given[1::2], strict=True))


# An entry is a few numbers of seven bits to the byte, the lowest first, as Protocol Buffers have
# them: a history of big numbers must fit. One that may be None is written one higher.


def packed(point: HistoryPoint) -> bytes:
    """Return a span as an entry of its stream."""
    limit = None if point.per_minute is None else round(point.per_minute * 1000)
    woke_s = None if point.woke_ms is None else point.woke_ms // 1000
    maybe = (point.waited_s, point.told_s, point.capacity, limit, woke_s)
    numbers = [_FORMAT, _MODES.index(point.mode)]
    numbers += [getattr(point, name) for name in (*_PEOPLE, *COUNTERS)]
    numbers += [0 if number is None else number + 1 for number in maybe]
    return b"".join(map(_varint, numbers))


def _varint(number: int) -> bytes:
    octets = bytearray()
    while number > 0x7F:
        octets.append(number & 0x7F | 0x80)
        number >>= 7
    octets.append(number)
    return bytes(octets)


def _numbers(octets: bytes) -> Iterator[int]:
    number = shift = 0
    for octet in octets:
        number |= (octet & 0x7F) << shift
        shift += 7
        if octet < 0x80:
            yield number
            number = shift = 0


def _unpacked(entry: Any, step: Step) -> HistoryPoint:
    """Read an entry; fields that a newer version adds at its end are left out."""
    _, mode, *numbers = _numbers(_fields(entry[1])[b"v"])
    names = (*_PEOPLE, *COUNTERS)
    people: dict[str, Any] = dict(zip(names, numbers, strict=False))
    maybe = [number - 1 if number else None for number in numbers[len(names) :][:5]]
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
