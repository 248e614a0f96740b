"""Pages that ripen: a mark counts from its time on, where it was made."""

from __future__ import annotations

import pytest

from waitroom.server.challenges.ripening import KEPT_S, Ripening
from waitroom.server.challenges.work import Unsolved, binding
from waitroom.tickets import KeyRing

RING = KeyRing([b"only-for-tests-" * 3])
HERE = binding(RING, "concert", "192.0.2.1", "192.0.2.0/24")
NOW_S, WAIT_S = 1_800_000_000.0, 20


@pytest.fixture
def ripening() -> Ripening:
    """Return what a server has."""
    return Ripening(RING)


def test_a_mark_ripens(ripening: Ripening) -> None:
    """Before its time it does not count, then it does for a while, always with the same nonce."""
    mark = ripening.begin(HERE, WAIT_S, NOW_S)
    assert 20 == ripening.read(mark, HERE, NOW_S).left_s
    with pytest.raises(Unsolved, match="ripe in 1 s"):
        ripening.nonce(mark, HERE, NOW_S + WAIT_S - 1)
    moments = (NOW_S + WAIT_S, NOW_S + WAIT_S + KEPT_S)
    (nonce,) = {ripening.nonce(mark, HERE, moment) for moment in moments}
    assert 32 == len(nonce)
    with pytest.raises(Unsolved, match="expired"):
        ripening.nonce(mark, HERE, moments[1] + 1)


def test_every_mark_is_another_place(ripening: Ripening) -> None:
    """Two people at one address do not get each other's place."""
    marks = [ripening.begin(HERE, 0, NOW_S) for _ in range(2)]
    first, second = (ripening.nonce(mark, HERE, NOW_S) for mark in marks)
    assert first != second


@pytest.mark.attack
def test_a_mark_of_somebody_else(ripening: Ripening) -> None:
    """It counts in its room and at its address, and only as we signed it."""
    mark = ripening.begin(HERE, 0, NOW_S)
    word, at, nonce, seal = mark.split(".")
    other = Ripening(KeyRing([b"another-secret-" * 3]))
    attempts = [
        (mark, HERE._replace(room="another")),
        (mark, binding(RING, "concert", "192.0.2.2", "192.0.2.0/24")),
        (f"{word}.{int(at) - 1}.{nonce}.{seal}", HERE),
        (f"{word}.{at}.{nonce[::-1]}.{seal}", HERE),
        (f"{word}.0{at}.{nonce}.{seal}", HERE),
        (other.begin(HERE, 0, NOW_S), HERE),
        ("ripe...", HERE),
        ("", HERE),
    ]
    for text, to in attempts:
        with pytest.raises(Unsolved):
            ripening.read(text, to, NOW_S)
