"""What was told is remembered in a table of fixed size, and never mixed up."""

from __future__ import annotations

import random

from waitroom.engine.told import Told


def test_the_last_position_of_a_place() -> None:
    """The newest counts, places are kept apart, and forgotten entries stay forgotten."""
    told = Told()
    told.expect(100)
    told.waits(5_000, 7, told.now())
    told.waits(5_001, 8, told.now())
    told.waits(5_000, 6, told.now())
    first, second = told.position(5_000), told.position(5_001)
    assert first is not None
    assert second is not None
    assert (6, 8) == (first.position, second.position)
    assert 0 <= first.age_s < 60
    told.forget(5_000)
    assert told.position(5_000) is None
    assert told.position(5_002) is None
    told.forget_all()
    assert told.position(5_001) is None


def test_no_place_is_taken_for_another() -> None:
    """If two places share a slot the older is forgotten: no answer rather than a wrong one."""
    told, chance = Told(), random.Random(1)
    told.expect(1_000)
    places = {chance.getrandbits(50) | 1: position for position in range(1, 1_001)}
    for place, position in places.items():
        told.waits(place, position, told.now())
    known = {place: told.position(place) for place in places}
    right = [place for place, entry in known.items() if entry and entry.position == places[place]]
    assert len(right) == len([entry for entry in known.values() if entry is not None])
    assert len(right) > 800, "most are remembered"


def test_consecutive_places_do_not_meet() -> None:
    """People who joined one after another are all remembered."""
    told = Told()
    told.expect(30_000)
    for place in range(1_700_000_000_000_000, 1_700_000_000_030_000):
        told.waits(place, 1, told.now())
    assert all(told.position(1_700_000_000_000_000 + n) is not None for n in range(30_000))


def test_a_new_ticket_has_no_place() -> None:
    """Place 0 means none; nobody was told anything about it."""
    told = Told()
    told.waits(0, 5, told.now())
    assert told.position(0) is None
