"""Live events of the desk: one loop per process looks at all watched stores and feeds every stream.

Each step reads all revisions in one pipeline, however many stores and guests there are. If a store
has changed, its hosts get the line, made once for all of them, and its guests get their places.
Guests receive `place`, `store` (when it was opened, paused, closed or changed), `gone` and, like
hosts, `away` and `reconnect`; hosts receive `line`. Each event is the whole state, so a reconnect
misses nothing. While Redis is away, hosts see the record, and guests read that their place is kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from waitroom.desk.desk import Desk
from waitroom.desk.live.line import room_of
from waitroom.desk.models import Place, Store
from waitroom.errors import (
    BackendUnavailable,
    Forbidden,
    RecordUnavailable,
    Unauthorized,
    Unavailable,
    UnknownStore,
    WaitroomError,
)
from waitroom.server.desk.bodies.guests import place_body, store_body
from waitroom.server.desk.lines import read_line
from waitroom.server.desk.stream import Guest, Host, Listener
from waitroom.server.http import problems
from waitroom.server.http.event_stream import BEAT_S, SHARE_S, OpenStreams
from waitroom.server.rooms.backend_health import BackendHealth

log = logging.getLogger("waitroom.desk.stream")

LOOK_S = 0.3
"""How often revisions are read: a called guest is told within about this time."""

AWAY_S = 2.0
"""How often hosts get the line from the record alone while Redis is away."""

KEYS_S = 1.0
"""How often a host's key and session are checked: a sign-out ends a stream within 2 s."""

ENDED_S = 3.0
"""How often the place of a party that ended is read from the record."""

GONE_S = 900.0
"""How long the stream of a party that ended stays open: a host may undo the end."""

PLACE_S = 1.5
AGAIN_S = 1.0
"""How long until a failed step is tried again."""

_AT_ONCE = 500


@dataclass(slots=True, eq=False)
class Watched:
    """One store that somebody watches."""

    id: str
    guests: set[Guest] = field(default_factory=set)
    hosts: set[Host] = field(default_factory=set)
    store: Store | None = None
    revision: tuple[int, ...] | None = None
    new: set[Listener] = field(default_factory=set)
    """Streams that have not had an event of the store or the line yet."""

    dirty: bool = True
    """Whether hosts need the line, and guests the store (if it changed)."""

    task: asyncio.Task[None] | None = None
    """Sends what only the record knows, so that a slow database delays no guest."""

    told_at: float = 0.0
    news: tuple[Any, ...] = ()

    @property
    def rooms(self) -> list[str]:
        """The rooms of its lines."""
        return [room_of(self.id, line.name) for line in self.store.types] if self.store else []

    @property
    def listeners(self) -> set[Listener]:
        """Everybody who watches."""
        return {*self.guests, *self.hosts}


class DeskHub:
    """All streams of the desk in this process."""

    def __init__(
        self, desk: Desk, backend_health: BackendHealth, open_streams: OpenStreams
    ) -> None:
        self._desk = desk
        self._backend_health = backend_health
        self._open = open_streams
        self._watched: dict[str, Watched] = {}
        self._news = asyncio.Event()
        self._away = False
        self._checking: asyncio.Task[None] | None = None
        self._started: set[asyncio.Task[None]] = set()
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """End the loop and every stream."""
        tasks = [self._task, *self._started]
        for task in tasks:
            task.cancel()
        for listener in self._listeners():
            listener.reconnect()
        await asyncio.wait(tasks, timeout=1)

    def open(self, listener: Listener) -> None:
        """Add a stream, unless there are too many."""
        self._open.add(listener)
        watched = self._watched.get(listener.store)
        if watched is None:
            watched = self._watched[listener.store] = Watched(listener.store)
        if isinstance(listener, Guest):
            watched.guests.add(listener)
        elif isinstance(listener, Host):
            watched.hosts.add(listener)
        watched.new.add(listener)
        self._news.set()

    def close(self, listener: Listener) -> None:
        """Remove a stream."""
        self._open.remove(listener)
        watched = self._watched[listener.store]
        for listeners in (watched.guests, watched.hosts, watched.new):
            listeners.discard(listener)
        if not watched.guests and not watched.hosts:
            del self._watched[listener.store]

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run work that may use the database in its own task."""
        task = asyncio.create_task(work)
        self._started.add(task)
        task.add_done_callback(self._started.discard)
        return task

    def _listeners(self) -> list[Listener]:
        return [listener for watched in self._watched.values() for listener in watched.listeners]

    async def _run(self) -> None:
        while True:
            if not self._watched:
                await self._news.wait()
            try:
                await self._look()
            except Unavailable as error:
                self._tell_all_away(error)
            except Exception:
                log.exception("the streams of the desk could not be fed")
            if self._checking is None or self._checking.done():
                self._checking = self._start(self._check_keys())
            self._beat()
            self._news.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self._news.wait()
                    await asyncio.sleep(SHARE_S)

    async def _look(self) -> None:
        """Update listeners whose store has changed since the last time, and new ones."""
        self._backend_health.check()
        self._away = False
        known = [watched for watched in self._watched.values() if watched.store is not None]
        revisions = await self._revisions(known)
        now = time.monotonic()
        for watched, revision in zip(known, revisions, strict=True):
            if revision != watched.revision:
                watched.revision, watched.dirty = revision, True
                for room in watched.rooms:
                    self._desk.engine.forget_line(room)  # its length and turnover have changed too
                for guest in watched.guests:
                    ended = guest.ended_at is not None
                    guest.due_at = min(guest.due_at, guest.asked_at + ENDED_S if ended else now)
        await self._tell_places(now)
        for watched in self._watched.values():
            self._follow(watched)

    async def _revisions(self, stores: Sequence[Watched]) -> list[tuple[int, ...]]:
        """Return the revisions of all stores, in one round trip."""
        rooms = [room for watched in stores for room in watched.rooms]
        revisions = iter(await self._desk.engine.revisions(rooms))
        return [tuple(next(revisions) for _ in watched.rooms) for watched in stores]

    async def _tell_places(self, now: float) -> None:
        """Tell guests their places, if their line has moved or they are new."""
        guests = (guest for watched in self._watched.values() for guest in watched.guests)
        due = [guest for guest in guests if guest.due_at <= now and not guest.ended]
        for start in range(0, len(due), _AT_ONCE):
            batch = due[start : start + _AT_ONCE]
            places = await asyncio.gather(*map(self._place, batch))
            for guest, place in zip(batch, places, strict=True):
                _tell_place(guest, place, now)

    async def _place(self, guest: Guest) -> Place | WaitroomError:
        try:
            async with asyncio.timeout(PLACE_S):
                return await self._desk.place(guest.store, guest.token)
        except WaitroomError as error:
            return error
        except TimeoutError:
            return RecordUnavailable("the desk's database does not answer; the place is kept")

    def _follow(self, watched: Watched) -> None:
        """Start sending the line and the store, unless that is running or has just failed."""
        due = watched.dirty or watched.new
        late = watched.task is None or watched.task.done()
        if due and late and time.monotonic() >= watched.told_at:
            watched.task = self._start(self._tell(watched))

    async def _tell(self, watched: Watched) -> None:
        """Send the line to hosts and the store to guests; try again soon if it fails."""
        fresh, watched.new = watched.new, set()
        dirty, watched.dirty = watched.dirty, False
        try:
            watched.store = await self._desk.record.store(watched.id)
            if watched.revision is None and not self._away:  # before reading the line, not after
                [watched.revision] = await self._revisions([watched])
            if dirty or watched.hosts & fresh:
                await self._tell_hosts(watched)
            if watched.guests and not self._away:
                await self._tell_store(watched, fresh)
            watched.told_at = 0.0
            return
        except UnknownStore as error:
            for listener in watched.listeners:
                listener.tell("gone", _problem(error), last=True)
            return
        except BackendUnavailable:
            self._backend_health.suspect()
        except WaitroomError as error:  # the record is away, which waiting guests do not need
            _tell_away(watched.hosts, error)
        except Exception:
            log.exception("the streams of store %s could not be fed", watched.id)
        watched.new |= fresh & watched.listeners
        watched.dirty = watched.dirty or dirty
        watched.told_at = time.monotonic() + AGAIN_S

    async def _tell_hosts(self, watched: Watched) -> None:
        if watched.hosts:
            line = await read_line(self._desk, self._backend_health, watched.id)
            body = line.model_dump_json().encode()
            for host in watched.hosts:
                host.last_news = host.last_news if self._away else ()  # `away` is sent once
                host.tell("line", body)

    async def _tell_store(self, watched: Watched, fresh: set[Listener]) -> None:
        assert watched.store is not None  # noqa: S101 - read just before
        body = store_body(watched.store, await self._desk.waits(watched.id))
        news = (body.version, *((line.accepts, line.why_not) for line in body.lines))
        guests = watched.guests if news != watched.news else watched.guests & fresh
        watched.news = news
        text = body.model_dump_json().encode()
        for guest in guests:
            guest.tell("store", text)

    def _tell_all_away(self, error: Unavailable) -> None:
        """Tell all that the live line is away; hosts still get what the record says."""
        self._backend_health.suspect()
        self._away, now = True, time.monotonic()
        for watched in self._watched.values():
            _tell_away(watched.listeners, error)
            watched.revision = None
            for guest in watched.guests:
                guest.due_at = 0.0
            if watched.hosts and (watched.new or now >= watched.told_at):
                watched.dirty, watched.told_at = True, 0.0
                self._follow(watched)
                watched.told_at = now + AWAY_S

    async def _check_keys(self) -> None:
        """End the streams of hosts whose key was revoked."""
        now = time.monotonic()
        hosts = [host for watched in self._watched.values() for host in watched.hosts]
        for host in hosts:
            if now - host.checked_at < KEYS_S or host.ended:
                continue
            host.checked_at = now
            try:
                await host.check()
            except (Unauthorized, Forbidden) as error:
                host.tell("gone", _problem(error), last=True)
            except WaitroomError:  # it cannot be known now
                continue
            except Exception:
                log.exception("a host's key could not be checked")

    def _beat(self) -> None:
        now = time.monotonic()
        for listener in self._listeners():
            ended_at = listener.ended_at if isinstance(listener, Guest) else None
            if ended_at is not None and now > ended_at + GONE_S:
                listener.tell("gone", b"{}", last=True)
            elif now - listener.sent_at > BEAT_S and not listener.wake.is_set():
                listener.beat()
                if isinstance(listener, Guest) and ended_at is None:
                    # Observed waits change as time passes.
                    listener.due_at = min(listener.due_at, now)


def _tell_place(guest: Guest, place: Place | WaitroomError, now: float) -> None:
    if isinstance(place, Unavailable):
        guest.due_at = now + AGAIN_S
        _tell_away([guest], place)
    elif isinstance(place, WaitroomError):
        guest.tell("gone", _problem(place), last=True)
    else:
        guest.due_at, guest.asked_at = float("inf"), now
        guest.ended_at = None if place.status.live else guest.ended_at or now
        news = (place.status, place.position, place.waiting, place.wait_minutes, place.observed)
        if news != guest.last_news:
            guest.last_news = news
            guest.tell("place", place_body(place).model_dump_json().encode())


def _tell_away(listeners: Iterable[Listener], error: WaitroomError) -> None:
    """Tell listeners once that something cannot be reached."""
    body, news = _problem(error), (error.code,)
    for listener in listeners:
        if listener.last_news != news:
            listener.last_news = news
            listener.tell("away", body)


def _problem(error: WaitroomError) -> bytes:
    return msgspec.json.encode(problems.document(error))
