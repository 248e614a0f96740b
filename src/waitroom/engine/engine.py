"""The engine: one method per verb. Everything that touches Redis or Valkey goes through here.

    engine = await Engine.connect(None, data_dir, ring)
    await engine.create("concert", preset("slots"))
    view = await engine.join("concert")

A visitor is known by their signed ticket string; a forged one is refused before the server is
asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Self, TypeVar

from waitroom.engine.connection.clients import Probe
from waitroom.engine.connection.connect import connect
from waitroom.engine.crowd import Concerns, Vouched
from waitroom.engine.keys import room_key
from waitroom.engine.runner import Clock, OnChange, OnScript
from waitroom.engine.verbs.codes import CodeVerbs
from waitroom.engine.verbs.operators import OperatorVerbs
from waitroom.engine.verbs.reading import ReadingVerbs
from waitroom.engine.verbs.records import RecordVerbs
from waitroom.engine.verbs.rooms import RoomVerbs
from waitroom.engine.verbs.visitors import VisitorVerbs
from waitroom.tickets import KeyRing

_CONNECT_S = 2.0
_Item = TypeVar("_Item")


class Engine(RoomVerbs, VisitorVerbs, OperatorVerbs, CodeVerbs, RecordVerbs, ReadingVerbs):
    """All verbs of Waitroom on one server, for any number of rooms and concurrent callers."""

    @classmethod
    async def connect(
        cls,
        url: str | None,
        data_dir: Path,
        ring: KeyRing,
        *,
        timeout_s: float = 2.0,
        connect_timeout_s: float | None = None,
        patience_s: float | None = None,
        clock: Clock | None = None,
        admin_key: str | None = None,
        audit_days: int | None = None,
        joins_per_minute: int = 0,
    ) -> Self:
        """Connect to the server of `url`, or start one in `data_dir`.

        A call gives up after `timeout_s` without an answer, and is tried again: three times, or
        until `patience_s` have passed. The first connection may take `connect_timeout_s`, two
        seconds unless `timeout_s` is longer. `admin_key` is an API key from the settings. With
        `audit_days`, each write to the audit log removes older entries. A room gives a source
        `joins_per_minute` new places, which all engines count together; 0 = any number.
        """
        first_s = max(timeout_s, _CONNECT_S) if connect_timeout_s is None else connect_timeout_s
        backend = await connect(url, data_dir, timeout_s, connect_timeout_s=first_s)
        try:
            return cls(
                backend,
                ring,
                clock=clock,
                patience_s=patience_s,
                admin_key=admin_key,
                audit_days=audit_days,
                joins_per_minute=joins_per_minute,
            )
        except BaseException:  # the admin key is malformed
            await backend.aclose()
            raise

    async def aclose(self) -> None:
        """Let calls under way end, then close the connection and a server that we started."""
        await self._crowd.drain()
        await self._lines.drain()
        await self.backend.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    def on_change(self, tell: OnChange) -> Callable[[], None]:
        """Call `tell` with every room that this process changes; return how to unsubscribe."""
        return _subscribed(self._runner.on_change, tell)

    def on_script(self, tell: OnScript) -> Callable[[], None]:
        """Call `tell` with every script call; return how to unsubscribe."""
        return _subscribed(self._runner.on_script, tell)

    @property
    def probe(self) -> Probe:
        """Finds out whether the server, or each node of a Cluster, is reachable."""
        return self.backend.probe

    def node_of(self, room: str) -> str:
        """Return the Cluster node that holds a room; an empty name for a single server."""
        return self.probe.node_of(room_key(room, "meta"))

    def give_up_on(self, nodes: Iterable[str]) -> None:
        """From now on, try calls to these nodes only once: they are known to be away."""
        self._runner.away = frozenset(nodes)

    def fail_waiting(
        self, error: Exception, *, longer_than_s: float = 0.0, concerns: Concerns | None = None
    ) -> None:
        """Give the error to visitors who have waited this long, in the rooms that it concerns."""
        self._crowd.fail(error, longer_than_s, concerns)

    def repeat_told(self, longer_than_s: float, vouched_s: Vouched) -> int:
        """Repeat the last answer to those whose poll has waited this long.

        Only if that answer was `waiting`, and not longer ago than `vouched_s(room, position)`.
        Everybody else goes on waiting. Return how many got an answer.
        """
        return self._crowd.repeat_told(longer_than_s, vouched_s)


def _subscribed(observers: list[_Item], tell: _Item) -> Callable[[], None]:
    observers.append(tell)

    def unsubscribe() -> None:
        if tell in observers:
            observers.remove(tell)

    return unsubscribe
