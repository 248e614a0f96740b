"""A room at a glance: what an operator is told, and the current pace."""

from __future__ import annotations

from dataclasses import replace

from tests.server.operator.boards import NOW_MS, SLOTS, board, sample, stats
from waitroom.models import Mode
from waitroom.moments import from_ms
from waitroom.server.operator.room.view import calls_per_minute, signs, view


def test_signs() -> None:
    """An operator learns which limits are exceeded, why nobody is called, if numbers are old."""
    over = board(SLOTS.change(mode=Mode.PAUSED), stats(called=10))
    assert ["sign_over", "sign_paused"] == [sign.key for sign in signs(over, False)]
    assert (5, "warn") == (signs(over, False)[0].number, view(over, False).level)
    assert ("sign_away", "bad") == (signs(over, True)[0].key, view(over, True).level)
    fine = board(SLOTS)
    assert ([], "ok") == (signs(fine, False), view(fine, False).level)
    fine.fresh_at -= 60
    assert ["sign_stale"] == [sign.key for sign in signs(fine, False)]
    ends = board(SLOTS.change(ends_at=from_ms(NOW_MS + 1)))
    assert [("sign_ends", "ok", NOW_MS + 1)] == [
        (sign.key, sign.level, sign.at_ms) for sign in signs(ends, False)
    ]
    ended = board(SLOTS.change(ends_at=from_ms(NOW_MS)))
    assert (["sign_ended"], "warn") == (
        [sign.key for sign in signs(ended, False)],
        view(ended, False).level,
    )
    on_hold = board(SLOTS, replace(stats(), hold_until_ms=NOW_MS + 1000))
    assert ["sign_hold"] == [sign.key for sign in signs(on_hold, False)]


def test_calls_per_minute() -> None:
    """The current pace is that of the last minute, even if the samples are newer."""
    samples = [sample(90, called_total=100), sample(61, called_total=380), sample(5)]
    assert 118 == calls_per_minute(samples, stats())
    assert 120 == calls_per_minute([sample(30, called_total=440)], stats())
    assert 0 == calls_per_minute([], stats())
    assert 0 == calls_per_minute([sample(60, called_total=900)], stats())  # counters restarted
