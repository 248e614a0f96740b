"""Puzzles made ahead: each is given once, and whoever takes a ready one waits for no key."""

from __future__ import annotations

import asyncio
import hashlib

import pytest

from waitroom.server.challenges import price, puzzles
from waitroom.server.challenges.price import COST
from waitroom.server.challenges.puzzles import KEY, Puzzles, new_puzzle

EASY, STRETCHES, KEPT, SPARE = 8, 4, 8, 2


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep few, and make them as fast as the loop turns."""
    monkeypatch.setattr(price, "FLOOR", EASY)
    monkeypatch.setattr(price, "CEILING", STRETCHES * EASY)
    monkeypatch.setattr(puzzles, "KEPT", KEPT)
    monkeypatch.setattr(puzzles, "SPARE", SPARE)
    monkeypatch.setattr(puzzles, "EVERY_S", 0)


async def filled(held: Puzzles, counters: int, number: int = KEPT) -> None:
    """Wait until as many puzzles are ready as are kept."""
    while held.ready(counters) < number:  # noqa: ASYNC110 - nothing says so but the number
        await asyncio.sleep(0)


def test_the_key_is_that_of_one_counter() -> None:
    """A solver that tries all counters of the range finds the key."""
    nonce, salt, key = new_puzzle(EASY, 2 * EASY)
    passwords = [nonce + counter.to_bytes(4, "big") for counter in range(2 * EASY, 3 * EASY)]
    assert key in [hashlib.pbkdf2_hmac("sha256", each, salt, COST, KEY) for each in passwords]


async def test_they_are_made_ahead_once_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """None before, then as many as are kept; taking one of them derives no key."""
    held = Puzzles()
    await asyncio.sleep(0)
    assert 0 == held.ready(EASY)
    held.take(EASY)
    await filled(held, EASY)
    derived: list[int] = []
    monkeypatch.setattr(puzzles, "new_puzzle", lambda *_: derived.append(1))
    for _ in range(KEPT):
        held.take(EASY)
    assert ([], 0) == (derived, held.ready(EASY))
    held.close()


@pytest.mark.attack
async def test_nobody_gets_the_puzzle_of_somebody_else() -> None:
    """Ready or not, every nonce is given once: two people at one address never share a place."""
    held = Puzzles()
    nonces = []
    for turn in range(4 * KEPT):
        if turn % KEPT == 0:
            await filled(held, EASY) if turn else None
        nonces.append(held.take(EASY).nonce)
    assert len(nonces) == len({*nonces})
    held.close()


async def test_a_price_that_rises_finds_some_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every stretch of counters has some, so nobody waits for a key when a rush begins."""
    held = Puzzles()
    held.take(EASY)
    await filled(held, EASY)
    await filled(held, STRETCHES * EASY, SPARE)
    held.close()
    monkeypatch.setattr(puzzles, "new_puzzle", None)
    for _ in range(SPARE):
        held.take(STRETCHES * EASY)


async def test_what_is_kept_is_bounded() -> None:
    """However often the price changes, no stretch has more than its part."""
    held = Puzzles()
    for stretches in (1, 2, STRETCHES, 1, STRETCHES):
        held.take(stretches * EASY)
        await filled(held, stretches * EASY, KEPT // stretches)
    for at in range(STRETCHES):
        assert len(held._ready[at]) <= max(SPARE, KEPT // (at + 1))
    assert STRETCHES == len(held._ready)
    held.close()


async def test_rooms_of_different_prices_share_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A room in a rush beside a quiet one costs neither of them what is ready."""
    held = Puzzles()
    held.take(EASY)
    await filled(held, EASY)
    await filled(held, STRETCHES * EASY, SPARE)
    held.close()
    monkeypatch.setattr(puzzles, "new_puzzle", None)
    for _ in range(SPARE):
        held.take(EASY)
        held.take(STRETCHES * EASY)


@pytest.mark.attack
async def test_a_quick_answer_does_not_tell_where_the_solution_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """If one stretch of a price has none ready, nobody gets a ready one of the others."""
    held = Puzzles()
    held.take(EASY)
    await filled(held, EASY)
    await filled(held, STRETCHES * EASY, SPARE)
    held.close()
    held._ready[STRETCHES - 1].clear()
    derived: list[int] = []
    monkeypatch.setattr(puzzles, "new_puzzle", lambda *_: derived.append(1))
    for _ in range(20):
        held.take(STRETCHES * EASY)
    assert 20 == len(derived)


@pytest.mark.attack
async def test_every_counter_is_as_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puzzles of a price lie in all of its stretches, made ahead or not."""
    held, firsts = Puzzles(), set[int]()

    def new(_counters: int, first: int) -> puzzles.Puzzle:
        firsts.add(first)
        return puzzles.Puzzle(b"", b"", b"")

    monkeypatch.setattr(puzzles, "new_puzzle", new)
    for _ in range(200):
        held.take(STRETCHES * EASY)
    assert {at * EASY for at in range(STRETCHES)} == firsts
    held.close()


async def test_after_the_end_none_are_made() -> None:
    """A server that stops leaves no timer behind."""
    held = Puzzles()
    held.take(EASY)
    held.close()
    for _ in range(3):
        await asyncio.sleep(0)
    assert 0 == held.ready(EASY)


def test_without_a_loop_none_are_made_ahead() -> None:
    """A script that issues a challenge gets it all the same."""
    held = Puzzles()
    assert held.take(EASY).nonce != held.take(EASY).nonce
    assert 0 == held.ready(EASY)
