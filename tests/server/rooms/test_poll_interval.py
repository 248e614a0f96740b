"""When to ask again: often in front, rarely far back, slower under load, never too late."""

from __future__ import annotations

from time import thread_time
from timeit import repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waitroom.estimate.methods import Wait
from waitroom.models import State
from waitroom.server.rooms.poll_interval import poll_after_ms, restored_after_ms

LONG = Wait(3600, 4000, 4400)
waits = st.none() | st.integers(0, 10**6).map(lambda low: Wait(low, low + 1, low + 2))
parts = st.floats(0, 1, exclude_max=True)


def pause(
    position: int | None,
    state: State = State.WAITING,
    wait: Wait | None = LONG,
    presence_s: float | None = 150,
    load: float = 0.0,
) -> int:
    """Return the pause in the middle of the jitter."""
    return poll_after_ms(position, state, wait, presence_s, load, 0.5)


def test_in_front() -> None:
    """Anybody who is next, or called, asks every 3 s."""
    assert [3000, 3000, 3000] == [pause(1), pause(1, wait=None), pause(None, State.CALLED)]


def test_far_back() -> None:
    """Far back, and inside, it is close to half a minute."""
    assert 27_272 == pause(100_000) == pause(100_000, wait=None) == pause(None, State.INSIDE)


def test_grows_with_the_place() -> None:
    """The pause grows step by step with the place, so the number on screen keeps moving."""
    assert [3300, 6000, 15_000] == [pause(2), pause(11), pause(41)]
    assert [3000, 3990, 12_990] == [pause(place, wait=None) for place in (1, 100, 1000)]


def test_grows_with_the_wait() -> None:
    """In a fast line a far place is near in time, and time is what counts."""
    assert 3000 == pause(5000, wait=Wait(0, 10, 20))
    assert 4500 == pause(5000, wait=Wait(60, 90, 120))
    assert 18_000 == pause(5000, wait=Wait(600, 700, 800))


def test_before_a_draw() -> None:
    """Without a place there is no need to hurry."""
    assert 15_000 == pause(None, wait=None)


def test_after_a_loss() -> None:
    """They ask again soon after positions can be told: spread out, and nobody much later."""
    assert [1000, 2505] == [restored_after_ms(15_000, -5, 1, jitter) for jitter in (0, 0.5)]
    assert 5500 == restored_after_ms(15_000, 3000, 0, 0.5)
    assert 11_500 == restored_after_ms(15_000, 3000, 10**6, 0.5)
    assert 15_000 == restored_after_ms(15_000, 60_000, 1, 0.5)


def test_load_stretches() -> None:
    """Under load the pause doubles, but half a minute stays the maximum."""
    assert 6000 == pause(1, load=1.0)
    assert 4500 == pause(1, load=0.5)
    assert pause(100_000) == pause(100_000, load=1.0)


def test_presence_shortens() -> None:
    """Two polls may get lost before `presence_s` is over, even with the longest jitter."""
    assert 20_000 >= poll_after_ms(10**6, State.WAITING, LONG, 60, 1.0, 0.999_999) > 19_900
    assert 1000 == pause(10**6, presence_s=1)
    assert 27_272 == pause(10**6, presence_s=None)


def test_jitter_spreads() -> None:
    """Jitter spreads clients by 10 % to both sides."""
    spread = [poll_after_ms(1, State.WAITING, LONG, 150, 0, part) for part in (0, 0.25, 0.75)]
    assert [2700, 2850, 3150] == spread


@given(
    st.none() | st.integers(1, 10**9),
    st.sampled_from(State),
    waits,
    st.none() | st.floats(1, 10**7),
    parts,
    parts,
)
def test_bounds(
    position: int | None,
    state: State,
    wait: Wait | None,
    presence_s: float | None,
    load: float,
    jitter: float,
) -> None:
    """In all cases it is 1 to 30 s and at most a third of `presence_s`."""
    pause_ms = poll_after_ms(position, state, wait, presence_s, load, jitter)
    assert 1000 <= pause_ms <= 30_000
    assert presence_s is None or pause_ms <= max(1000, presence_s * 1000 / 3)


@given(st.integers(1, 10**6), st.integers(0, 10**6), waits, parts, parts)
def test_further_back_never_asks_more_often(
    place: int, more: int, wait: Wait | None, load: float, jitter: float
) -> None:
    """With the same wait ahead, a place further back asks no more often."""
    near, far = (
        poll_after_ms(position, State.WAITING, wait, 150, load, jitter)
        for position in (place, place + more)
    )
    assert near <= far


@pytest.mark.parametrize("position", [1, 5000])
def test_is_cheap(position: int) -> None:
    """It runs for every poll, so it may cost no more than making a few small tuples."""
    ours = min(repeat(lambda: pause(position), timer=thread_time, number=2_000, repeat=15))
    making = min(repeat(lambda: Wait(1, 2, 3), timer=thread_time, number=2_000, repeat=15))
    assert ours < 8 * making
