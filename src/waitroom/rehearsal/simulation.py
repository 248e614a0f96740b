"""Plays a scenario: the real scripts on a private server, with a clock that we set.

Time passes in steps. In each step people finish, give up, join, poll and enter, in that order; then
the room is advanced until nothing more is due, and its events are read. People learn from the
events what their page would show, so they poll only as often as presence requires.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable

from waitroom.engine import Engine, Pipeline
from waitroom.errors import Refused
from waitroom.models import Mode, Policy, Sample, Stats
from waitroom.rehearsal.accuracy import EVERY_S, Watch
from waitroom.rehearsal.behaviour import ROOM, Acts, Clock
from waitroom.rehearsal.crowd import AWAY, NO_SHOW, SILENT, Act, Crowd, Where
from waitroom.rehearsal.hearing import Hearing
from waitroom.rehearsal.scenario import Change, Fault, Origin, Scenario
from waitroom.report.plots import Moment
from waitroom.report.promises import Promises, calls_now

SAMPLE_S = 5.0
KEPT_SAMPLES = 720
LONG_LINE = 50_000
_MOST_EVENTS = 10_000
_RETRY_S = {Act.POLL: 10.0, Act.ENTER: 5.0}
_SERVED = (Where.CALLED, Where.INSIDE)
_HERE = (*_SERVED, Where.WAITING, Where.DROPPED)

OnProgress = Callable[[int], None]


class Stage:
    """One rehearsal under way."""

    def __init__(
        self,
        scenario: Scenario,
        engine: Engine,
        pipeline: Pipeline,
        clock: Clock,
        crowd: Crowd,
        watch: Watch,
        rng: random.Random,
    ) -> None:
        self.scenario, self.crowd, self.watch = scenario, crowd, watch
        self.promises = Promises[int](scenario.policy)
        self.timeline: list[Moment] = []
        self.origin_over_s = 0.0
        self._acts = Acts(scenario, pipeline, crowd, self.promises, rng)
        self._acts.read_events = self._read_events
        self._hearing = Hearing(crowd, self.promises, self._acts)
        self._engine, self._pipeline = engine, pipeline
        self._clock, self._rng = clock, rng
        self._samples: deque[Sample] = deque(maxlen=KEPT_SAMPLES)
        self._waiting = self._alive_ms = self._hold_ms = 0
        self._sample_at = self._ask_at = self._host_at = 0.0
        self._cursor = ""
        todo: list[Change | Fault | Origin] = [*scenario.origin, *scenario.changes]
        todo += scenario.faults
        self._todo = deque(sorted(todo, key=lambda event: event.at_s))

    @property
    def policy(self) -> Policy:
        """The policy of the room at this moment."""
        return self._acts.policy

    async def play(self, progress: OnProgress) -> None:
        """Play it to its end."""
        acts = self._acts
        self._clock.now_ms = acts.now_ms
        await self._engine.create(ROOM, self.policy)
        self._cursor = (await self._engine.events(ROOM)).cursor
        while not self._is_over():
            self._clock.now_ms = acts.now_ms
            await self._timetable()
            await self._one_step()
            progress(self.crowd.over)
            acts.step = self._next_step()
        await self._last_look()

    async def _one_step(self) -> None:
        await self._acts.all()
        await self._advance()
        hosted = await self._host()
        await self._read_events()
        self._hearing.judge_suspects(self._clock.now_ms)
        now_ms = self._clock.now_ms
        calls = hosted or calls_now(self.policy, now_ms, self._hold_ms)
        self.promises.after_step(now_ms, self._waiting, calls)
        self._alive_ms = now_ms
        takes = self._acts.takes
        if takes and len(self.promises.inside) > takes:
            self.origin_over_s += self.scenario.step_s
        await self._look()

    async def _advance(self) -> None:
        """Do what a ticker does until the next step."""
        clock, ends_ms = self._clock, self._acts.now_ms + round(1000 * self.scenario.step_s)
        while True:
            done = await self._engine.advance(ROOM)
            self._waiting = done.waiting
            self._acts.unread += 4
            if not done.more:
                # In a long line those who fell silent are looked for several times a step; with
                # one look they would stay until they are in front.
                due_ms = done.due_ms or ends_ms
                if due_ms >= ends_ms or done.waiting < LONG_LINE:
                    return
                clock.now_ms = max(clock.now_ms + 1, due_ms)
            if self._acts.unread > _MOST_EVENTS // 4:
                await self._read_events()

    # The course of time ---------------------------------------------------------------------

    def _is_over(self) -> bool:
        if self._acts.now_s >= self.scenario.lasts_s:
            return True
        return self._acts.came == len(self.crowd) and not self._anybody()

    def _anybody(self) -> bool:
        """Return whether anybody is here or will join again; after the end, waiting is in vain."""
        counts = self.crowd.counts
        coming = len(self.crowd) - self._acts.came
        ended = self.policy.mode_at(self._acts.now_ms) is Mode.ENDED and not self._todo
        return (
            any(counts[where] for where in (_SERVED if ended else _HERE))
            or counts[Where.TO_COME] > coming
        )

    def _next_step(self) -> int:
        """Return the next step, skipping time with nobody present and nothing planned."""
        acts, step_s = self._acts, self.scenario.step_s
        if self._anybody() or acts.came == len(self.crowd):
            return acts.step + 1
        steps = [int(self.crowd.arrives_s[acts.came] / step_s)]
        steps += [int(event.at_s / step_s) for event in list(self._todo)[:1]]
        planned = acts.agenda.next_step()
        steps += [] if planned is None else [planned]
        return max(acts.step + 1, min(steps))

    async def _timetable(self) -> None:
        while self._todo and self._todo[0].at_s <= self._acts.now_s:
            event = self._todo.popleft()
            if isinstance(event, Origin):
                self._acts.takes = event.takes
            elif isinstance(event, Change):
                await self._change(event)
            elif event.kind == "flush":
                await self._flush()
            else:
                await self._stay_away(event.for_s)

    async def _change(self, change: Change) -> None:
        if change.fields:
            changed = await self._engine.configure(ROOM, **change.fields)
            self._acts.policy = self.promises.policy = changed.new.policy
        if change.admit:
            await self._admit(change.admit)

    async def _admit(self, number: int) -> None:
        await self._read_events()
        self._hearing.by_hand = True
        try:
            await self._engine.admit(ROOM, number)
        except Refused:  # no room, or held: a host sees that, and tries again later
            return
        finally:
            await self._read_events()
            self._hearing.by_hand = False
        self._waiting = (await self._engine.stats(ROOM)).waiting

    async def _host(self) -> bool:
        """Let the host call as many as there is room for; return whether anybody was called."""
        every_s, now_s = self.scenario.host_every_s, self._acts.now_s
        if every_s is None or now_s < self._host_at:
            return False
        self._host_at = now_s + every_s
        if self._waiting:
            await self._admit(self.policy.capacity or 1)
        return self.policy.capacity is not None

    async def _flush(self) -> None:
        """Lose all data: only what people's browsers keep is left."""
        await self._read_events()
        await self._pipeline.flush()
        acts, crowd, policy = self._acts, self.crowd, self.policy
        self.promises.on_loss(vouched=policy.recover_s > 0)
        self._hold_ms = self._clock.now_ms + round(policy.recover_s * 1000)
        for person, where in enumerate(crowd.where):
            silent = crowd.habits[person] & SILENT
            if where == Where.WAITING and (silent or crowd.habits[person] & AWAY):
                crowd.move(person, Where.GAVE_UP if silent else Where.DROPPED)
            elif where == Where.CALLED and crowd.habits[person] & (SILENT | NO_SHOW):
                crowd.move(person, Where.NO_SHOW)
            elif where == Where.CALLED:
                acts.sent_back.add(person)
            elif where == Where.INSIDE and person in self.promises.inside:
                within_s = 0.6 * policy.recover_s * self._rng.random()
                acts.agenda.add(Act.VOUCH, acts.step_in(within_s), person)
            elif where == Where.INSIDE:
                crowd.move(person, Where.FINISHED)
        await self._engine.advance(ROOM)  # any next call restores the room

    async def _stay_away(self, seconds: float) -> None:
        """Let time pass without us; people retry afterwards what they wanted meanwhile."""
        acts, alive_ms = self._acts, self._alive_ms
        acts.step = acts.step_in(seconds)
        acts.agenda.put_off(
            acts.step, lambda act: acts.step + int(_RETRY_S.get(act, 0.0) * self._rng.random())
        )
        self._clock.now_ms = acts.now_ms
        self.promises.on_return(alive_ms, acts.now_ms)
        recover_ms = round(self.policy.recover_s * 1000)
        if acts.now_ms - alive_ms > recover_ms and (self._waiting or self.promises.called):
            self._hold_ms = acts.now_ms + recover_ms

    # What the room says ---------------------------------------------------------------------

    async def _read_events(self) -> None:
        self._acts.unread = 0
        while True:
            page = await self._engine.events(ROOM, self._cursor, _MOST_EVENTS)
            self._cursor = page.cursor
            for event in page.events:
                self._hearing.hear(event)
            if len(page.events) < _MOST_EVENTS:
                return

    # What is noted --------------------------------------------------------------------------

    async def _look(self) -> None:
        """Sample the room now and then, and note the estimates that some people get."""
        now_s = self._acts.now_s
        if now_s < self._sample_at:
            return
        self._sample_at = now_s + SAMPLE_S
        sample = await self._engine.sample(ROOM)
        stats = await self._engine.stats(ROOM)
        if sample is not None:
            self._samples.append(sample)
        self._note(stats)
        if now_s >= self._ask_at:
            self._ask_at = now_s + EVERY_S
            await self._ask(stats)

    def _note(self, stats: Stats) -> None:
        counts = self.crowd.counts
        self.timeline.append(
            Moment(
                at_ms=stats.now_ms,
                waiting=stats.waiting,
                called=stats.called,
                inside=stats.inside,
                no_shows=counts[Where.NO_SHOW],
                capacity=self.policy.capacity,
                takes=self._acts.takes or None,
                holds=(stats.hold_until_ms or 0) > stats.now_ms,
                mode=str(stats.mode),
            )
        )

    async def _ask(self, stats: Stats) -> None:
        if stats.waiting == 0:
            return
        every = self.watch.every_nth
        people = [person for person in range(0, self._acts.came, every) if self.crowd.waits(person)]
        positions = await self._acts.positions(people)
        self.watch.ask(self.policy, stats, tuple(self._samples), positions)

    async def _last_look(self) -> None:
        """Find people whom the room has forgotten, or keeps without a reason."""
        self._clock.now_ms = self._acts.now_ms
        left = [person for person in range(len(self.crowd)) if self.crowd.waits(person)]
        await self._acts.poll(left)
        await self._acts.positions([])
        await self._read_events()
        self._hearing.judge_suspects(self._clock.now_ms)
        stats, counts = await self._engine.stats(ROOM), self.crowd.counts
        in_room = (stats.waiting, stats.called + stats.inside)
        known = (counts[Where.WAITING], len(self.promises.called) + len(self.promises.inside))
        if in_room != known:
            broken = (
                f"at the end the room holds {in_room} waiting and served, but there are {known}"
            )
            self.promises.nobody_lost.breaks(self._clock.now_ms, broken)
