"""Lever forms, parsed into wishes."""

from __future__ import annotations

import pytest

from waitroom.errors import InvalidInput, InvalidPolicy
from waitroom.models import Policy
from waitroom.moments import from_ms
from waitroom.server.operator.levers import wishes
from waitroom.server.operator.levers.wishes import Lever
from waitroom.server.pages.text import load_text

PLAIN = Policy()


@pytest.mark.parametrize("text", ["-5", "1e3", "0x10", "٣", "1.2.3", "5;", "9" * 13])
def test_numbers_that_are_none(text: str) -> None:
    """The content of a form is parsed strictly."""
    with pytest.raises(InvalidPolicy):
        wishes.read({"do": "capacity", "capacity": text}, PLAIN)
    with pytest.raises(InvalidInput):
        wishes.read({"do": "admit", "count": text}, PLAIN)


def test_numbers_as_people_type_them() -> None:
    """Separators are fine, and an empty field means no limit."""
    wish = wishes.read({"do": "capacity", "capacity": " 1,200 "}, PLAIN)
    assert {"capacity": 1200} == wish.changes
    assert {"batch": None, "every_s": None} == wishes.read({"do": "pace"}, PLAIN).changes
    assert 2.5 == wishes.read({"do": "pace", "every_s": "2.5"}, PLAIN).changes["every_s"]


def test_moments_are_of_the_room() -> None:
    """A form contains a local time: in the room's zone, or UTC if it has none."""
    form = {"do": "events", "opens_at": "2030-03-01T20:00", "ends_at": "2030-03-01T21:00+00:00"}
    seoul = Policy(time_zone="Asia/Seoul")
    expected = {"opens_at": "2030-03-01T11:00:00.000Z", "ends_at": "2030-03-01T21:00:00.000Z"}
    assert expected == wishes.read(form, seoul).changes
    assert "2030-03-01T20:00:00.000Z" == wishes.read(form, PLAIN).changes["opens_at"]
    with pytest.raises(InvalidPolicy):
        wishes.read({"do": "events", "opens_at": "soon"}, PLAIN)
    with pytest.raises(InvalidPolicy):
        wishes.read({"do": "end", "when": "at", "ends_at": ""}, PLAIN)


def test_what_was_not_touched_stays() -> None:
    """A form that is sent back unchanged changes nothing, not even seconds that it hides."""
    policy = Policy(opens_at=from_ms(1_900_000_012_345), time_zone="Asia/Seoul", title="A")
    form = {name: wishes.local_time(policy, name) for name in ("opens_at", "ends_at")}
    assert {} == wishes.read({"do": "events", **form}, policy).changes
    assert {} == wishes.read({"do": "texts", "title": "A", "ready": " "}, policy).changes


def test_a_wish_is_asked_for_again() -> None:
    """Its fields go into the form that confirms it, and no others."""
    policy = Policy(texts={"ko": {"title": "가"}})
    form = {"do": "texts", "title": "A", "title.ko": "나", "token": "x", "capacity": "5"}
    wish = wishes.read(form, policy)
    assert {"title": "A", "title.ko": "나"} == wish.inputs
    assert wish == wishes.read({"do": "texts", **wish.inputs}, policy)
    assert {"title", "texts"} == set(wish.changes)
    admit = wishes.read({"do": "admit", "count": "1,000", "force": "1"}, policy)
    assert {"count": "1000", "force": "1"} == admit.inputs


def test_every_lever_has_its_words() -> None:
    """Its own page, a button, and a place on the room's page."""
    for lang in ("en", "ko"):
        text = load_text("operator", lang)
        for lever in Lever:
            assert text(f"confirm_{lever}", room="r")
            assert text(f"do_{lever}", room="r")
