"""The words of a report."""

from __future__ import annotations

import pytest

from waitroom.rehearsal.report import span


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (61, "1 min 1 s"),
        (3_599, "59 min 59 s"),
        (3_600, "1 h 0 min"),
        (7_380, "2 h 3 min"),
    ],
)
def test_span(seconds: float, text: str) -> None:
    """Durations are rounded to the second, and to the minute above an hour."""
    assert text == span(seconds)
