"""Replies: raw answers of scripts become frozen dataclasses or clear errors."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from waitroom import errors
from waitroom.engine import protocol
from waitroom.engine.protocol import COUNTERS, GONE, Reply, parse, refusal
from waitroom.models import Mode, Reason, State

HEAD = [b"waitroom/1", b"ok", b"epoch", 7, b"rev", 3, b"version", 2, b"now", 99]


def test_parse() -> None:
    """A reply is its word and its fields by name."""
    assert Reply("ok", {"epoch": 7, "rev": 3, "version": 2, "now": 99}) == parse(HEAD)


def test_fields() -> None:
    """A number must be there; a moment of 0 is none."""
    reply = parse([*HEAD, b"due", 0])
    assert (7, None, 99) == (reply.number("epoch"), reply.moment("due"), reply.moment("now"))
    with pytest.raises(KeyError):
        reply.number("due_at")


@pytest.mark.parametrize("raw", [None, 7, b"OK", [b"waitroom/2", b"ok"], [b"ok"]], ids=repr)
def test_other_protocol(raw: Any) -> None:
    """An answer that is not of this version is refused, and shown."""
    with pytest.raises(errors.UpgradeNeeded, match="not a reply of this version"):
        parse(raw)


def test_newer_schema() -> None:
    """A room of a newer schema is an error that says what to do."""
    with pytest.raises(errors.UpgradeNeeded, match=r"schema 9.*upgrade"):
        parse([b"waitroom/1", b"upgrade_needed", b"schema", 9])


def test_broken_room() -> None:
    """A key of another type is named."""
    with pytest.raises(errors.BrokenRoom, match="`gone`"):
        parse([b"waitroom/1", b"broken_room", b"key", b"gone"])


def test_joined() -> None:
    """Each ticket of a join is five values."""
    reply = Reply("ok", {"tickets": [b"inside", 5, 60, 8, 1, b"room_full", 0, 0, 0, 0]})
    spots = [dataclasses.astuple(spot) for spot in protocol.joined(reply)]
    assert [("inside", 5, 60, 8, True), ("room_full", 0, 0, 0, False)] == spots


def test_others() -> None:
    """Each ticket of a poll that does not wait is three values."""
    reply = Reply("ok", {"others": [b"called", 4, 0, b"inside", 60, 8]})
    assert [("called", 4, 0), ("inside", 60, 8)] == list(protocol.others(reply))


def test_advanced() -> None:
    """The answer of a step has numbers, whether there is more, and when something is due."""
    names = ("called", "expired", "no_shows", "abandoned", "waiting", "more", "due", "now")
    done = protocol.advanced(Reply("ok", dict(zip(names, (1, 2, 3, 4, 5, 1, 0, 9), strict=True))))
    assert (1, 2, 3, 4, 5, True, None, 9) == dataclasses.astuple(done)


def test_listed() -> None:
    """Values that mean nothing in a state are None, and so is the cursor of the last page."""
    fields = {"tickets": [b"a", 0, 0, 60, 8], "after": b""}
    page = protocol.listed(Reply("ok", fields), State.INSIDE)
    assert (("a", State.INSIDE, None, None, 60, 8),) == tuple(
        map(dataclasses.astuple, page.tickets)
    )
    assert None is page.after


def test_stats() -> None:
    """All counters are there by name."""
    fields: dict[str, Any] = dict.fromkeys(COUNTERS, 1)
    names = ("version", "epoch", "waiting", "called", "inside", "entries", "hold_until", "oldest")
    fields |= dict.fromkeys(names, 2) | {"mode": b"open", "now": 9}
    stats = protocol.stats(Reply("ok", fields), "concert")
    assert ("concert", Mode.OPEN, 2) == (stats.room, stats.mode, stats.hold_until_ms)
    assert dict.fromkeys(COUNTERS, 1) == stats.counters


@pytest.mark.parametrize("word", protocol._REFUSALS)
def test_refusals(word: str) -> None:
    """Each word that says no is an error of its own code, in one sentence."""
    error = refusal(word)
    assert isinstance(error, errors.Refused)
    assert error.code != "refused"
    assert str(error)


def test_refusals_differ() -> None:
    """No two words are the same error."""
    assert len(protocol._REFUSALS) == len({type(refusal(word)) for word in protocol._REFUSALS})


@pytest.mark.parametrize("word", GONE)
def test_gone(word: str) -> None:
    """A ticket that is gone cannot enter, and the reason is said."""
    error = refusal(word)
    assert isinstance(error, errors.TurnPassed)
    assert GONE[word] in str(error)
    assert isinstance(GONE[word], Reason)


def test_unknown_word() -> None:
    """A word of a newer Waitroom is named."""
    error = refusal("room_on_fire")
    assert isinstance(error, errors.UpgradeNeeded)
    assert "room_on_fire" in str(error)
