"""The crowd of a rehearsal: an agenda that loses nobody, and counts that fit."""

from __future__ import annotations

import random
from array import array

from waitroom.rehearsal.crowd import NO_SHOW, SILENT, Act, Agenda, Crowd, Where
from waitroom.rehearsal.scenario import Behaviour


def crowd(people: int, **behaviour: float) -> Crowd:
    """Return people who come at once."""
    return Crowd(array("d", [0.0] * people), Behaviour(**behaviour), random.Random(5))  # type: ignore[arg-type]


def test_an_agenda_gives_everything_once() -> None:
    """What is planned for a step is taken in order, and then gone."""
    agenda = Agenda()
    agenda.add(Act.JOIN, 7, 1)
    agenda.extend(Act.JOIN, 7, [2, 3])
    agenda.add(Act.POLL, 4, 1)
    assert 4 == agenda.next_step()
    assert [] == agenda.take(Act.POLL, 7)
    assert [1, 2, 3] == agenda.take(Act.JOIN, 7)
    assert [1] == agenda.take(Act.POLL, 4)
    assert None is agenda.next_step()


def test_what_is_put_off_keeps_its_order() -> None:
    """An outage moves what falls into it, and nothing else."""
    agenda = Agenda()
    for person, step in enumerate((3, 2, 9)):
        agenda.add(Act.POLL, step, person)
    agenda.put_off(5, lambda _: 5)
    assert [1, 0] == agenda.take(Act.POLL, 5)
    assert [2] == agenda.take(Act.POLL, 9)


def test_everybody_is_somewhere() -> None:
    """Counts follow each move; anybody who has ended is over."""
    people = crowd(3)
    people.move(0, Where.WAITING)
    people.move(1, Where.WAITING)
    people.move(1, Where.FINISHED)
    assert [1, 1, 1] == [people.counts[where] for where in (Where.TO_COME, Where.WAITING, 5)]
    assert (3, 1) == (sum(people.counts), people.over)
    assert [0] == people.those_who_wait(range(3))
    people.habits[0] |= SILENT
    assert not people.waits(0)


def test_shares_of_a_behaviour() -> None:
    """About as many people are ghosts and no-shows as the scenario says."""
    people, agenda = crowd(2_000, ghosts=0.1, no_shows=0.2), Agenda()
    for person in range(2_000):
        people.decide(person, agenda, 0, 1.0)
    ghosts = sum(bool(habit & SILENT) for habit in people.habits)
    absent = sum(bool(habit & NO_SHOW) for habit in people.habits) - ghosts
    assert 160 < ghosts < 240
    assert 300 < absent < 420
    assert None is agenda.next_step(), "nobody gives up, and nobody closes the tab"
