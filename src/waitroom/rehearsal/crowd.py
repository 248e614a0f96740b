"""The people of a rehearsal: where each is, what each will do, and when they do it next.

A person is a number. What is known about them is in arrays, so that a million take a few dozen
bytes each; what they will do is in an agenda of steps.
"""

from __future__ import annotations

import random
from array import array
from collections import defaultdict
from collections.abc import Callable, Sequence
from enum import IntEnum, StrEnum

from waitroom.rehearsal.scenario import Behaviour


class Where(IntEnum):
    """Where somebody is, as far as they can know."""

    TO_COME = 0
    WAITING = 1
    CALLED = 2
    INSIDE = 3
    DROPPED = 4  # silent for too long: the place is free, and comes back if they do in time
    FINISHED = 5
    EXPIRED = 6
    NO_SHOW = 7
    GAVE_UP = 8
    MISSED = 9  # away during their turn
    REFUSED = 10
    LOST = 11


OVER = frozenset(where for where in Where if where >= Where.FINISHED)


class Act(StrEnum):
    """What somebody does at a moment."""

    JOIN = "join"
    POLL = "poll"
    GIVE_UP = "give up"
    CLOSE_TAB = "close tab"
    COME_BACK = "come back"
    ENTER = "enter"
    FINISH = "finish"
    VOUCH = "vouch"  # a gate, for a session that it knows


SILENT, AWAY, NO_SHOW = 1, 2, 4
"""Habits of a person, as bits: gone silently, tab closed for now, will not enter."""


class Agenda:
    """Who does what in which step."""

    def __init__(self) -> None:
        self._steps: dict[Act, defaultdict[int, list[int]]] = {
            act: defaultdict(list) for act in Act
        }

    def add(self, act: Act, step: int, person: int) -> None:
        """Plan something for one person."""
        self._steps[act][step].append(person)

    def extend(self, act: Act, step: int, people: list[int]) -> None:
        """Plan something for many."""
        if people:
            self._steps[act][step] += people

    def take(self, act: Act, step: int) -> list[int]:
        """Remove and return the people who do something in this step."""
        return self._steps[act].pop(step, [])

    def put_off(self, until: int, step: Callable[[Act], int]) -> None:
        """Postpone what was planned for before `until`; `step` chooses when."""
        for act, steps in self._steps.items():
            late = [person for at in sorted(steps) if at < until for person in steps[at]]
            for at in [at for at in steps if at < until]:
                del steps[at]
            for person in late:
                steps[step(act)].append(person)

    def next_step(self) -> int | None:
        """Return the first step in which anything is planned."""
        return min((min(steps) for steps in self._steps.values() if steps), default=None)


class Crowd:
    """All people, numbered in the order in which they come."""

    def __init__(self, arrives_s: array[float], behaviour: Behaviour, rng: random.Random) -> None:
        number = len(arrives_s)
        self.arrives_s = arrives_s
        self.where = bytearray(number)
        self.habits = bytearray(number)
        self.place = array("q", bytes(8 * number))
        self.seen_ms = array("q", bytes(8 * number))
        self.joined_ms = array("q", bytes(8 * number))
        self.called_ms = array("q", bytes(8 * number))
        self.sids: dict[int, int] = {}
        self.counts = [0] * len(Where)
        self.counts[Where.TO_COME] = number
        self._behaviour = behaviour
        self._rng = rng
        self._patience = behaviour.patience.drawn_by(rng) if behaviour.patience else None
        self._closes_after = behaviour.closes_after.drawn_by(rng)

    def __len__(self) -> int:
        return len(self.where)

    def move(self, person: int, where: Where) -> None:
        """Note where somebody is now."""
        self.counts[self.where[person]] -= 1
        self.counts[where] += 1
        self.where[person] = where

    @property
    def over(self) -> int:
        """How many have ended."""
        return sum(self.counts[where] for where in OVER)

    def id_of(self, person: int) -> str:
        """Return the ticket id of a person: 16 characters, like all ids."""
        return f"{person:016d}"

    def waits(self, person: int) -> bool:
        """Return whether somebody waits with their page open."""
        return self.where[person] == Where.WAITING and not self.habits[person] & (SILENT | AWAY)

    def those_who_wait(self, people: Sequence[int]) -> list[int]:
        """Return those for whom `waits` is true; for millions, so without a call for each."""
        where, habits, waiting, away = self.where, self.habits, int(Where.WAITING), SILENT | AWAY
        return [who for who in people if where[who] == waiting and not habits[who] & away]

    def decide(self, person: int, agenda: Agenda, step: int, step_s: float) -> None:
        """Draw, on arrival, what somebody will do; the same seed draws the same."""
        plan, rng = self._behaviour, self._rng
        if plan.ghosts and rng.random() < plan.ghosts:
            self.habits[person] |= SILENT | NO_SHOW
            return
        if plan.no_shows and rng.random() < plan.no_shows:
            self.habits[person] |= NO_SHOW
        if self._patience is not None:
            agenda.add(Act.GIVE_UP, step + 1 + int(self._patience() / step_s), person)
        if plan.closes_tab and rng.random() < plan.closes_tab:
            agenda.add(Act.CLOSE_TAB, step + 1 + int(self._closes_after() / step_s), person)
