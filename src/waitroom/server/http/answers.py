"""The answer to a visitor's request: status, headers and a body.

The lane sends an `Answer` as it is; FastAPI's routes turn it into a response.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

import msgspec
from fastapi import Response

Headers = list[tuple[bytes, bytes]]
JSON: Headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
"""The headers of nearly every answer: one shared list, so nobody may change it."""

EMPTY: Headers = [(b"cache-control", b"no-store")]
"""The headers of a 204, shared too."""


class Answer(NamedTuple):
    """An HTTP answer, whole."""

    status: int
    headers: Headers
    body: bytes

    def response(self) -> Response:
        """Return it as a response of the framework."""
        response = Response(self.body, self.status)
        response.raw_headers = [*self.headers, (b"content-length", b"%d" % len(self.body))]
        return response


encode = msgspec.json.Encoder().encode


def moment(ms: int | None) -> str | None:
    """Return a Unix time in ms as RFC 3339 in UTC."""
    if ms is None:
        return None
    text = datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
