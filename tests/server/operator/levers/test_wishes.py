"""Forms of levers, read into wishes."""

from __future__ import annotations

import pytest

from waitroom.errors import InvalidInput, InvalidPolicy
from waitroom.server.operator.levers import wishes


@pytest.mark.parametrize("text", ["-5", "1e3", "0x10", "٣", "1.2.3", "5;", "9" * 13])
def test_numbers_that_are_none(text: str) -> None:
    """What a form holds is read strictly."""
    with pytest.raises(InvalidPolicy):
        wishes.read({"do": "capacity", "capacity": text})
    with pytest.raises(InvalidInput):
        wishes.read({"do": "admit", "count": text})


def test_numbers_as_people_type_them() -> None:
    """Separators are fine, and nothing means no limit."""
    assert {"capacity": 1200} == wishes.read({"do": "capacity", "capacity": " 1,200 "}).changes
    assert {"batch": None, "every_s": None} == wishes.read({"do": "pace"}).changes
    assert {"every_s": 2.5} == {
        name: value
        for name, value in wishes.read({"do": "pace", "every_s": "2.5"}).changes.items()
        if value
    }
