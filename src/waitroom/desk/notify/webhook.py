"""One signed POST to a store's own address: the desk's way to the store's SMS or 알림톡 vendor.

The address was set by whoever administers the desk, so it may be on the private network.
"""

from __future__ import annotations

import hashlib
import hmac

from waitroom import posting
from waitroom.posting import Undelivered


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return the header Waitroom-Signature: an HMAC-SHA256 of "timestamp.body"."""
    signed = timestamp.encode() + b"." + body
    return "v1=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


class Poster(posting.Poster):
    """Posts notices; close it at the end."""

    async def post(self, url: str, secret: str, notice: str, body: bytes, now_s: int) -> None:
        """Post a body; Undelivered unless it is answered with 2xx."""
        headers = {
            "Content-Type": "application/json",
            "Waitroom-Id": notice,
            "Waitroom-Timestamp": str(now_s),
            "Waitroom-Signature": signature(secret, str(now_s), body),
        }
        status = (await self.send(url, headers, body)).status
        if not 200 <= status < 300:
            raise Undelivered(f"answered {status}")
