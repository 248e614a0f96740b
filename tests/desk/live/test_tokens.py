"""Guests' tokens: signed for one store and one line."""

from __future__ import annotations

import pytest

from tests.desk.live.test_line import party
from tests.support.clock import BAD_TICKETS, SECRET
from waitroom.desk.live.line import room_of
from waitroom.desk.live.tokens import Tokens
from waitroom.desk.models import Status
from waitroom.errors import InvalidTicket
from waitroom.tickets import KeyRing


@pytest.fixture
def tokens() -> Tokens:
    """Return the tokens of a desk."""
    return Tokens(KeyRing([SECRET]))


def test_token(tokens: Tokens) -> None:
    """A token tells its own store type and ticket, and is the same each time."""
    guest = party(7)
    token = tokens.sign(guest)
    assert ("dine-in", guest.ticket) == tokens.read("store", token)
    assert token == tokens.sign(party(7, Status.CALLED, 3))


@pytest.mark.parametrize("bad", [*BAD_TICKETS, "dine-in.", ".", "dine-in", "dine-in.x", "." * 99])
def test_bad_tokens(tokens: Tokens, bad: str) -> None:
    """An invalid token is refused before anybody is asked."""
    with pytest.raises(InvalidTicket):
        tokens.read("store", bad)


def test_foreign_tokens(tokens: Tokens) -> None:
    """A token of another store, line or secret is refused."""
    token = tokens.sign(party(7))
    text = token.partition(".")[2]
    other = Tokens(KeyRing([b"another secret of the tests, 32+"])).sign(party(7))
    for store, bad in (("other", token), ("store", f"takeout.{text}"), ("store", other)):
        with pytest.raises(InvalidTicket):
            tokens.read(store, bad)


def test_no_ticket_of_visitors(tokens: Tokens) -> None:
    """A guest's token opens nothing in the visitor API, and a room's ticket is not a token."""
    ring, room = KeyRing([SECRET]), room_of("store", "dine-in")
    with pytest.raises(InvalidTicket):
        ring.read(room, tokens.sign(party()).partition(".")[2])
