"""Claim keys: what a room's gates sign with, to say whose place it is. None is stored."""

from __future__ import annotations

from waitroom.accounts import ClaimKey
from waitroom.engine import Engine
from waitroom.errors import InvalidInput
from waitroom.operations.trail import Trail


async def make(engine: Engine, trail: Trail, room: str, old: str | None) -> str:
    """Return the newest claim key of a room; with `old`, one that knows the same accounts.

    The room takes claims of one salt until it is cleared, so a key with another is not made.
    """
    renewed = None if old is None else ClaimKey.parse(old)
    await engine.room(room)  # a key for a room that does not exist is a mistyped name
    made = engine.ring.claim_key(room, renewed)
    if await engine.salt(room) not in ("", made.salt_name):
        raise InvalidInput(
            "claim_key",
            "would have another salt than the accounts of this room; renew the key that its gates "
            "have (`--renew KEY`), or clear the room first",
        )
    await trail.record("claim_key.make", room, renewed=renewed is not None)
    return made.text()
