"""What a visitor's call answers: status, headers and a body, and the JSON of tickets and rooms.

The lane sends an `Answer` as it is; FastAPI's routes turn it into a response.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

import msgspec
from fastapi import Response

Headers = list[tuple[bytes, bytes]]
JSON: Headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
"""The headers of nearly every answer: one list, shared, so nobody may change it."""


class Answer(NamedTuple):
    """An HTTP answer, whole."""

    status: int
    headers: Headers
    body: bytes

    def response(self) -> Response:
        """Return it as a response of the framework."""
        made = Response(self.body, self.status)
        made.raw_headers = [*self.headers, (b"content-length", b"%d" % len(self.body))]
        return made


class EtaBody(msgspec.Struct, frozen=True):
    """A range of the wait, in seconds."""

    low: int
    likely: int
    high: int


class TicketBody(msgspec.Struct, frozen=True):
    """A ticket as its holder sees it while it waits."""

    room: str
    ticket: str
    state: str
    position: int | None
    waiting: int
    eta_s: EtaBody | None
    poll_after_ms: int


class CalledBody(TicketBody, frozen=True):
    """A ticket whose turn it is."""

    enter_by: str | None


class InsideBody(TicketBody, frozen=True):
    """A ticket that is inside."""

    session_ends_at: str | None
    # The same word as in Python's grammar, so the field has another name here.
    pass_: str | None = msgspec.field(name="pass")


class RoomBody(msgspec.Struct, frozen=True):
    """A room as anybody may see it."""

    room: str
    title: str
    mode: str
    opens_at: str | None
    before_open: str
    waiting: int
    eta_s: EtaBody | None
    holding: bool
    changed_at: str | None
    accepts: bool
    now: str


encode = msgspec.json.Encoder().encode


def moment(ms: int | None) -> str | None:
    """Return a Unix time in ms as RFC 3339 in UTC."""
    if ms is None:
        return None
    text = datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
