"""The texts of a report."""

from __future__ import annotations

import pytest

from waitroom.models import Mode
from waitroom.report.page import code, field_text
from waitroom.report.words import span


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (61, "1 min 1 s"),
        (3_599, "59 min 59 s"),
        (3_600, "1 h"),
        (7_380, "2 h 3 min"),
    ],
)
def test_span(seconds: float, text: str) -> None:
    """Durations are rounded to the second, and to the minute above an hour; none becomes zero."""
    assert text == span(seconds)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("session_s", 600.0, "600 (10 min)"),
        ("every_s", 0.5, "0.5"),
        ("ticket_ttl_s", 86_400.0, "86,400 (24 h)"),
        ("capacity", 1_200, "1,200"),
        ("renewable", False, "false"),
        ("mode", Mode.OPEN, "open"),
    ],
)
def test_the_value_of_a_field(name: str, value: object, text: str) -> None:
    """Numbers have no `.0`, long times are also given in minutes, and words are those of TOML."""
    assert text == field_text(name, value)


def testcode() -> None:
    """Field names are shown as code, and everything else is escaped."""
    assert "&lt;b&gt; than <code>capacity</code>" == code("<b> than `capacity`")
