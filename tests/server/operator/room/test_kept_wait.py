"""The actual wait, next to the estimate at its beginning."""

from __future__ import annotations

import secrets

from tests.support.clock import Clock, crowd, open_engine
from tests.support.servers import Server as Backend
from waitroom.models import Mode, Policy
from waitroom.server.operator.room.kept_wait import last_wait


async def test_the_wait_of_the_last_one_called(valkey: Backend, clock: Clock) -> None:
    """Unknown until somebody was called; then as long as the last person called really waited."""
    room = f"t-{secrets.token_hex(6)}"
    async with open_engine(valkey.url, clock) as engine:
        await engine.create(room, Policy(mode=Mode.MANUAL, recover_s=0))
        await crowd(engine, room, 3)
        await engine.sample(room)
        assert await last_wait(engine, room, clock.now_ms) is None
        clock.step(420)
        await engine.admit(room, 1)
        await engine.sample(room)
        kept = await last_wait(engine, room, clock.now_ms)
    assert kept is not None
    assert (420, None) == (kept.waited_s, kept.told_s)


async def test_the_estimate_at_its_beginning(valkey: Backend, clock: Clock) -> None:
    """It is what newcomers were told when the person called came, not what they are told now."""
    room = f"t-{secrets.token_hex(6)}"
    async with open_engine(valkey.url, clock) as engine:
        await engine.create(room, Policy(mode=Mode.MANUAL, recover_s=0))
        await engine.join(room)
        for told_s in (300, 360, 900):
            await engine.sample(room, told_s=told_s)
            clock.step(40)
        clock.step(300)
        await engine.admit(room, 1)
        await engine.join(room)
        await engine.sample(room, told_s=1_200)
        kept = await last_wait(engine, room, clock.now_ms)
    assert kept is not None
    assert (420, 360) == (kept.waited_s, kept.told_s)
