"""Codes and browsers: a mark fits only the secret that it was made from."""

from __future__ import annotations

import pytest

from waitroom.web.browser_mark import fits, is_mark, is_secret, mark_of, new_secret


@pytest.mark.attack
def test_a_mark_fits_its_secret_alone() -> None:
    """Neither another secret, nor the mark itself, nor nothing; a code for nobody fits nobody."""
    secret, other = new_secret(), new_secret()
    mark = mark_of(secret)
    assert (True, True) == (is_secret(secret), is_mark(mark))
    assert fits(mark, secret)
    assert not any(fits(mark, text) for text in (other, mark, "", None, secret[:-1]))
    assert (True, False) == (fits(None, None), fits(None, secret))


@pytest.mark.parametrize("text", ["", "x", "x" * 31, "x" * 33, "x" * 42 + "=", "한" * 32, "x" * 44])
def test_what_is_neither(text: str) -> None:
    """Everything of another length or with other characters."""
    assert (False, False) == (is_secret(text), is_mark(text))
