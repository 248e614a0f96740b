"""An example receiver of the desk's webhooks: it checks each notice and hands it to your vendor.

    SECRET=whsec_… python receiver.py 9000
    waitroom desk store set cafe --webhook-url http://127.0.0.1:9000/

It uses only the standard library. Put the call to your SMS or 알림톡 vendor into `tell`.
"""

from __future__ import annotations

import base64
import hmac
import json
import os
import sys
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

OLDEST_S = 300
"""An older notice is refused, so that nobody can replay a recorded one."""

LARGEST = 16_384
TEXTS = {
    "near": "{title}: {teams_ahead} teams before you. Please come back. {url}",
    "called": "{title}: number {number}, your table is ready! {url}",
}


def verified(secret: str, headers: Mapping[str, str], body: bytes, now_s: float) -> bool:
    """Tell whether a message comes from your desk and is fresh: Standard Webhooks, by hand."""
    message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
    given = headers.get("webhook-signature", "").split()
    if not any(hmac.compare_digest(expected.encode(), each.encode()) for each in given):
        return False
    return timestamp.isdecimal() and abs(now_s - int(timestamp)) <= OLDEST_S


def tell(notice: dict[str, Any]) -> None:
    """Tell the guest: call your vendor here, within 10 s."""
    text = TEXTS[notice["kind"]].format_map(notice)
    phone = notice["phone"] or "nobody's phone"
    print(f"to …{phone[-4:]}: {text}", flush=True)  # noqa: T201 - numbers stay out of logs


class Receiver(BaseHTTPRequestHandler):
    """Answers 204 once the guest is told; after anything else the desk sends it again."""

    secret = ""
    delivered: dict[str, float] = {}  # noqa: RUF012 - of the process: the same notice may come twice

    def do_POST(self) -> None:
        """Take one notice."""
        body = self.rfile.read(min(int(self.headers.get("content-length", 0)), LARGEST))
        headers = {name.lower(): value for name, value in self.headers.items()}
        if not verified(self.secret, headers, body, time.time()):
            self._answer(401)
            return
        notice = json.loads(body)["data"]
        if notice["id"] not in self.delivered:
            tell(notice)
            self.delivered[notice["id"]] = time.time()
        self._answer(204)

    def _answer(self, status: int) -> None:
        self.send_response(status)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Log nothing: what was told is printed."""


if __name__ == "__main__":
    Receiver.secret = os.environ["SECRET"]
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
