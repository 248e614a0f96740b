"""Rules: what is read matches the keys, and reading changes nothing."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.engine.state_machine.driver import ROOM
from tests.engine.state_machine.facts import Step
from tests.engine.state_machine.people import People
from tests.engine.state_machine.strategies import either
from waitroom import errors
from waitroom.history import Step as Span
from waitroom.models import State


class ReadingRules(People):
    """What operators, charts and gates ask."""

    def room_time(self) -> tuple[int, bool]:
        """Return the room's time in ms, and whether there was a call within the last second."""
        meta = self.facts.meta
        room_ms = (self.clock.now_us + meta.get("offset", 0)) // 1000
        return room_ms, 0 <= room_ms - meta.get("alive_at", 0) < 1000

    @rule(who=st.integers(0, 1))
    def stats(self, who: int) -> None:
        """Stats match the keys, and change nothing."""
        if self.catches_up(who):  # the first answer goes by the replica's policy
            self.call(who, Step("stats"), lambda e: e.stats(ROOM))
        room_ms, awake = self.room_time()
        stats = self.call(who, Step("stats"), lambda e: e.stats(ROOM))
        assert not isinstance(stats, errors.WaitroomError)
        assert stats.waiting == len(self.facts.waiting)
        assert stats.mode is self.model.mode
        assert stats.counters == {name: self.facts.meta.get(name, 0) for name in stats.counters}
        assert stats.may_return <= len(self.facts.swept)
        if self.model.policy.return_s is None and self.model.policy.ticket_ttl_s == 86_400:
            places = self.facts.swept.values()
            assert stats.may_return == sum(p > self.facts.meta["watermark"] for p in places)
        if awake:
            self.model.now = max(self.model.now, room_ms)
            assert stats.called == self.model.live("called")
            assert stats.inside == self.model.live("inside")

    @rule(who=st.integers(0, 1), state=either(State.WAITING, State.CALLED, State.INSIDE))
    def list_pages(self, who: int, state: State) -> None:
        """Pages of two list everybody once, in order; by id and without a place in a draw."""
        ids: list[str] = []
        hidden = state is State.WAITING and self.hidden
        after = None
        while True:
            page = self.call(who, Step("list"), lambda e: e.list(ROOM, state, after=after, limit=2))  # noqa: B023
            assert not isinstance(page, errors.WaitroomError)
            assert page.ordered is not hidden
            assert not hidden or all(ticket.place is None for ticket in page.tickets)
            ids += [ticket.id for ticket in page.tickets]
            after = page.after
            if after is None:
                break
        facts: dict[str, int] = getattr(self.facts, state.value)
        assert ids == (sorted(facts) if hidden else [*facts])

    @rule(who=st.integers(0, 1), stranger=st.booleans())
    def check(self, who: int, stranger: bool) -> None:
        """A gate learns for each session whether it is inside, by its deadline alone."""
        sessions = [(i, sid + stranger) for i, sid in self.facts.sids.items()]
        if not sessions:
            return
        room_ms, awake = self.room_time()
        answers = self.call(who, Step("check"), lambda e: e.check_many(ROOM, sessions))
        assert not isinstance(answers, errors.WaitroomError)
        if awake:
            inside = [self.facts.inside[i] > room_ms and not stranger for i, _ in sessions]
            assert inside == answers

    @rule(who=st.integers(0, 1))
    def sample(self, who: int) -> None:
        """A sample has the counts of the moment, and moves nobody."""
        sample = self.call(who, Step("sample"), lambda e: e.sample(ROOM))
        assert not isinstance(sample, errors.WaitroomError)
        if sample is not None:
            assert sample.waiting == len(self.facts.waiting)
            assert sample.called == self.model.live("called")
            assert sample.inside == self.model.live("inside")
            assert sample.entered == self.facts.meta.get("entered", 0)
            assert sample.mode is self.model.mode
            policy = self.model.policy
            limits = (policy.capacity, policy.per_minute)
            assert limits == (sample.capacity, sample.per_minute)
            assert sample.waited_s is None or sample.waited_s >= 0
            assert "waited_ms" not in self.facts.meta, "told once"

    @rule(who=st.integers(0, 1), step=either(*Span))
    def history(self, who: int, step: Span) -> None:
        """Each span appears once, in order, none is in the future, and reading changes nothing."""
        self.run(self.engines[who].keep_history(ROOM, self.clock.now_ms))
        now_ms = self.clock.now_ms
        points = self.call(who, Step("stats"), lambda e: e.history(ROOM, 0, now_ms, step))
        assert not isinstance(points, errors.WaitroomError)
        times = [point.at_ms for point in points]
        assert sorted(set(times)) == times
        assert all(at_ms == step.start(at_ms) <= now_ms for at_ms in times)
