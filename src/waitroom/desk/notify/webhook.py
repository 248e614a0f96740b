"""One signed POST to a store's own address: the desk's way to the store's SMS or 알림톡 vendor.

Messages use the format of Standard Webhooks, like those of rooms. Whoever administers the desk
set the address, so it may be on the private network.
"""

from __future__ import annotations

import base64

from waitroom import posting
from waitroom.events import signing
from waitroom.posting import Undelivered

PREFIX = "whsec_"


def standard(secret: str) -> str:
    """Return a store's secret in the form that Standard Webhooks libraries take.

    A secret that was chosen by hand, or made by an earlier version, is used as it is: its bytes are
    the key.
    """
    if secret.startswith(PREFIX):
        return secret
    return PREFIX + base64.b64encode(secret.encode()).decode()


class Poster(posting.Poster):
    """Posts notices; close it at the end."""

    async def post(self, url: str, secret: str, notice: str, body: bytes, now_ms: int) -> None:
        """Post a body; raise Undelivered unless the answer is 2xx."""
        headers = signing.headers([standard(secret)], notice, now_ms, body)
        status = (await self.send(url, headers, body)).status
        if not 200 <= status < 300:
            raise Undelivered(f"answered {status}")
