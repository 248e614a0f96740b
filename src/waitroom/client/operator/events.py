"""A stream of what happens in rooms: where it is, and when it is opened again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from waitroom.client.operator.views import RoomEvent, event
from waitroom.client.refusals import Refusal, no_answer, read_refusal
from waitroom.client.steps import Pause, Target, next_pause

if TYPE_CHECKING:
    import httpx2

_SILENCE_S = 20.0
"""The server says something at least every 8 s."""

_OURS = {"message", "reconnect"}


class Stream:
    """One stream, however often its connection is lost."""

    def __init__(
        self, target: Target, rooms: Sequence[str], types: Sequence[str], cursor: str
    ) -> None:
        self._target = target
        self._query = {"room": ",".join(rooms), "types": ",".join(types)}
        self._cursor = cursor
        self._until = time.monotonic() + target.patience_s

    def request(self) -> dict[str, Any]:
        """Return what to send, as httpx2 takes it."""
        headers = {"authorization": f"Bearer {self._target.key}"}
        if self._cursor:
            headers["last-event-id"] = self._cursor
        return {
            "url": f"{self._target.base}/v1/admin/events",
            "params": {name: value for name, value in self._query.items() if value},
            "headers": headers,
            "timeout": max(_SILENCE_S, self._target.timeout_s),
        }

    def read(self, message: httpx2.ServerSentEvent) -> RoomEvent | None:
        """Note where the stream is; return the event, unless the message is the stream's own."""
        self._cursor = message.id or self._cursor
        self._until = time.monotonic() + self._target.patience_s
        if message.event in _OURS:
            return None
        document: Any = message.json()
        return event(document, self._cursor)

    def refused(self, answer: httpx2.Response) -> Pause:
        """Return how long to wait after an answer that is no stream; raise if there is no use."""
        return next_pause(read_refusal(answer), self._until)

    def broken(self, error: Exception | None) -> Pause:
        """Return how long to wait after a stream ended or broke; raise after `patience_s`."""
        if error is None:
            return Pause(0.2)
        refusal: Refusal = no_answer(self._target.base, error)
        return next_pause(refusal, self._until)
