"""Entry codes: what they say, who can make them, and how people type them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waitroom.crockford import LETTERS
from waitroom.entry_codes import (
    LONGEST_CODE,
    MOST_USES,
    EntryCode,
    batch_of,
    code_of,
    new_batch,
    read,
    write,
    write_batch,
)
from waitroom.errors import InvalidInput
from waitroom.tickets import KeyRing

OLD, NEW = KeyRing([b"o" * 32]), KeyRing([b"n" * 32, b"o" * 32])
ROOM = "concert"
CODES = st.builds(
    code_of,
    st.text(LETTERS, min_size=4, max_size=4),
    st.integers(0, 2**20 - 1),
    st.integers(1, MOST_USES),
)


@given(CODES)
def test_there_and_back(code: EntryCode) -> None:
    """A code has four groups of five letters, begins with its batch, and leads back to itself."""
    text = write(OLD, ROOM, code)
    assert re.fullmatch(rf"[{LETTERS}]{{5}}(-[{LETTERS}]{{5}}){{3}}", text)
    assert text.startswith(code.batch)
    assert code == read(OLD, ROOM, text)


@given(CODES, st.integers(0, 19), st.sampled_from(LETTERS))
def test_changed(code: EntryCode, at: int, letter: str) -> None:
    """Another letter anywhere, so another batch, serial or number of uses too, is no code."""
    letters = write(OLD, ROOM, code).replace("-", "")
    changed = letters[:at] + letter + letters[at + 1 :]
    assert (code if changed == letters else None) == read(OLD, ROOM, changed)


def test_bound_to_the_room() -> None:
    """A code of one room is none in another, also where the names run into each other."""
    text = write(OLD, ROOM, code_of("K7Q2", 12))
    assert None is read(OLD, "concert-2", text)
    assert None is read(OLD, "oncert", text)


def test_bound_to_the_ring() -> None:
    """Any listed key verifies, the newest writes, and a ring without it knows nothing."""
    code = code_of("K7Q2", 12)
    old, new = write(OLD, ROOM, code), write(NEW, ROOM, code)
    assert (code, code, True) == (read(NEW, ROOM, old), read(NEW, ROOM, new), old != new)
    assert None is read(OLD, ROOM, new)


@pytest.mark.parametrize("change", [str.lower, str.upper, lambda text: text.replace("-", " ")])
def test_as_people_type(change: object) -> None:
    """Case, dashes and blanks count for nothing; O is 0, I and L are 1."""
    assert callable(change)
    code = code_of("1010", 33, 1)
    text = write(OLD, ROOM, code)
    typed = str(change(text)).replace("0", "o").replace("1", "l", 1).replace("1", "I")
    assert code == read(OLD, ROOM, f" {typed}\n")


@pytest.mark.parametrize(
    "text",
    ["", "-----", "K7Q2", "K7Q20-00C00", "U" * 20, "0" * 20, "0" * 21, "코드" * 10, "*" * 20],
)
def test_no_codes(text: str) -> None:
    """Anything else is none; nothing raises, whatever people paste."""
    assert None is read(OLD, ROOM, text)


def test_length_is_bounded() -> None:
    """A text longer than anybody types is not even looked at."""
    text = write(OLD, ROOM, code_of("K7Q2", 12))
    filled = text + "-" * (LONGEST_CODE - len(text))
    assert (True, None) == (read(OLD, ROOM, filled) is not None, read(OLD, ROOM, filled + "-"))


def test_a_batch() -> None:
    """The codes of a batch all differ, and the same ring writes the same ones again."""
    codes = list(write_batch(OLD, ROOM, "K7Q2", 1000, 3))
    assert 1000 == len(set(codes))
    assert codes == list(write_batch(OLD, ROOM, "K7Q2", 1000, 3))
    assert [code_of("K7Q2", n, 3) for n in range(1000)] == [read(OLD, ROOM, c) for c in codes]


def test_batches() -> None:
    """Batches have four letters, which people may type as they like."""
    batch = new_batch()
    assert (batch, batch) == (batch_of(batch), batch_of(f" {batch.lower()} "))
    assert (None, None, None) == (batch_of("K7Q"), batch_of("K7Q2A"), batch_of("K7U2"))


@pytest.mark.parametrize(
    "wish", [("k7q2", 0, 1), ("K7Q2", 2**20, 1), ("K7Q2", 0, MOST_USES + 1), ("K7Q2", 0, 0)]
)
def test_bad_input(wish: tuple[str, int, int]) -> None:
    """A code that could not be read again is not made."""
    with pytest.raises(InvalidInput):
        code_of(*wish)
