"""A preview compared with what the engine then did, on a clock that the test moves."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field

import pytest

from tests.support.clock import Clock, advance_all, crowd
from waitroom.engine import Engine
from waitroom.models import Policy, State, TicketView
from waitroom.server.operator.levers import wishes
from waitroom.server.operator.levers.preview import preview
from waitroom.server.rooms.board import Board

STEP_S = 5


@dataclass
class Evening:
    """A room of the engine, its line, and how long each stays inside."""

    engine: Engine
    clock: Clock
    room: str
    line: list[TicketView]
    rng: random.Random = field(default_factory=lambda: random.Random(7))
    ends_us: dict[str, int] = field(default_factory=dict)

    async def step(self) -> None:
        """Pass a few seconds: some people finish, called ones enter."""
        self.clock.step(STEP_S)
        tickets = {view.id: view.ticket for view in self.line}
        for ticket_id in [name for name, end in self.ends_us.items() if end <= self.clock.now_us]:
            del self.ends_us[ticket_id]
            await self.engine.finish(self.room, tickets[ticket_id])
        await advance_all(self.engine, self.room)
        for listed in (await self.engine.list(self.room, State.CALLED, limit=500)).tickets:
            await self.engine.enter(self.room, tickets[listed.id])
            stay_s = self.rng.lognormvariate(4.5, 0.4)  # 90 s in the middle
            self.ends_us[listed.id] = self.clock.now_us + round(stay_s * 1e6)
        await self.engine.sample(self.room)


@pytest.mark.parametrize(
    ("policy", "form"),
    [
        (Policy(capacity=20, presence_s=None), {"do": "capacity", "capacity": "40"}),
        (Policy(capacity=40, presence_s=None), {"do": "capacity", "capacity": "20"}),
        (
            Policy(batch=2, every_s=10, capacity=60, presence_s=None),
            {"do": "pace", "batch": "4", "every_s": "10"},
        ),
    ],
    ids=["capacity up", "capacity down", "pace up"],
)
async def test_the_preview_comes_true(
    engine: Engine, clock: Clock, room: str, policy: Policy, form: dict[str, str]
) -> None:
    """The last person waits as long as predicted, and as many are inside, both within 20 %."""
    await engine.create(room, policy)
    evening = Evening(engine, clock, room, await crowd(engine, room, 250))
    for _ in range(48):
        await evening.step()
    now = await engine.stats(room)
    board = Board(room, policy, now, deque(await engine.series(room)))
    board.renew(policy, now)
    wish = wishes.read(form, policy)
    shown = preview(board, wish)
    said = {fact.key: fact.values for fact in shown.facts}

    await engine.configure(room, **wish.changes)
    start_us, last = clock.now_us, evening.line[-1]
    called = now.counters["called_total"]
    await advance_all(engine, room)
    at_once = (await engine.stats(room)).counters["called_total"] - called
    while (await engine.poll(room, last.ticket)).state is State.WAITING:
        await evening.step()
    assert shown.after_s is not None
    assert (clock.now_us - start_us) / 1e6 == pytest.approx(shown.after_s, rel=0.2, abs=STEP_S)
    then = await engine.stats(room)
    (level,) = [values["n"] for key, values in said.items() if key.startswith("fact_level_")]
    assert then.called + then.inside == pytest.approx(level, rel=0.2)
    promised = said.get("fact_at_once") or said.get("fact_at_once_paced")
    assert at_once == (promised["n"] if promised else 0)
