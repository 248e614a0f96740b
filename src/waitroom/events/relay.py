"""The relay: copies what scripts noted in each room into its outbox.

It runs in every process. A room is looked at a second after this process changed it; a lap over all
rooms, by one process at a time, finds the others. Two processes may relay one room at once: the
outbox takes the entries of only one of them.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

from waitroom.engine import Engine
from waitroom.engine.outbox import Draft, Look
from waitroom.engine.webhooks import Webhook
from waitroom.errors import WaitroomError
from waitroom.events import drafts
from waitroom.moments import from_ms, written

log = logging.getLogger("waitroom.events")

STEP_S = 1.0
LAP_S = 10.0
"""How long an event may go unnoticed in a room that no process here has changed."""

_MOST_PAGES = 20  # at a time, 10,000 events: then it is other rooms' turn

Clock = Callable[[], int]
"""Returns the time in ms."""


def wall_ms() -> int:
    """Return the time by this machine's clock."""
    return int(time.time() * 1000)


class Listeners:
    """Who wants events about people; asked again every second."""

    def __init__(self, engine: Engine, archives: bool = False) -> None:
        self._engine = engine
        self._archives = archives
        self.webhooks: tuple[Webhook, ...] = ()
        self.archived = archives

    async def refresh(self) -> None:
        """Ask again."""
        self.webhooks = await self._engine.webhooks.list()
        # The archiving process knows it from the first event on, others once that process has noted
        # it.
        self.archived = self._archives or await self._engine.outbox.archive_error() is not None

    def want_people(self, room: str) -> bool:
        """Return whether a webhook or an archive wants events about people of a room."""
        return self.archived or any(webhook.wants_people(room) for webhook in self.webhooks)


class Relay:
    """Relays all rooms of one engine; `on_entries` gets each room with new entries."""

    def __init__(
        self,
        engine: Engine,
        listeners: Listeners,
        on_entries: Callable[[str], None] = lambda _: None,
        clock: Clock = wall_ms,
    ) -> None:
        self._engine = engine
        self._outbox = engine.outbox
        self._listeners = listeners
        self._on_entries = on_entries
        self._clock = clock
        self._touched: set[str] = set()
        self._known: set[str] = set()
        self._outages: list[tuple[str, int, int]] = []

    def touch(self, room: str) -> None:
        """Look at a room soon, because it was changed. Every verb calls this, so it is cheap."""
        self._touched.add(room)

    def note_outage(self, node: str, since_ms: int, until_ms: int) -> None:
        """Tell the rooms of a node that it was away, now that it is back."""
        self._outages.append((node, since_ms, until_ms))

    async def run(self) -> None:
        """Run until cancelled."""
        unsubscribe = self._engine.on_change(self.touch)
        lap_at = 0.0
        try:
            while True:
                await asyncio.sleep(STEP_S * random.uniform(0.8, 1.2))  # noqa: S311
                lap = time.monotonic() >= lap_at
                if await guarded(self.step, lap) and lap:
                    lap_at = time.monotonic() + LAP_S
        finally:
            unsubscribe()

    async def step(self, lap: bool = True) -> None:
        """Relay the rooms that were changed; with `lap`, look at all the others too."""
        await self._listeners.refresh()
        if lap and await self._outbox.take_lap(int(LAP_S * 900)):
            rooms = set(await self._engine.rooms())
            self._touched |= rooms | (self._known - rooms)  # these were dropped
            self._known = rooms
        while self._outages:
            await self._tell_outage(*self._outages[0])
            self._outages.pop(0)
        rooms_now, self._touched = self._touched, set()
        try:
            late = await self._outbox.behind(sorted(rooms_now))
        except BaseException:
            self._touched |= rooms_now
            raise
        self._touched |= set(late)  # until nothing is new in them
        for room in late:
            if await self._outbox.take_turn(room, int(STEP_S * 700)):
                await guarded(self.relay, room)

    async def relay(self, room: str) -> None:
        """Copy everything new in a room into its outbox."""
        for _ in range(_MOST_PAGES):
            look = await self._outbox.look(room)
            if not await self._pass_on(look) or not look.full:
                break

    async def _pass_on(self, look: Look) -> bool:
        people = look.heard or self._listeners.want_people(look.room)
        entries = drafts.drafts(look, self._clock(), people=people)
        reached, limits = drafts.limits(look, self._clock(), await self._entries(look))
        last = look.sources[-1] if look.sources else None
        fields: dict[str, object] = {
            "rev": look.rev or "",
            "n": look.known if look.full else look.event_no,
            "source": look.cursor,
            "limits": limits,
            "dropped": look.dropped,
        }
        if last is not None:
            fields |= {"n": last.n if look.full else max(last.n, look.event_no), "at": last.at_ms}
        if not await self._append(look.room, look.relay, [*entries, *reached], **fields):
            return False
        if look.dropped:
            await self._outbox.forget(look.room)
        return True

    async def _entries(self, look: Look) -> int | None:
        """Return how much of the rolling limit is taken; whoever is called holds an entry too."""
        if look.dropped or look.limits["max_entries"] is None:
            return 0  # most rooms: they need no more than the look
        try:
            stats = await self._engine.stats(look.room)
        except WaitroomError:  # everything else that happened there is passed on all the same
            return None
        return stats.entries_in_window + stats.called

    async def _append(
        self, room: str, relay: Mapping[str, str], entries: Sequence[Draft], **fields: object
    ) -> bool:
        newest = await self._outbox.append(room, relay, entries, **fields)
        if newest and entries:
            self._on_entries(room)
            await self._engine.marks.note(room, entries)
        return bool(newest)

    async def _tell_outage(self, node: str, since_ms: int, until_ms: int) -> None:
        """Tell every room of a node once, whichever processes have seen that it was away."""
        away = Draft("backend.away", since_ms, {"until": written(from_ms(until_ms))})
        back = Draft("backend.back", until_ms, {"since": written(from_ms(since_ms))})
        for room in await self._engine.rooms():
            if self._engine.node_of(room) != node:
                continue
            relay = await self._outbox.relay(room)
            while int(relay.get("back_at", 0)) < since_ms and not await self._append(
                room, relay, [away, back], back_at=until_ms
            ):
                relay = await self._outbox.relay(room)


async def guarded(call: Callable[..., Awaitable[object]], *args: object) -> bool:
    """Make a call whose failure must not end a loop; return whether it succeeded."""
    try:
        await call(*args)
    except WaitroomError as error:  # away: noticed elsewhere
        log.debug("events are late: %s", error)
    except Exception:
        log.exception("events are late")
    else:
        return True
    return False
