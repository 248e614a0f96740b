"""Guests of the tests' store, written straight to the record."""

from __future__ import annotations

import secrets
from typing import Any

from tests.support.clock import Clock
from waitroom.desk.inputs import Wish
from waitroom.desk.models import Action, Party
from waitroom.desk.record.record import Record

STORE, DINE_IN, TAKEOUT = "han-river", "dine-in", "takeout"
HOST = "front door"
_OF_CALLS = ("by", "op_id", "force", "address")


def new_ticket() -> str:
    """Return an id as used in the live line."""
    return secrets.token_hex(8)


async def arrive(record: Record, line_name: str = DINE_IN, size: int = 2, **more: Any) -> Party:
    """Register one party."""
    by_call = {name: more.pop(name) for name in _OF_CALLS if name in more}
    wish = Wish(size=size, **more)
    return await record.register(STORE, line_name, wish, new_ticket(), **by_call)


async def evening(record: Record, clock: Clock, parties: int) -> list[Party]:
    """Register parties, one minute apart."""
    arrived = []
    for _ in range(parties):
        clock.step(60)
        arrived.append(await arrive(record))
    return arrived


async def do(record: Record, party: Party, action: Action, **more: Any) -> Party:
    """Make the host do something to a party."""
    return await record.act(STORE, party.id, action, by=HOST, **more)


async def order(record: Record, line_name: str = DINE_IN) -> list[int]:
    """Return the numbers of the live parties, in order."""
    return [party.number for party in await record.live(STORE, line_name)]
