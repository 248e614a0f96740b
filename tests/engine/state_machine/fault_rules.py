"""Rules: time passes, clocks step, and the server forgets."""

from __future__ import annotations

import copy

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.engine.state_machine.driver import ROOM
from tests.engine.state_machine.facts import Step
from tests.engine.state_machine.operator_rules import OperatorRules
from tests.engine.state_machine.strategies import SECONDS, either


class FaultRules(OperatorRules):
    """What happens to the room without any call."""

    @rule(seconds=SECONDS)
    def wait(self, seconds: float) -> None:
        """Time passes."""
        self.clock.step(seconds)

    @rule(seconds=SECONDS, who=st.integers(0, 1))
    def wait_and_advance(self, seconds: float, who: int) -> None:
        """Time passes as a ticker sees it: an advance every second, and people poll."""
        for _ in range(min(12, int(seconds))):
            self.clock.step(1)
            self.advance(who, 500)
        self.clock.step(seconds % 1)

    @rule(seconds=either(-60, 60))
    def clock_steps(self, seconds: float) -> None:
        """The server's clock is set back or forward."""
        self.clock.step(seconds)
        self.saved = None

    @rule()
    def forget_scripts(self) -> None:
        """SCRIPT FLUSH."""
        self.run(self.raw.script_flush())

    def know_the_epoch(self) -> None:
        """Make sure that both engines know the room as it is."""
        for who in range(2):
            self.call(who, Step("stats"), lambda e: e.stats(ROOM))

    @rule()
    def lose_everything(self) -> None:
        """FLUSHALL, limited to this room."""
        self.know_the_epoch()
        self.run(self.delete_keys())
        self.facts = self.run(self.read())
        self.ahead = [False, False]
        self.codes.learn(self.facts)
        self.saved = None
        self.codes.forget()
        self.ops.clear()
        self.clock.step(0.05)
        self.model.flushed(self.clock.now_ms)

    @precondition(lambda self: self.facts.meta)
    @rule()
    def replicate(self) -> None:
        """A replica has received everything up to here."""
        self.know_the_epoch()

        async def dump() -> dict[bytes, bytes]:
            dumps = {key: await self.raw.dump(key) for key in await self.names()}
            return {key: value for key, value in dumps.items() if value is not None}

        self.saved = self.run(dump()), copy.deepcopy(self.model)
        self.saved_ops = dict(self.ops)

    @precondition(lambda self: self.saved is not None and self.facts.meta)
    @rule()
    def fail_over(self) -> None:
        """The replica takes over: everything since is lost."""
        assert self.saved is not None
        dump, model = self.saved

        async def load() -> None:
            await self.raw.delete(*await self.names())
            for key, value in dump.items():
                await self.raw.restore(key, 600_000 if b":op:" in key else 0, value)

        self.run(load())
        self.clock.step(1)
        model.failed_over(self.model)
        self.model, self.saved, self.ops = model, None, self.saved_ops
        self.facts = self.run(self.read())
        self.codes.learn(self.facts)
        rev = self.facts.meta["rev"]
        self.ahead = [engine._runner.memory(ROOM).rev > rev for engine in self.engines]
