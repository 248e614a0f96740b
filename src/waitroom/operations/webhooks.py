"""Webhooks: make, switch, rotate, test and remove them, and see how their deliveries go.

Their secrets are in no log. The packages that sign and send are loaded late: a command line
without them can still list webhooks.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from waitroom.engine import Engine
from waitroom.engine.outbox import number_of
from waitroom.engine.webhooks import Webhook
from waitroom.errors import InvalidInput
from waitroom.events.drafts import TYPES
from waitroom.models import check_room_name
from waitroom.operations.trail import Trail

NEEDS = ("httpx2", "standardwebhooks")
OVERLAP_MS = 86_400_000
"""How long the old secret still signs after a rotation."""

_LONGEST_URL = 1_000


@dataclass(frozen=True, slots=True)
class Standing:
    """A webhook, and how its deliveries go over all rooms."""

    webhook: Webhook
    late: int = 0
    """At most how many entries wait, while deliveries fail."""

    oldest_ms: int = 0
    """The age of the oldest entry that waits."""

    delivered: int = 0
    dropped: int = 0
    skipped: int = 0
    """Not sent, because it was switched off."""

    error: str = ""
    error_ms: int = 0
    ok_ms: int = 0


async def create(
    engine: Engine, trail: Trail, url: str, rooms: Sequence[str] = (), types: Sequence[str] = ()
) -> Webhook:
    """Make a webhook; its secret cannot be shown again."""
    check_packages()
    from waitroom.events.signing import new_secret

    webhook = Webhook(
        id=secrets.token_hex(5),
        url=_checked(url),
        secret=new_secret(),
        created_ms=_now_ms(),
        rooms=tuple(dict.fromkeys(map(_checked_room, rooms))),
        types=tuple(dict.fromkeys(map(_checked_type, types))),
    )
    await engine.webhooks.put(webhook)
    await trail.record("webhook.create", **_facts(webhook))
    return webhook


async def rotate(engine: Engine, trail: Trail, webhook_id: str) -> Webhook:
    """Give a webhook a new secret; the old one still signs for a day."""
    check_packages()
    from waitroom.events.signing import new_secret

    old = await engine.webhooks.get(webhook_id)
    until_ms = _now_ms() + OVERLAP_MS
    new = replace(old, secret=new_secret(), old_secret=old.secret, old_until_ms=until_ms)
    await engine.webhooks.put(new)
    await trail.record("webhook.rotate", **_facts(new))
    return new


async def switch(engine: Engine, trail: Trail, webhook_id: str, *, enabled: bool) -> Webhook:
    """Switch a webhook off or on; what happens while it is off is reported only as a gap."""
    old = await engine.webhooks.get(webhook_id)
    if old.enabled == enabled:
        return old
    new = replace(old, enabled=enabled, switched_ms=_now_ms())
    await engine.webhooks.put(new)
    await trail.record("webhook.on" if enabled else "webhook.off", **_facts(new))
    return new


async def remove(engine: Engine, trail: Trail, webhook_id: str) -> Webhook:
    """Remove a webhook and the entries that wait for it."""
    webhook = await engine.webhooks.get(webhook_id)
    await engine.webhooks.remove(webhook_id)
    await engine.outbox.forget_reader(await engine.rooms(), webhook_id)
    await trail.record("webhook.delete", **_facts(webhook))
    return webhook


async def send_test(engine: Engine, webhook_id: str) -> str:
    """Send a message of the type `webhook.test` now; return what went wrong, or nothing."""
    check_packages()
    from waitroom.events import delivery, signing
    from waitroom.posting import Poster, Undelivered

    webhook = await engine.webhooks.get(webhook_id)
    now_ms = _now_ms()
    content = signing.body("webhook.test", now_ms, {"webhook": webhook.id})
    async with aclosing(Poster()) as poster:
        try:
            await delivery.post(poster, webhook, f"test_{secrets.token_hex(8)}", content, now_ms)
        except Undelivered as error:
            return str(error)
    return ""


async def standings(engine: Engine) -> list[Standing]:
    """Return all webhooks, and how the deliveries of each go."""
    webhooks = await engine.webhooks.list()
    if not webhooks:
        return []
    newest = await engine.outbox.newest(await engine.rooms())
    rooms = {room: await engine.outbox.readers(room) for room in newest}
    return [_standing(webhook, newest, rooms) for webhook in webhooks]


def _standing(
    webhook: Webhook, newest: dict[str, str], rooms: dict[str, dict[str, dict[str, Any]]]
) -> Standing:
    states = [
        (newest[room], readers[webhook.id])
        for room, readers in rooms.items()
        if webhook.id in readers
    ]
    failing = [
        (last, state)
        for last, state in states
        if webhook.enabled and state["failures"] and state["error_ms"] >= webhook.switched_ms
    ]
    worst = max((state for _, state in states), key=lambda state: state["error_ms"], default={})
    oldest = min((state["oldest_ms"] for _, state in failing), default=0)
    return Standing(
        webhook,
        late=sum(number_of(last) - number_of(state["position"]) for last, state in failing),
        oldest_ms=max(0, _now_ms() - oldest) if oldest else 0,
        delivered=sum(state["delivered"] for _, state in states),
        dropped=sum(state["dropped"] for _, state in states),
        skipped=sum(state.get("skipped", 0) for _, state in states),
        error=worst.get("error", ""),
        error_ms=worst.get("error_ms", 0),
        ok_ms=max((state["ok_ms"] for _, state in states), default=0),
    )


def check_packages() -> None:
    """Say which package is missing, if this installation cannot sign and send."""
    for name in NEEDS:
        if find_spec(name) is None:
            raise InvalidInput(
                "webhook", f"needs the package {name}: pip install 'waitroom[webhooks]'"
            )


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fine = False
    if not fine or " " in url or not url.isascii() or len(url) > _LONGEST_URL:
        raise InvalidInput("url", "takes an address like https://example.com/hook")
    return url


def _checked_room(name: str) -> str:
    try:
        return check_room_name(name)
    except InvalidInput:  # otherwise the answer would be that of an unknown room
        raise InvalidInput("rooms", f"{name!r:.40} is not the name of a room") from None


def _checked_type(kind: str) -> str:
    if kind not in TYPES:
        raise InvalidInput("types", f"{kind!r:.40} is not one of {', '.join(TYPES)}")
    return kind


def _facts(webhook: Webhook) -> dict[str, Any]:
    """Return what the audit log says: only the host of the address, which may hold a key."""
    host = urlsplit(webhook.url).hostname
    return {"id": webhook.id, "host": host, "rooms": webhook.rooms, "types": webhook.types}


def _now_ms() -> int:
    return int(time.time() * 1000)
