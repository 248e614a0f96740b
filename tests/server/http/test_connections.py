"""The sweep over all connections, by a clock that the test passes in."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from waitroom.server.http.bodies import Receive, Send
from waitroom.server.http.connections import SWEEP_S, Connections
from waitroom.server.http.proxies import TrustedProxies


async def nobody(scope: object, receive: Receive, send: Send) -> None:
    """Answer nothing: there are no requests here."""


@dataclass(eq=False)
class Idle:
    """A connection that receives nothing; `ended` says how it ended."""

    deadline: float
    peer: str = "192.0.2.1"
    idle: bool = True
    ended: list[str] = field(default_factory=list)

    def send(self) -> None:
        """Record it."""
        self.ended.append("sent")

    def expire(self) -> None:
        """Record it."""
        self.ended.append("expired")

    def close(self) -> None:
        """Record it."""
        self.ended.append("closed")

    def abort(self) -> None:
        """Record it."""
        self.ended.append("aborted")


def test_what_takes_too_long_is_ended() -> None:
    """A connection ends with the first sweep after its deadline; another one continues."""
    connections = Connections(nobody)
    start, clock = connections.now, connections.now
    short, long = Idle(start + 3), Idle(start + 10)
    for connection in (short, long):
        connections.add(connection)
    for _ in range(4):
        clock += SWEEP_S
        connections.sweep(clock)
    assert ["expired"] * 2 == short.ended, "until it is gone, with every sweep"
    assert [] == long.ended


def test_our_own_lateness_ends_nothing() -> None:
    """After a long pause of this process clients keep their time: their data may be unread."""
    connections = Connections(nobody)
    waiting = Idle(connections.now + 10)
    connections.add(waiting)
    connections.sweep(connections.now + 3600)
    assert [] == waiting.ended


async def test_answers_are_sent_in_a_row() -> None:
    """One turn of the loop sends them all; if sending to one fails, only that one ends."""

    class Broken(Idle):
        def send(self) -> None:
            raise RuntimeError("broken")

    connections = Connections(nobody)
    first, broken, last = Idle(0), Broken(0), Idle(0)
    for connection in (first, broken, last):
        connections.send_soon(connection)
    assert [] == first.ended
    await asyncio.sleep(0)
    assert (["sent"], ["aborted"], ["sent"]) == (first.ended, broken.ended, last.ended)
    await asyncio.sleep(0)
    assert ["sent"] == first.ended


@pytest.mark.attack
def test_a_network_of_ipv6_counts_as_one_address() -> None:
    """A whole /64 gets as many connections as one address, until some are closed."""
    connections = Connections(nobody, most_per_address=2, network_of=TrustedProxies(None).network)
    mine = [Idle(0, f"2001:db8::{number}") for number in range(3)]
    assert [False, False, True] == [connections.add(connection) for connection in mine]
    assert not connections.add(Idle(0, "2001:db8:0:1::"))
    for connection in mine:
        connections.remove(connection)
    assert not connections.add(Idle(0, "2001:db8::9"))
