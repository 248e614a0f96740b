"""What a browser was shown about its place: the number on the screen never rises."""

from __future__ import annotations

import pytest

from waitroom.server.waiting.progress import Progress, last_progress, progress

TICKET_ID = "abcdefgh"


def test_the_number_falls_only() -> None:
    """The cookie keeps the first place and the lowest; another ticket starts again."""
    first = progress(None, TICKET_ID, 100)
    assert Progress(100, 100) == first
    better = progress(first.value(TICKET_ID), TICKET_ID, 40)
    assert Progress(100, 40) == better
    worse = progress(better.value(TICKET_ID), TICKET_ID, 60)
    assert Progress(100, 40) == worse
    assert Progress(80, 80) == progress(worse.value(TICKET_ID), "12345678", 80)


def test_what_was_shown_last() -> None:
    """While no position is told, the cookie of the same ticket has one."""
    shown = progress(None, TICKET_ID, 100)
    assert shown == last_progress(shown.value(TICKET_ID), TICKET_ID)
    assert None is last_progress(shown.value(TICKET_ID), "12345678")


@pytest.mark.parametrize("cookie", ["", "x", "abcdefgh.1", "abcdefgh.a.b", "\x00" * 5_000])
def test_a_spoilt_cookie_says_nothing(cookie: str) -> None:
    """Whatever it contains, the page shows the true place."""
    assert 7 == progress(cookie, TICKET_ID, 7).least
    assert None is last_progress(cookie, TICKET_ID)
