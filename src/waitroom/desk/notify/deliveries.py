"""Delivers what is due in the outbox to the receivers of the stores.

A few at a time per store, so that a receiver that hangs delays only its own store's notices.
The text of a notice is made when it is sent, so no phone number is kept longer than the party's.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from waitroom.desk.models import Party, Status, Store
from waitroom.desk.notify.outbox import GIVE_UP_MS, Kind, Notice, Outbox
from waitroom.desk.notify.webhook import Poster
from waitroom.desk.record.record import Record
from waitroom.errors import UnknownParty, UnknownStore, WaitroomError
from waitroom.events import signing
from waitroom.posting import Undelivered

log = logging.getLogger("waitroom.desk.notify.loops")

PER_STORE = 4
AT_ONCE = 64
_FIRST_PAUSE_MS, _LONGEST_PAUSE_MS = 1_000, 600_000


class Deliveries:
    """Sends notices, one `step` after the other; `on_landed` is called when one is finished.

    `token_of` makes the token of a party, for the address of its page.
    """

    def __init__(
        self,
        record: Record,
        token_of: Callable[[Party], str],
        outbox: Outbox,
        poster: Poster,
        public_url: str | None,
        on_landed: Callable[[], None],
    ) -> None:
        self._record = record
        self._token_of = token_of
        self._outbox = outbox
        self._poster = poster
        self._base = (public_url or "").rstrip("/")
        self._on_landed = on_landed
        self._failing: set[str] = set()
        self.under_way: dict[asyncio.Task[None], str] = {}

    async def step(self) -> None:
        """Send due notices, as far as slots are free."""
        busy = Counter(self.under_way.values())
        lease_ms = round(2_000 * self._poster.patience_s)
        for store in await self._outbox.stores_due():
            free = min(PER_STORE - busy[store], AT_ONCE - len(self.under_way))
            if free <= 0:
                continue
            for notice in await self._outbox.claim(store, free, lease_ms):
                task = asyncio.create_task(self._deliver(notice))
                self.under_way[task] = store
                task.add_done_callback(self._landed)

    def _landed(self, task: asyncio.Task[None]) -> None:
        del self.under_way[task]
        self._on_landed()  # its slot is free
        if not task.cancelled() and (error := task.exception()):
            # Its lease will expire, and it is sent again.
            log.warning("a notice was not noted as delivered: %s", short(error))

    async def _deliver(self, notice: Notice) -> None:
        try:
            store = await self._record.store(notice.store)
            party = await self._record.party(notice.store, notice.party)
        except (UnknownStore, UnknownParty):
            await self._outbox.dropped(notice, "the party is not in the record")
            return
        if not store.webhook_url or not store.webhook_secret:
            await self._outbox.dropped(notice, "the store has no webhook")
        elif notice.outdated(party):
            await self._outbox.dropped(notice, "no longer true")
        else:
            await self._post(notice, store, store.webhook_url, store.webhook_secret, party)

    async def _post(
        self, notice: Notice, store: Store, url: str, secret: str, party: Party
    ) -> None:
        ahead = 0 if notice.kind is Kind.CALLED else await self._outbox.teams_ahead(party)
        now_ms = self._outbox.now_ms()
        data = self._document(notice, store, party, ahead)
        body = signing.body(f"party.{notice.kind}", now_ms, data)
        try:
            await self._poster.post(url, secret, notice.name, body, now_ms)
        except Undelivered as error:
            await self._again(notice, str(error), now_ms)
            return
        await self._outbox.delivered(notice)
        if notice.store in self._failing:
            self._failing.discard(notice.store)
            log.info("the webhook of store %s works again", notice.store)

    async def _again(self, notice: Notice, error: str, now_ms: int) -> None:
        if notice.store not in self._failing:
            self._failing.add(notice.store)
            log.warning("the webhook of store %s failed: %s", notice.store, error)
        if now_ms - notice.created_ms >= GIVE_UP_MS:
            await self._outbox.dropped(notice, error)
        else:
            await self._outbox.later(notice, error, pause_ms(notice.tries))

    def _document(self, notice: Notice, store: Store, party: Party, ahead: int) -> dict[str, Any]:
        """Return the body of a notice. The phone is whole: the receiver is the store's vendor."""
        called = party.status is Status.CALLED
        return {
            "id": notice.name,
            "kind": notice.kind,
            "store": store.id,
            "title": store.title,
            "type": party.line_name,
            "number": party.number,
            "size": party.size,
            "name": party.name,
            "phone": party.phone,
            "status": party.status,
            "position": 0 if called else ahead + 1,
            "teams_ahead": ahead,
            "url": f"{self._base}/desk/{store.id}/p/{self._token_of(party)}",
            "at": _moment(notice.round if called else notice.created_ms),
        }


def pause_ms(tries: int) -> int:
    """Return the pause after a number of tries: from 1 s to 10 min."""
    longest: int = min(_LONGEST_PAUSE_MS, _FIRST_PAUSE_MS << min(tries - 1, 20))
    return round(longest * random.uniform(0.5, 1))  # noqa: S311 - many may fail at once


def _moment(ms: int) -> str:
    text = datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def short(error: BaseException) -> str:
    """Return an error for the log: only our own messages, because a database's may quote rows."""
    return str(error) if isinstance(error, WaitroomError) else type(error).__name__
