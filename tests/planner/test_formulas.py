"""The document's chain for other figures than its own; those are in tests/seeds/test_000.py."""

from __future__ import annotations

from fractions import Fraction

import pytest

from waitroom.planner import Chain, Inputs
from waitroom.planner.formulas import exact_chain, nearest, rounded_chain, wait_of


def test_nothing_to_round() -> None:
    """With whole figures and no headroom both chains are the same."""
    given = Inputs(tps=100, session_s=60, calls=5, failure_rate=0, target=0.5, headroom=0)
    chain = Chain(1_200, 600, 120, 2_400, 1_200, 200)
    assert (chain, chain) == (exact_chain(given), rounded_chain(given))


def test_a_short_period_is_not_rounded() -> None:
    """A period below a minute stays unchanged instead of becoming 0."""
    given = Inputs(tps=100, session_s=30, calls=5, failure_rate=0, target=1, headroom=0)
    assert 30 == rounded_chain(given).period_s


def test_headroom_is_exact() -> None:
    """43,478.26 less 8 % is 40,000, and not 39,999 by a hair of floating point."""
    assert (40_000, 50_000) == (
        rounded_chain(Inputs()).concurrent,
        rounded_chain(Inputs()).per_period,
    )


@pytest.mark.parametrize("target", [0.1, 0.5, 0.8, 1])
def test_the_target_cancels_out(target: float) -> None:
    """What the document missed: its pace is the same for any target."""
    assert 1_449.28 == round(exact_chain(Inputs(target=target)).per_slot, 2)


def test_nearest() -> None:
    """A half is rounded up."""
    assert [2, 3, 1_067] == [nearest(Fraction(x)) for x in ("3/2", "5/2", "3200/3")]


def test_wait_with_fractions_of_seconds() -> None:
    """Slots of 0.1 s add up exactly."""
    assert 0.3 == wait_of(3, 1, 0.1)
