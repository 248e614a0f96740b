"""What a browser was shown of its place: the number never rises on the screen."""

from __future__ import annotations

import pytest

from waitroom.server.waiting.progress import last_progress, progress

TICKET_ID = "abcdefgh"


def test_the_number_falls_only() -> None:
    """The cookie keeps the first place and the least; another ticket begins anew."""
    first = progress(None, TICKET_ID, 100, 600, 1_000)
    assert (100, 100, 1_600) == (first.start, first.least, first.due_s)
    better = progress(first.value(TICKET_ID), TICKET_ID, 40, 300, 1_100)
    assert (100, 40, 1_400) == (better.start, better.least, better.due_s)
    worse = progress(better.value(TICKET_ID), TICKET_ID, 60, 700, 1_200)
    assert (100, 40, True) == (worse.start, worse.least, worse.grown)
    other = progress(worse.value(TICKET_ID), "12345678", 80, None, 1_300)
    assert (80, 80, False) == (other.start, other.least, other.grown)


def test_what_was_shown_last() -> None:
    """While no position is told, the cookie of the same ticket has one."""
    shown = progress(None, TICKET_ID, 100, 600, 1_000)
    assert shown == last_progress(shown.value(TICKET_ID), TICKET_ID)
    assert None is last_progress(shown.value(TICKET_ID), "12345678")


@pytest.mark.parametrize("cookie", ["", "x", "abcdefgh.1.2", "abcdefgh.a.b.c", "\x00" * 5_000])
def test_a_spoilt_cookie_says_nothing(cookie: str) -> None:
    """Whatever stands in it, the page shows the true place."""
    assert 7 == progress(cookie, TICKET_ID, 7, None, 0).least
    assert None is last_progress(cookie, TICKET_ID)
