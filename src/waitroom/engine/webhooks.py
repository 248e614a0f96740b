"""Webhooks as stored in Redis: where events go, which secret signs them, which are wanted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from waitroom.engine import keys
from waitroom.engine.runner import Runner
from waitroom.errors import InvalidInput, UnknownWebhook

MOST_WEBHOOKS = 50


@dataclass(frozen=True, slots=True)
class Webhook:
    """A receiver of events. Empty `rooms` or `types` mean all; no log contains the secrets."""

    id: str
    url: str
    secret: str
    created_ms: int
    rooms: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    enabled: bool = True
    switched_ms: int = 0
    """When it was last switched off or on; what happened before it was on again is not sent."""

    old_secret: str = ""
    """The secret before the last rotation, which also signs until `old_until_ms`."""

    old_until_ms: int = 0

    def __repr__(self) -> str:
        return f"Webhook({self.id})"

    def hears(self, room: str) -> bool:
        """Return whether it wants any events of a room."""
        return self.enabled and self._is_for(room)

    def wants(self, kind: str) -> bool:
        """Return whether it wants events of a type; it is always told that some are missing."""
        return not self.types or kind in self.types or kind == "gap"

    def wants_people(self, room: str) -> bool:
        """Return whether it wants events about people of a room.

        Also while it is off: the events that it misses are counted.
        """
        return self._is_for(room) and (
            not self.types or any(kind.startswith("people.") for kind in self.types)
        )

    def _is_for(self, room: str) -> bool:
        return not self.rooms or room in self.rooms

    def secrets(self, now_ms: int) -> tuple[str, ...]:
        """Return the secrets that sign at this time, newest first."""
        old = (self.old_secret,) if self.old_secret and now_ms < self.old_until_ms else ()
        return (self.secret, *old)


class Webhooks:
    """The webhooks of all rooms."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    async def list(self) -> tuple[Webhook, ...]:
        """Return all webhooks, oldest first."""
        raw: Mapping[bytes, bytes] = await self._runner.command("HGETALL", keys.WEBHOOKS)
        stored = [_read(webhook_id.decode(), text) for webhook_id, text in raw.items()]
        known = [webhook for webhook in stored if webhook is not None]
        return tuple(sorted(known, key=lambda webhook: (webhook.created_ms, webhook.id)))

    async def get(self, webhook_id: str) -> Webhook:
        """Return one webhook."""
        text = await self._runner.command("HGET", keys.WEBHOOKS, webhook_id)
        webhook = None if text is None else _read(webhook_id, text)
        if webhook is None:
            raise UnknownWebhook(webhook_id)
        return webhook

    async def put(self, webhook: Webhook) -> None:
        """Store a webhook, replacing its earlier version."""
        count = await self._runner.command("HLEN", keys.WEBHOOKS)
        known = await self._runner.command("HEXISTS", keys.WEBHOOKS, webhook.id)
        if count >= MOST_WEBHOOKS and not known:
            raise InvalidInput("url", f"there are {MOST_WEBHOOKS} webhooks already")
        fields: dict[str, Any] = asdict(webhook)
        del fields["id"]
        await self._runner.command("HSET", keys.WEBHOOKS, webhook.id, json.dumps(fields))

    async def remove(self, webhook_id: str) -> None:
        """Forget a webhook."""
        if not await self._runner.command("HDEL", keys.WEBHOOKS, webhook_id):
            raise UnknownWebhook(webhook_id)


def _read(webhook_id: str, text: bytes) -> Webhook | None:
    try:
        fields = json.loads(text)
        webhook = Webhook(webhook_id, fields["url"], fields["secret"], int(fields["created_ms"]))
        return replace(
            webhook,
            rooms=tuple(fields.get("rooms", ())),
            types=tuple(fields.get("types", ())),
            enabled=bool(fields.get("enabled", True)),
            switched_ms=int(fields.get("switched_ms", 0)),
            old_secret=str(fields.get("old_secret", "")),
            old_until_ms=int(fields.get("old_until_ms", 0)),
        )
    except (ValueError, KeyError, TypeError):  # not ours, or from a newer Waitroom
        return None
