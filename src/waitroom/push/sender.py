"""Sends one message to one browser: encrypted, signed, tried a few times; returns the result."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Sequence
from enum import StrEnum
from hashlib import blake2b

import http_ece  # type: ignore[import-untyped]
from cryptography.hazmat.primitives.asymmetric import ec

from waitroom.errors import InvalidInput
from waitroom.posting import Poster, Undelivered
from waitroom.push.subscription import PushHosts, Subscription, from_base64url, to_base64url
from waitroom.push.vapid import VapidKey

log = logging.getLogger("waitroom.push")

PATIENCE_S = 5.0
PAUSES_S = (1.0, 4.0)
"""Pauses between the tries of a message that a push service is too busy to accept."""

_LONGEST_PAUSE_S = 15.0
_GONE = {404, 410}


class Outcome(StrEnum):
    """The result of sending a message."""

    SENT = "sent"
    GONE = "gone"
    """The browser has ended the subscription, or its push service is no longer listed."""

    FAILED = "failed"


class Sender:
    """Sends messages; close it at the end."""

    def __init__(
        self, key: VapidKey, hosts: PushHosts, *, pauses_s: Sequence[float] = PAUSES_S
    ) -> None:
        self._key = key
        self._hosts = hosts
        self._pauses_s = pauses_s
        self._poster = Poster(PATIENCE_S)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._poster.aclose()

    async def send(
        self, subscription: Subscription, message: bytes, *, ttl_s: int, subject: str
    ) -> Outcome:
        """Send a message; it replaces an undelivered one about the same `subject`."""
        try:  # again: the list may be shorter than when the browser subscribed
            self._hosts.check(subscription.endpoint)
        except InvalidInput:
            return Outcome.GONE
        body = encrypted(subscription, message)
        headers = {
            "Authorization": self._key.authorization(subscription.origin, int(time.time())),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(ttl_s),
            "Urgency": "high",
            "Topic": to_base64url(blake2b(subject.encode(), digest_size=24).digest()),
        }
        for pause_s in (*self._pauses_s, None):
            outcome, wanted_s = await self._try(subscription, headers, body)
            if outcome is not None or pause_s is None:
                return outcome or Outcome.FAILED
            await asyncio.sleep(min(max(pause_s, wanted_s), _LONGEST_PAUSE_S))
        return Outcome.FAILED

    async def _try(
        self, subscription: Subscription, headers: dict[str, str], body: bytes
    ) -> tuple[Outcome | None, float]:
        """Return the result of one try; None if another may succeed, and after how many seconds."""
        try:
            status, answer = await self._poster.send(subscription.endpoint, headers, body)
        except Undelivered as error:
            log.info("a push message was not taken by %s: %s", subscription.origin, error)
            return None, 0.0
        if 200 <= status < 300:
            return Outcome.SENT, 0.0
        if status in _GONE:
            return Outcome.GONE, 0.0
        log.info("a push message was not taken by %s: answered %s", subscription.origin, status)
        if status == 429 or status >= 500:
            wanted = answer.get("retry-after", "")
            return None, float(wanted) if wanted.isdecimal() and len(wanted) < 6 else 0.0
        return Outcome.FAILED, 0.0


def encrypted(subscription: Subscription, message: bytes) -> bytes:
    """Return a message that only the subscribed browser can read (RFC 8291)."""
    body: bytes = http_ece.encrypt(
        message,
        salt=secrets.token_bytes(16),
        private_key=ec.generate_private_key(ec.SECP256R1()),
        dh=from_base64url(subscription.p256dh),
        auth_secret=from_base64url(subscription.auth),
        version="aes128gcm",
    )
    return body
