"""Short codes: how the beginning of an id is read out, and how people type it."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waitroom.crockford import LETTERS
from waitroom.short_codes import code_of, prefix_of

IDS = st.text(string.ascii_letters + string.digits + "-_", min_size=16, max_size=16)


@given(IDS)
def test_there_and_back(ticket_id: str) -> None:
    """A code has three letters, a dash and three, and leads back to the beginning of the id."""
    code = code_of(ticket_id)
    first, second = code.split("-")
    assert (3, 3, set()) == (len(first), len(second), {*first, *second} - {*LETTERS})
    assert ticket_id[:5] == prefix_of(code)


@pytest.mark.parametrize(
    "text", ["K1Q-4M0", "k1q-4m0", "KIQ-4MO", "klq4mo", " K1Q 4M0 ", "K1Q4M0", "k-1-q-4-m-0"]
)
def test_as_people_type(text: str) -> None:
    """Case, dash and spaces do not count; I and L are 1, O is 0."""
    assert prefix_of("K1Q-4M0") == prefix_of(text)


@pytest.mark.parametrize(
    "text",
    ["", "K1Q-4M", "K1Q-4M22", "K1Q-4MU", "q3Jv0eW7hJ5mX2aB", "대기열코드요", "------", "*" * 6],
)
def test_no_codes(text: str) -> None:
    """Anything else is not a code: an id is never taken for one, and no pattern gets through."""
    assert None is prefix_of(text)
