"""Codes that prove that a guest is at the store: signed, for one store, and limited in time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.clock import Clock
from waitroom.desk.models import OnSite, Store
from waitroom.desk.on_site import GOOD_S, ROTATE_S, OnSiteCodes
from waitroom.tickets import KeyRing

RING = KeyRing([b"0123456789abcdef0123456789abcdef"])
POSTER = Store(id="han-river", title="Han River", created_ms=1)
ROTATING = replace(POSTER, on_site=OnSite.ROTATING)
NONE = replace(POSTER, on_site=OnSite.NONE)


@pytest.fixture
def clock() -> Clock:
    """Return a clock at the beginning of a slot."""
    return Clock(ROTATE_S * 29_000_000 * 1_000_000)


@pytest.fixture
def codes(clock: Clock) -> OnSiteCodes:
    """Return the codes of a deployment."""
    return OnSiteCodes(RING, clock=lambda: clock.now_us / 1_000_000)


def test_a_poster_stays_good(codes: OnSiteCodes, clock: Clock) -> None:
    """It hangs there for years."""
    code = codes.current(POSTER)
    clock.step(86_400 * 365)
    assert code == codes.current(POSTER)
    assert codes.is_good(POSTER, code)
    assert None is codes.ends_s(POSTER)


@pytest.mark.attack
def test_a_code_that_rotates_ends(codes: OnSiteCodes, clock: Clock) -> None:
    """A photo is worthless after ten minutes; until then there is time to fill in a form."""
    code, ends_s = codes.current(ROTATING), codes.ends_s(ROTATING)
    assert (clock.now_us // 1_000_000) + GOOD_S == ends_s
    clock.step(ROTATE_S)
    assert code != codes.current(ROTATING)
    clock.step(GOOD_S - ROTATE_S - 1)
    assert codes.is_good(ROTATING, code)
    clock.step(1)
    assert not codes.is_good(ROTATING, code)


@pytest.mark.attack
def test_a_code_of_another_clock(codes: OnSiteCodes, clock: Clock) -> None:
    """A server that is a minute ahead is believed; a code from the future is not."""
    clock.step(ROTATE_S)
    near = codes.current(ROTATING)
    clock.step(ROTATE_S)
    far = codes.current(ROTATING)
    clock.step(-2 * ROTATE_S)
    assert (True, False) == (codes.is_good(ROTATING, near), codes.is_good(ROTATING, far))


@pytest.mark.attack
def test_any_other_code_is_of_nobody(codes: OnSiteCodes) -> None:
    """Changed, of another store, another deployment, another kind, or nonsense."""
    other_ring = OnSiteCodes(KeyRing([b"fedcba9876543210fedcba9876543210"]))
    for store in (POSTER, ROTATING):
        code = codes.current(store) or ""
        assert codes.is_good(store, code)
        for other in (replace(store, id="other"), replace(store, created_ms=2)):
            assert not codes.is_good(other, code)
        assert not codes.is_good(store, other_ring.current(store))
        for position, letter in enumerate(code):
            changed = code[:position] + ("0" if letter != "0" else "1") + code[position + 1 :]
            assert not codes.is_good(store, changed)
        for wrong in (None, "", "1", ".", "²." + code, code + "0", "x" * 5_000, "\ud800"):
            assert not codes.is_good(store, wrong)
    assert not codes.is_good(ROTATING, codes.current(POSTER))
    assert not codes.is_good(POSTER, codes.current(ROTATING))


def test_a_store_without_codes(codes: OnSiteCodes) -> None:
    """Only its hosts say who is there."""
    assert None is codes.current(NONE)
    for store in (POSTER, ROTATING):
        assert not codes.is_good(NONE, codes.current(store))
