"""What a load test asks beside its crowd: does the room exist, what are its limits, who is busy?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from waitroom.errors import BackendUnavailable, RoomExists, UnknownRoom, WaitroomError
from waitroom.load.http import Failed, Reply, Wire
from waitroom.load.plan import Limits
from waitroom.load.target import Target

_WHY = {
    "refused": "nothing listens there",
    "timeout": "it does not answer",
    "tls": "its certificate is not trusted",
    "no_http": "it does not speak HTTP",
    "connection_lost": "it cannot be reached, or closes the connection",
}


@dataclass(frozen=True, slots=True)
class Rules:
    """The limits of a room, and the version of its policy that has them."""

    limits: Limits
    version: int | None = None


class Front:
    """The server as an operator sees it from outside: `key` is an API key, if there is one."""

    def __init__(self, target: Target, key: str | None = None) -> None:
        self._target = target
        self._wire = Wire(target)
        self._headers = {} if key is None else {"authorization": f"Bearer {key}"}

    async def aclose(self) -> None:
        """Close the connection."""
        await self._wire.aclose()

    async def make(self, room: str, preset: str, changes: Mapping[str, Any]) -> None:
        """Create the room."""
        asked = {"name": room, "preset": preset, "policy": dict(changes)}
        reply = await self._ask("POST", "/v1/admin/rooms", json.dumps(asked).encode())
        if reply.json().get("code") == RoomExists.code:
            raise RoomExists(room)
        _good(reply)

    async def clock(self, room: str) -> float:
        """Return by how much the server's clock is ahead of our monotonic one, at most.

        Raises if there is no server, or no such room.
        """
        reply = await self._ask("GET", f"/v1/rooms/{room}")
        document = reply.json()
        if document.get("code") == UnknownRoom.code:
            raise UnknownRoom(room)
        if reply.status == 200 and isinstance(document.get("now"), str):
            return datetime.fromisoformat(document["now"]).timestamp() - reply.sent
        _good(reply)
        raise BackendUnavailable(f"{self._target.url} does not answer as Waitroom does")

    async def rules(self, room: str) -> Rules:
        """Return the limits of a room; this needs a key."""
        if not self._headers:
            return Rules(Limits())
        reply = await self._ask("GET", f"/v1/admin/rooms/{room}")
        _good(reply)
        document = reply.json()
        return Rules(Limits.of(document.get("policy", {})), document.get("version"))

    async def metrics(self) -> str:
        """Return the server's metrics; empty if it does not show them."""
        try:
            reply = await self._wire.ask("GET", "/metrics", {"accept-encoding": "identity"})
        except Failed:
            return ""
        return reply.body.decode("utf-8", "replace") if reply.status == 200 else ""

    async def _ask(self, method: str, path: str, body: bytes | None = None) -> Reply:
        try:
            return await self._wire.ask(method, path, self._headers, body)
        except Failed as error:
            why = _WHY.get(str(error), str(error))
            raise BackendUnavailable(
                f"{self._target.url} is not there: {why}; start it with `waitroom serve`, "
                "or correct the URL"
            ) from None


def _good(reply: Reply) -> None:
    """Raise the server's own message if it refused."""
    if reply.status >= 300:
        detail = reply.json().get("detail") or f"the answer was {reply.status}"
        raise WaitroomError(f"the server says: {detail}")
