"""Rules: a room is made, changed, cleared and dropped."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from tests.engine.state_machine.driver import ROOM, Driver
from tests.engine.state_machine.facts import FOREVER, Step
from tests.engine.state_machine.model import Model
from tests.engine.state_machine.strategies import CHANGES, ENDINGS, OPENINGS, either
from waitroom.engine import Engine
from waitroom.models import Policy
from waitroom.moments import from_ms


class RoomRules(Driver):
    """What operators do to the room itself."""

    @initialize(changes=st.lists(CHANGES, max_size=3), enter_within=either(None, 3, 8, 60))
    def first(self, changes: list[dict[str, Any]], enter_within: float | None) -> None:
        """Make the room."""
        self.facts = self.run(self.read())
        self.model = Model(Policy())
        self.make(0, changes, enter_within)

    def make(self, who: int, changes: list[dict[str, Any]], enter_within: float | None) -> None:
        """Create the room with a policy."""
        policy = Policy(enter_within_s=enter_within)
        for change in changes:
            policy = policy.change(**change)
        highest = self.model.highest
        self.run(self.engines[who].create(ROOM, policy))
        self.born += 1
        self.exists, self.saved = True, None
        self.facts = self.run(self.read())
        now = self.clock.now_ms
        people = self.model.people
        self.model = Model(policy, 1, people, now, now, now, resumed=now, highest=highest)
        self.model.cleared()
        for person in people.values():
            person.banned = person.kicked = False
        self.known[who] = (self.born, 1, policy)
        self.codes.forget()
        assert self.facts.policy == policy

    @rule(who=st.integers(0, 1), changes=CHANGES)
    def configure(self, who: int, changes: dict[str, Any]) -> None:
        """Change the policy live."""
        self.change_policy(who, changes)

    @rule(who=st.integers(0, 1), opening=OPENINGS)
    def opening(self, who: int, opening: dict[str, Any]) -> None:
        """Set when the room opens, and what happens until then."""
        self.catch_up(who)
        at = self.clock.now_ms + round(opening["in_s"] * 1000)
        changes = {"opens_at": from_ms(at), "before_open": opening["before_open"]}
        if (self.model.policy.ends_at_ms or FOREVER) <= at:
            changes["ends_at"] = None
        self.change_policy(who, changes)

    @rule(who=st.integers(0, 1), in_s=ENDINGS)
    def ending(self, who: int, in_s: float) -> None:
        """Set when the room ends."""
        self.catch_up(who)
        at = self.clock.now_ms + round(in_s * 1000)
        changes: dict[str, Any] = {"ends_at": from_ms(at)}
        if (self.model.policy.opens_at_ms or 0) >= at:
            changes |= {"opens_at": None, "before_open": "wait"}
        self.change_policy(who, changes)

    @rule(who=st.integers(0, 1))
    def open_now(self, who: int) -> None:
        """Remove the opening and end times, and be open."""
        now = {"opens_at": None, "ends_at": None, "before_open": "wait", "mode": "open"}
        self.change_policy(who, now)

    def catch_up(self, who: int) -> None:
        """Bring back the policy that an engine remembers, if a failover lost it."""
        self.call(who, Step("stats"), lambda e: e.stats(ROOM))

    def change_policy(self, who: int, changes: dict[str, Any]) -> None:
        """Change some fields and tell the model."""
        self.catch_up(who)
        engine, model = self.engines[who], self.model
        policy = model.policy.change(**changes)

        async def act(engine: Engine) -> None:
            await engine.configure(ROOM, **changes)

        before = self.facts
        self.look_at_the_clock()
        rested = model.rests
        self.run(act(engine))
        self.facts = self.run(self.read())
        offset = max(before.meta.get("offset", 0), self.facts.meta.get("offset", 0))
        behind = engine._runner.memory(ROOM).rev > before.meta["rev"] + 1
        self.look_at_the_clock()
        model.tick((self.clock.now_us + offset) // 1000, before, behind)
        model.change(policy, model.version + 1, rested=rested)
        model.counts.clear()
        self.known[who] = (self.born, model.version, policy)
        self.check_totals(Step("configure"), before, self.facts, False)

    @rule(who=st.integers(0, 1))
    def clear(self, who: int) -> None:
        """Empty the room: every earlier ticket becomes worthless."""
        self.call(who, Step("stats"), lambda e: e.stats(ROOM))
        people = [p for p in self.model.people.values() if p.state != "out" and not p.lost]
        model = self.model
        epoch = self.facts.meta["epoch"]

        async def act(engine: Engine) -> int:
            return await engine.clear(ROOM)

        before = self.facts
        cleared = self.run(act(self.engines[who]))
        self.facts = self.run(self.read())
        offset = max(before.meta.get("offset", 0), self.facts.meta.get("offset", 0))
        self.look_at_the_clock()
        memory = self.engines[who]._runner.memory(ROOM)
        model.tick((self.clock.now_us + offset) // 1000, before, False)
        live = [p for p in people if p.state == "waiting" or p.until > model.now]
        assert len(live) == cleared
        assert self.facts.meta["epoch"] > epoch
        assert memory.epoch == self.facts.meta["epoch"]
        model.cleared()
        self.codes.forget()
        model.counts.clear()
        self.saved = None
        self.born += 1  # what others know of the policy belongs to the old epoch
        self.known[who] = (self.born, model.version, model.policy)
        self.check_totals(Step("clear"), before, self.facts, False)

    @rule(
        who=st.integers(0, 1),
        changes=st.lists(CHANGES, max_size=2),
        enter_within=either(None, 3, 60),
        by=st.integers(0, 1),
    )
    def drop_and_create(
        self, who: int, changes: list[dict[str, Any]], enter_within: float | None, by: int
    ) -> None:
        """Remove the room; a new one with the same name is a different room."""
        assert self.run(self.engines[who].drop(ROOM))
        self.make(by, changes, enter_within)
