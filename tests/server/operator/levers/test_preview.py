"""What a lever will do, told before it is pulled."""

from __future__ import annotations

import pytest

from tests.server.operator.boards import NOW_MS, SLOTS, board, stats
from waitroom.models import Eta, Mode, preset
from waitroom.moments import from_ms
from waitroom.server.operator.levers import preview as previews
from waitroom.server.operator.levers import wishes
from waitroom.server.operator.levers.wishes import Lever, Wish


@pytest.mark.parametrize("eta", [Eta.SERVICE, Eta.OBSERVED])
def test_twice_the_capacity_halves_the_wait(eta: Eta) -> None:
    """The preview follows the limits, not the pace of the past."""
    preview = previews.preview(
        board(SLOTS.change(eta=eta)), Wish(Lever.CAPACITY, {"capacity": 100})
    )
    assert {"capacity": (50, 100)} == preview.changed
    assert preview.before_s is not None
    assert preview.after_s is not None
    assert 0.35 <= preview.after_s / preview.before_s <= 0.6


def test_half_the_pace_doubles_the_wait() -> None:
    """So does the pace, in both directions."""
    paced = board(preset("batch", batch=100, every_s=10), stats(10_000, 0, 0))
    preview = previews.preview(paced, Wish(Lever.PACE, {"batch": 50, "every_s": 10}))
    assert (1000, 2000) == (preview.before_s, preview.after_s)
    preview = previews.preview(paced, Wish(Lever.PACE, {"batch": 400, "every_s": 10}))
    assert (1000, 250) == (preview.before_s, preview.after_s)


def test_a_limit_that_is_not_the_tightest() -> None:
    """Raising what does not limit changes nothing, and the preview says so."""
    policy = preset("per-minute", max_entries=60, per_s=60, batch=10, every_s=10)
    preview = previews.preview(
        board(policy, stats(600, 0, 0)), Wish(Lever.PACE, {"batch": 100, "every_s": 10})
    )
    assert preview.same


def test_lowering_below_those_inside() -> None:
    """It says how many are above, and that nobody is sent away."""
    preview = previews.preview(board(SLOTS), Wish(Lever.CAPACITY, {"capacity": 20}))
    assert (("note_over", 30),) == preview.notes
    assert preview.before_s is not None
    assert preview.after_s is not None
    assert preview.after_s > 1.5 * preview.before_s


def test_pausing_has_no_estimate() -> None:
    """Nobody can say how long a pause takes; what it means is told in words."""
    preview = previews.preview(board(SLOTS), Wish(Lever.MODE, {"mode": "paused"}))
    assert (None, (("note_paused", 0),)) == (preview.after_s, preview.notes)
    paused = board(SLOTS.change(mode=Mode.PAUSED))
    preview = previews.preview(paused, Wish(Lever.MODE, {"mode": "open"}))
    assert preview.before_s is None
    assert preview.after_s is not None


def test_admitting_moves_the_last_one_up() -> None:
    """The last in line waits as long as somebody so many places further in front."""
    room = board(SLOTS, stats(600, 0, 20))
    preview = previews.preview(room, Wish(Lever.ADMIT, {}, count=30))
    assert preview.after_s == float(room.wait(570).likely)  # type: ignore[union-attr]
    assert () == preview.notes
    preview = previews.preview(room, Wish(Lever.ADMIT, {}, count=1000))
    assert (("note_fewer", 600), ("note_room", 30)) == preview.notes
    paused = board(SLOTS.change(mode=Mode.PAUSED))
    ended = board(SLOTS.change(ends_at=from_ms(NOW_MS)))
    for stands in (paused, ended):
        assert "note_refused" == previews.preview(stands, Wish(Lever.ADMIT, {}, 5)).notes[0][0]


def test_ending_and_beginning_again() -> None:
    """An end is told in words; a room that ended by its time is opened by taking that away."""
    preview = previews.preview(board(SLOTS), wishes.read({"do": "mode", "mode": "ended"}))
    assert (None, (("note_ended", 0),)) == (preview.after_s, preview.notes)
    ended = board(SLOTS.change(ends_at=from_ms(NOW_MS)))
    wish = wishes.read({"do": "mode", "mode": "open", "ends_at": ""})
    assert {"mode": "open", "ends_at": ""} == wish.inputs
    preview = previews.preview(ended, wish)
    assert {"ends_at": ("2027-01-15T08:00:00.000Z", None)} == preview.changed
    assert (None, True) == (preview.before_s, preview.after_s is not None)
