"""What people do in a rehearsal, played with the real scripts."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from math import ceil

from waitroom.engine import ENTERS_PER_SCRIPT, EnteredTicket, JoinedTicket, Pipeline, Polled
from waitroom.models import MEMBERS_PER_SCRIPT, Policy
from waitroom.rehearsal.crowd import AWAY, NO_SHOW, SILENT, Act, Agenda, Crowd, Where
from waitroom.rehearsal.scenario import Scenario
from waitroom.report.promises import Promises

ROOM = "rehearsal"
LONGEST_POLL_S = 60.0
"""How often a browser lets a hidden tab poll."""

NOTICE_S = 3.0
"""People in front poll this often, so a call may go unnoticed for this long."""

_EVENTS_PER_CALL = 2  # of an enter, a finish or a leave; a join has at most one per ticket
_MANY_EVENTS = 3_000  # the room keeps ten thousand
_CALLS = 1_000


class Clock:
    """The clock of all scripts."""

    now_ms = 0

    def __call__(self) -> int:
        """Return the time in µs."""
        return self.now_ms * 1000


class Acts:
    """Everything that people do, and who will do what next."""

    def __init__(
        self,
        scenario: Scenario,
        pipeline: Pipeline,
        crowd: Crowd,
        promises: Promises[int],
        rng: random.Random,
    ) -> None:
        self.agenda = Agenda()
        self.policy: Policy = scenario.policy
        self.step = self.came = self.takes = 0
        self.direct: set[int] = set()
        self.sent_back: set[int] = set()
        self.suspects: list[tuple[int, str]] = []
        self.unread = 0
        self.read_events: Callable[[], Awaitable[None]] = _nothing
        self._scenario, self._pipeline = scenario, pipeline
        self._crowd, self._promises, self._rng = crowd, promises, rng
        self._absent: list[int] = []
        self._enters_after = scenario.people.enters_after.drawn_by(rng)
        self._session = scenario.people.session.drawn_by(rng)
        self._back_after = scenario.people.comes_back_after.drawn_by(rng)

    @property
    def now_s(self) -> float:
        """Seconds since the start."""
        return self.step * self._scenario.step_s

    @property
    def now_ms(self) -> int:
        """The time that scripts get."""
        return self._scenario.starts_ms + round(self.now_s * 1000)

    def step_in(self, seconds: float) -> int:
        """Return the step that is `seconds` from now, at least the next one."""
        return self.step + max(1, ceil(seconds / self._scenario.step_s))

    async def all(self) -> None:
        """Let everybody do what they planned for this step."""
        take, step = self.agenda.take, self.step
        await self._finish(take(Act.FINISH, step))
        await self._give_up(take(Act.GIVE_UP, step))
        await self._join(take(Act.JOIN, step))
        self._close_tabs(take(Act.CLOSE_TAB, step))
        back = self._come_back(take(Act.COME_BACK, step))
        await self.poll(back + self._crowd.those_who_wait(take(Act.POLL, step)))
        await self._vouch(take(Act.VOUCH, step))
        await self._enter(take(Act.ENTER, step))
        await self._pipeline.settle()

    def react(self, people: Sequence[int]) -> None:
        """Let called people go in after a while, if they see the call and want to."""
        habits, add = self._crowd.habits, self.agenda.add
        for person in people:
            if not habits[person] & (SILENT | AWAY | NO_SHOW):
                after_s = NOTICE_S * self._rng.random() + self._enters_after()
                add(Act.ENTER, self.step_in(after_s), person)

    async def _join(self, again: list[int]) -> None:
        crowd, until_s = self._crowd, self.now_s + self._scenario.step_s / 2
        first = self.came
        while self.came < len(crowd) and crowd.arrives_s[self.came] <= until_s:
            self.came += 1
        for person in range(first, self.came):
            crowd.decide(person, self.agenda, self.step, self._scenario.step_s)
        coming = [*again, *range(first, self.came)]
        for some in _chunks(coming, MEMBERS_PER_SCRIPT):
            await self._pipeline.join(self._tickets(some), partial(self._joined, some))
            await self._sent(MEMBERS_PER_SCRIPT)

    def _tickets(self, people: Sequence[int]) -> list[tuple[str, int]]:
        crowd = self._crowd
        return [(crowd.id_of(person), crowd.place[person]) for person in people]

    def _joined(self, people: list[int], tickets: Sequence[JoinedTicket]) -> None:
        crowd, now_ms = self._crowd, self.now_ms
        for person, ticket in zip(people, tickets, strict=True):
            crowd.place[person] = ticket.place
            crowd.joined_ms[person] = crowd.seen_ms[person] = now_ms
            if ticket.word == "waiting":
                crowd.move(person, Where.WAITING)
                self._poll_within(person, self._poll_s)
            elif ticket.word == "called":
                crowd.move(person, Where.WAITING)  # until its event is read
                self.direct.add(person)
            else:
                crowd.move(person, Where.REFUSED)

    @property
    def _poll_s(self) -> float:
        """The poll interval of people not in front: long, but short enough not to look absent."""
        policy, given = self.policy, self._scenario.people.poll_every_s
        if given is not None:
            return given
        poll_s = LONGEST_POLL_S
        if policy.presence_s is not None:
            poll_s = min(poll_s, 0.4 * policy.presence_s)
        return min(poll_s, 0.8 * policy.recover_s) if policy.recover_s else poll_s

    def _poll_within(self, person: int, seconds: float) -> None:
        self.agenda.add(Act.POLL, self.step_in(seconds * self._rng.random()), person)

    async def poll(self, people: list[int]) -> None:
        """Let people poll now, and again in a while."""
        jitter = self._rng.uniform
        for some in _chunks(people, MEMBERS_PER_SCRIPT):
            await self._poll(some, partial(self._polled, some))
            self.agenda.extend(Act.POLL, self.step_in(self._poll_s * jitter(0.9, 1.0)), some)

    async def positions(self, people: list[int]) -> list[tuple[int, int]]:
        """Let some people poll, and return who is at which position."""
        positions: list[tuple[int, int]] = []

        def noted(some: list[int], reply: Polled) -> None:
            pairs = zip(some, reply.positions, strict=True)
            positions.extend(pair for pair in pairs if pair[1] > 0)
            self._polled(some, reply)

        for some in _chunks(people, MEMBERS_PER_SCRIPT):
            await self._poll(some, partial(noted, some))
        await self._pipeline.settle()
        return positions

    async def _poll(self, people: list[int], on_reply: Callable[[Polled], None]) -> None:
        # Millions of polls go through here, so it does not use `id_of`.
        ids, place = [f"{person:016d}" for person in people], self._crowd.place
        await self._pipeline.poll(ids, [place[person] for person in people], on_reply)
        await self._sent(0)

    def _polled(self, people: list[int], reply: Polled) -> None:
        seen_ms, now_ms = self._crowd.seen_ms, self.now_ms
        for person, position in zip(people, reply.positions, strict=True):
            if position < 0:
                self._elsewhere(person, next(reply.elsewhere).word)
            else:
                seen_ms[person] = now_ms

    def _elsewhere(self, person: int, word: str) -> None:
        """Handle somebody who is not waiting as they believed: rejoin, or let events explain."""
        if word == "absent":
            self._absent.append(person)
        elif word != "called":
            self.suspects.append((person, word))

    async def _put_back(self) -> None:
        while self._absent:
            some = self._absent[:MEMBERS_PER_SCRIPT]
            del self._absent[:MEMBERS_PER_SCRIPT]
            restored = partial(self._restored, some)
            await self._pipeline.join(self._tickets(some), restored, restore=True)
            await self._pipeline.settle()

    def _restored(self, people: list[int], tickets: Sequence[JoinedTicket]) -> None:
        for person, ticket in zip(people, tickets, strict=True):
            if ticket.word == "waiting":
                self._crowd.move(person, Where.WAITING)
                self._crowd.seen_ms[person] = self.now_ms
            elif ticket.word != "called":
                self.suspects.append((person, ticket.word))

    def _close_tabs(self, people: list[int]) -> None:
        for person in filter(self._crowd.waits, people):
            self._crowd.habits[person] |= AWAY
            self.agenda.add(Act.COME_BACK, self.step_in(self._back_after()), person)

    def _come_back(self, people: list[int]) -> list[int]:
        waiting, crowd = [], self._crowd
        for person in people:
            crowd.habits[person] &= ~AWAY
            if crowd.where[person] == Where.CALLED and not crowd.habits[person] & NO_SHOW:
                self.agenda.add(Act.ENTER, self.step_in(self._enters_after()), person)
            elif crowd.where[person] in (Where.WAITING, Where.DROPPED):
                waiting.append(person)
        return waiting

    async def _give_up(self, people: list[int]) -> None:
        crowd, says, leaving = self._crowd, self._scenario.people.leaves, list[int]()
        for person in people:
            if crowd.where[person] not in (Where.WAITING, Where.DROPPED):
                continue
            if crowd.where[person] == Where.WAITING and crowd.waits(person):
                if self._rng.random() < says:
                    leaving.append(person)
                    crowd.move(person, Where.GAVE_UP)
                    continue
            elif crowd.where[person] == Where.DROPPED:
                crowd.move(person, Where.GAVE_UP)
            crowd.habits[person] |= SILENT
        for some in _chunks(leaving):
            await self._pipeline.leave(self._tickets(some))
            await self._sent(len(some) * _EVENTS_PER_CALL)

    async def _enter(self, people: list[int]) -> None:
        crowd = self._crowd
        some = [
            person
            for person in people
            if crowd.where[person] == Where.CALLED and not crowd.habits[person] & (SILENT | AWAY)
        ]
        for these in _chunks(some, ENTERS_PER_SCRIPT):
            await self._pipeline.enter(self._tickets(these), partial(self._entered, these))
            await self._sent(_EVENTS_PER_CALL)

    def _entered(self, people: list[int], tickets: Sequence[EnteredTicket]) -> None:
        for person, ticket in zip(people, tickets, strict=True):
            if ticket.word == "inside":
                self._crowd.sids[person] = ticket.sid
                self._stay(person)
            elif ticket.word == "enter_later":
                at_s = (ticket.number - self.now_ms) / 1000
                self.agenda.add(Act.ENTER, self.step_in(at_s), person)
            elif person in self.sent_back:
                self.sent_back.discard(person)
                self._crowd.move(person, Where.TO_COME)
                self.agenda.add(Act.JOIN, self.step + 1, person)
            else:
                self.suspects.append((person, ticket.word))

    def _stay(self, person: int) -> None:
        """Plan the end of a visit; the room ends a visit that lasts too long or is not finished."""
        stays_s = self._session() * self._stretch()
        length_s = self.policy.session_s
        if length_s is not None:
            says = self._rng.random() < self._scenario.people.finishes
            if not says or stays_s >= length_s:
                return
        self.agenda.add(Act.FINISH, self.step_in(stays_s), person)

    def _stretch(self) -> float:
        """How much longer a visit takes because the site behind has too many people."""
        return max(1.0, len(self._promises.inside) / self.takes) if self.takes else 1.0

    async def _finish(self, people: list[int]) -> None:
        crowd = self._crowd
        leaving = [person for person in people if crowd.where[person] == Where.INSIDE]
        waiting = iter(leaving)

        def heard(words: list[str]) -> None:
            for word, person in zip(words, waiting, strict=False):
                if word != "finished":  # the room lost the session, and no gate has vouched yet
                    self._promises.inside.pop(person, None)
                    crowd.move(person, Where.FINISHED)

        for some in _chunks(leaving):
            await self._pipeline.finish([crowd.id_of(person) for person in some], heard)
            await self._sent(len(some) * _EVENTS_PER_CALL)

    async def _vouch(self, people: list[int]) -> None:
        """Let gates announce the sessions they see, so that no place is given away twice."""
        crowd, inside = self._crowd, self._promises.inside
        seen = [who for who in people if crowd.where[who] == Where.INSIDE and who in inside]
        waiting = iter(seen)

        def heard(words: list[str]) -> None:
            for word, person in zip(words, waiting, strict=False):
                if word != "inside":
                    inside.pop(person, None)
                    crowd.move(person, Where.EXPIRED)

        for some in _chunks(seen):
            sessions = [
                (ticket_id, place, crowd.sids.get(person), inside[person])
                for person, (ticket_id, place) in zip(some, self._tickets(some), strict=True)
            ]
            await self._pipeline.vouch(sessions, heard)
            await self._sent(0)

    async def _sent(self, events: int) -> None:
        """Read the room's events before there are more than it keeps."""
        self.unread += events
        if self.unread > _MANY_EVENTS:
            await self._pipeline.settle()
            await self.read_events()
        if self._absent:
            await self._pipeline.settle()
            await self._put_back()


def _chunks(people: list[int], size: int = _CALLS) -> Iterator[list[int]]:
    for start in range(0, len(people), size):
        yield people[start : start + size]


async def _nothing() -> None:
    """Do nothing, until a reader of events is set."""
