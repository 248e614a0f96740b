"""The passes of a process: one per session, and none from a removed key."""

from __future__ import annotations

import time

import pytest

from waitroom.errors import InvalidPass
from waitroom.models import State, TicketView
from waitroom.passes import PassKeys
from waitroom.server.rooms.passes import AWAY_PASS_S, Passes
from waitroom.tickets import KeyRing

RING = KeyRing([b"x" * 32])
KEYS, OTHERS = PassKeys.derive("x" * 32), PassKeys.derive("y" * 32)


def inside(ends_at_ms: int | None) -> TicketView:
    """Return the view of a session."""
    view = TicketView("concert", RING.new_id(), State.INSIDE, "", sid=7)
    return view._replace(session_ends_at_ms=ends_at_ms)


def test_a_session_keeps_its_pass() -> None:
    """A repeat returns the same text; a renewed session gets another one."""
    passes, ends_ms = Passes(KEYS, "waitroom"), int(time.time() * 1000) + 60_000
    view = inside(ends_ms)
    assert passes.of(view) == passes.of(view)
    assert passes.of(view) != passes.of(view._replace(session_ends_at_ms=ends_ms + 60_000))
    proof = passes.read(passes.of(view))
    assert ("concert", view.id, 7) == (proof.room, proof.ticket_id, proof.sid)
    assert ends_ms // 1000 == proof.expires_s


def test_a_pass_given_while_away_is_short() -> None:
    """It belongs to no session and ends within a minute."""
    passes = Passes(KEYS, "waitroom")
    proof = passes.read(passes.while_away("concert", RING.new_id()))
    assert 0 == proof.sid
    assert 0 < proof.expires_s - time.time() <= AWAY_PASS_S


def test_a_pass_of_a_removed_key_is_refused() -> None:
    """What was read before is forgotten with the keys, and so are the passes made."""
    passes, view = Passes(KEYS, "waitroom"), inside(None)
    old = passes.of(view)
    passes.read(old)
    passes.replace_keys(OTHERS)
    with pytest.raises(InvalidPass):
        passes.read(old)
    assert old != passes.of(view)
    passes.read(passes.of(view))
