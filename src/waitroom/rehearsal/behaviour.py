"""What people do in a rehearsal, as calls of the real scripts."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from math import ceil
from typing import Any

from waitroom.engine import Engine
from waitroom.engine.crowd import ENTERS_PER_SCRIPT
from waitroom.engine.protocol import parse
from waitroom.engine.scripts import Verb
from waitroom.models import MEMBERS_PER_SCRIPT, BeforeOpen, Policy
from waitroom.rehearsal.crowd import AWAY, NO_SHOW, SILENT, Act, Agenda, Crowd, Where
from waitroom.rehearsal.promises import Promises
from waitroom.rehearsal.scenario import Scenario
from waitroom.rehearsal.wire import Wire

ROOM = "rehearsal"
LONGEST_POLL_S = 60.0
"""What a browser does with a hidden tab."""

NOTICE_S = 3.0
"""People in front poll this often, so that is how long a call may go unnoticed."""

_EVENTS = {Verb.JOIN: MEMBERS_PER_SCRIPT, Verb.ENTER: 2, Verb.FINISH: 2, Verb.LEAVE: 2}
_MANY_EVENTS = 3_000  # the room keeps ten thousand
_CALLS = 1_000


class Clock:
    """The time that every script is given."""

    now_ms = 0

    def __call__(self) -> int:
        """Return the time in µs."""
        return self.now_ms * 1000


class Acts:
    """Everything that people do, and who will do what next."""

    def __init__(
        self,
        scenario: Scenario,
        engine: Engine,
        wire: Wire,
        crowd: Crowd,
        promises: Promises,
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
        self._scenario, self._engine, self._wire = scenario, engine, wire
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
        """The time as scripts are given it."""
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
        await self._wire.settle()

    def react(self, people: Sequence[int]) -> None:
        """Let those who were called go in after a while, if they see it and want to."""
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
        for start in range(0, len(coming), MEMBERS_PER_SCRIPT):
            some = coming[start : start + MEMBERS_PER_SCRIPT]
            await self._send(Verb.JOIN, [self._join_args(some)], self._joined_by(some))

    def _join_args(self, people: Sequence[int], *, restore: bool = False) -> list[Any]:
        args: list[Any] = [int(restore)]
        draws = self.policy.before_open is BeforeOpen.DRAW and not restore
        epoch = self._engine.runner.memory(ROOM).epoch
        for person in people:
            id_ = self._crowd.id_of(person)
            draw = self._engine.ring.draw(ROOM, epoch, id_) if draws else ""
            args += (id_, self._claim(person), draw, 0)
        return args

    def _claim(self, person: int) -> str:
        place = self._crowd.place[person]
        return f"{place}:{self._engine.runner.memory(ROOM).epoch}" if place else ""

    def _joined_by(self, people: list[int]) -> Callable[[list[Any]], None]:
        def took(answers: list[Any]) -> None:
            flat, crowd, now_ms = _fields(answers[0])["tickets"], self._crowd, self.now_ms
            for n, person in enumerate(people):
                word, place = flat[5 * n], flat[5 * n + 1]
                crowd.place[person] = place
                crowd.joined_ms[person] = crowd.seen_ms[person] = now_ms
                if word == b"waiting":
                    crowd.move(person, Where.WAITING)
                    self._poll_within(person, self._poll_s)
                elif word == b"called":
                    crowd.move(person, Where.WAITING)  # until its event is read
                    self.direct.add(person)
                else:
                    crowd.move(person, Where.REFUSED)

        return took

    @property
    def _poll_s(self) -> float:
        """How often people poll who are not in front: seldom, but nobody may look absent."""
        policy, given = self.policy, self._scenario.people.poll_every_s
        if given is not None:
            return given
        found = LONGEST_POLL_S
        if policy.presence_s is not None:
            found = min(found, 0.4 * policy.presence_s)
        return min(found, 0.8 * policy.recover_s) if policy.recover_s else found

    def _poll_within(self, person: int, seconds: float) -> None:
        self.agenda.add(Act.POLL, self.step_in(seconds * self._rng.random()), person)

    async def poll(self, people: list[int]) -> None:
        """Let people poll now, and again in a while."""
        jitter = self._rng.uniform
        for start in range(0, len(people), MEMBERS_PER_SCRIPT):
            some = people[start : start + MEMBERS_PER_SCRIPT]
            await self._send(Verb.POLL, [self._poll_args(some)], self._polled_by(some))
            self.agenda.extend(Act.POLL, self.step_in(self._poll_s * jitter(0.9, 1.0)), some)

    async def positions(self, people: list[int]) -> list[tuple[int, int]]:
        """Let some people poll, and return who is at which position."""
        found: list[tuple[int, int]] = []

        def noted(some: list[int]) -> Callable[[list[Any]], None]:
            def took(answers: list[Any]) -> None:
                positions = _fields(answers[0])["positions"]
                found.extend(pair for pair in zip(some, positions, strict=True) if pair[1] > 0)
                self._polled_by(some)(answers)

            return took

        for start in range(0, len(people), MEMBERS_PER_SCRIPT):
            some = people[start : start + MEMBERS_PER_SCRIPT]
            await self._send(Verb.POLL, [self._poll_args(some)], noted(some))
        await self._wire.settle()
        return found

    def _poll_args(self, people: list[int]) -> tuple[str, str]:
        # Millions of polls go through here, so it does without the functions that say the same.
        place, epoch = self._crowd.place, self._engine.runner.memory(ROOM).epoch
        ids = "".join([f"{person:016d}" for person in people])
        return ids, " ".join([f"{place[person]}:{epoch}" for person in people])

    def _polled_by(self, people: list[int]) -> Callable[[list[Any]], None]:
        def took(answers: list[Any]) -> None:
            fields, crowd, now_ms = _fields(answers[0]), self._crowd, self.now_ms
            others, seen_ms, n = fields["others"], crowd.seen_ms, 0
            for person, position in zip(people, fields["positions"], strict=True):
                if position < 0:
                    self._elsewhere(person, others[n].decode())
                    n += 3
                else:
                    seen_ms[person] = now_ms

        return took

    def _elsewhere(self, person: int, word: str) -> None:
        """Somebody who believes to wait does not: back to their place, or let events explain."""
        if word == "absent":
            self._absent.append(person)
        elif word != "called":
            self.suspects.append((person, word))

    async def _put_back(self) -> None:
        while self._absent:
            some, self._absent = (
                self._absent[:MEMBERS_PER_SCRIPT],
                self._absent[MEMBERS_PER_SCRIPT:],
            )
            args = self._join_args(some, restore=True)
            await self._wire.send(Verb.JOIN, [args], self._restored_by(some))
            await self._wire.settle()

    def _restored_by(self, people: list[int]) -> Callable[[list[Any]], None]:
        def took(answers: list[Any]) -> None:
            flat = _fields(answers[0])["tickets"]
            for n, person in enumerate(people):
                word = flat[5 * n].decode()
                if word == "waiting":
                    self._crowd.move(person, Where.WAITING)
                    self._crowd.seen_ms[person] = self.now_ms
                elif word != "called":
                    self.suspects.append((person, word))

        return took

    def _close_tabs(self, people: list[int]) -> None:
        for person in filter(self._crowd.waits, people):
            self._crowd.habits[person] |= AWAY
            self.agenda.add(Act.COME_BACK, self.step_in(self._back_after()), person)

    def _come_back(self, people: list[int]) -> list[int]:
        found, crowd = [], self._crowd
        for person in people:
            crowd.habits[person] &= ~AWAY
            if crowd.where[person] == Where.CALLED and not crowd.habits[person] & NO_SHOW:
                self.agenda.add(Act.ENTER, self.step_in(self._enters_after()), person)
            elif crowd.where[person] in (Where.WAITING, Where.DROPPED):
                found.append(person)
        return found

    async def _give_up(self, people: list[int]) -> None:
        crowd, says, calls = self._crowd, self._scenario.people.leaves, []
        for person in people:
            if crowd.where[person] not in (Where.WAITING, Where.DROPPED):
                continue
            if crowd.where[person] == Where.WAITING and crowd.waits(person):
                if self._rng.random() < says:
                    calls.append((crowd.id_of(person), self._claim(person)))
                    crowd.move(person, Where.GAVE_UP)
                    continue
            elif crowd.where[person] == Where.DROPPED:
                crowd.move(person, Where.GAVE_UP)
            crowd.habits[person] |= SILENT
        await self._send(Verb.LEAVE, calls, _no_matter)

    async def _enter(self, people: list[int]) -> None:
        crowd = self._crowd
        some = [
            person
            for person in people
            if crowd.where[person] == Where.CALLED and not crowd.habits[person] & (SILENT | AWAY)
        ]
        for start in range(0, len(some), ENTERS_PER_SCRIPT):
            these = some[start : start + ENTERS_PER_SCRIPT]
            args = [word for person in these for word in (crowd.id_of(person), self._claim(person))]
            await self._send(Verb.ENTER, [args], self._entered_by(these))

    def _entered_by(self, people: list[int]) -> Callable[[list[Any]], None]:
        def took(answers: list[Any]) -> None:
            flat = _fields(answers[0])["tickets"]
            for n, person in enumerate(people):
                self._entered(person, flat[4 * n], flat[4 * n + 1], flat[4 * n + 2])

        return took

    def _entered(self, person: int, word: bytes, number: int, sid: int) -> None:
        if word == b"inside":
            self._crowd.sids[person] = sid
            self._stay(person)
        elif word == b"enter_later":
            at_s = (number - self.now_ms) / 1000
            self.agenda.add(Act.ENTER, self.step_in(at_s), person)
        elif person in self.sent_back:
            self.sent_back.discard(person)
            self._crowd.move(person, Where.TO_COME)
            self.agenda.add(Act.JOIN, self.step + 1, person)
        else:
            self.suspects.append((person, word.decode()))

    def _stay(self, person: int) -> None:
        """Plan the end of a visit; who does not say so, or stays too long, is ended by the room."""
        stays_s = self._session() * self._stretch()
        length_s = self.policy.session_s
        if length_s is not None:
            says = self._rng.random() < self._scenario.people.finishes
            if not says or stays_s >= length_s:
                return
        self.agenda.add(Act.FINISH, self.step_in(stays_s), person)

    def _stretch(self) -> float:
        """How much longer a visit takes because the site behind has too many."""
        return max(1.0, len(self._promises.inside) / self.takes) if self.takes else 1.0

    async def _finish(self, people: list[int]) -> None:
        crowd = self._crowd
        some = [person for person in people if crowd.where[person] == Where.INSIDE]
        calls = [(crowd.id_of(person), "") for person in some]
        waiting = iter(some)

        def took(answers: list[Any]) -> None:
            for raw in answers:
                person = next(waiting)
                if raw[1] != b"finished":  # the room has lost it, and no gate has vouched yet
                    self._promises.inside.pop(person, None)
                    crowd.move(person, Where.FINISHED)

        await self._send(Verb.FINISH, calls, took)

    async def _vouch(self, people: list[int]) -> None:
        """Gates announce the sessions that they see, so that no place is given away twice."""
        crowd, inside = self._crowd, self._promises.inside
        some = [one for one in people if crowd.where[one] == Where.INSIDE and one in inside]
        calls = [
            (crowd.id_of(one), crowd.sids.get(one, ""), inside[one], self._claim(one))
            for one in some
        ]
        waiting = iter(some)

        def took(answers: list[Any]) -> None:
            for raw in answers:
                person = next(waiting)
                if raw[1] != b"inside":
                    inside.pop(person, None)
                    crowd.move(person, Where.EXPIRED)

        await self._send(Verb.RENEW, calls, took)

    async def _send(
        self, verb: Verb, calls: Sequence[Sequence[Any]], took: Callable[[list[Any]], None]
    ) -> None:
        """Send calls; read the room's events before they could be more than it keeps."""
        for start in range(0, len(calls), _CALLS):
            some = calls[start : start + _CALLS]
            await self._wire.send(verb, some, took)
            self.unread += len(some) * _EVENTS.get(verb, 0)
            if self.unread > _MANY_EVENTS:
                await self._wire.settle()
                await self.read_events()
        if self._absent:
            await self._wire.settle()
            await self._put_back()


def _fields(raw: list[Any]) -> dict[str, Any]:
    return parse(raw).fields


def _no_matter(_: list[Any]) -> None:
    """Take answers that nothing hangs on."""


async def _nothing() -> None:
    """Stand in until there is somebody to read events."""
