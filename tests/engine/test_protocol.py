"""Replies: raw script answers become frozen dataclasses or clear errors."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path
from typing import Any

import pytest

from waitroom import engine, errors
from waitroom.engine.protocol import refusals, replies
from waitroom.engine.protocol.refusals import GONE, refusal
from waitroom.engine.protocol.replies import COUNTERS
from waitroom.engine.protocol.reply import Reply, parse
from waitroom.models import Mode, Reason, State

HEAD = [b"waitroom/1", b"ok", b"epoch", 7, b"rev", 3, b"version", 2, b"now", 99]


def test_parse() -> None:
    """A reply is its word, and its fields by name."""
    assert Reply("ok", {"epoch": 7, "rev": 3, "version": 2, "now": 99}) == parse(HEAD)


def test_fields() -> None:
    """A number must be present; a time of 0 means none."""
    reply = parse([*HEAD, b"due", 0])
    assert (7, None, 99) == (reply.number("epoch"), reply.moment("due"), reply.moment("now"))
    with pytest.raises(KeyError):
        reply.number("due_at")


@pytest.mark.parametrize("raw", [None, 7, b"OK", [b"waitroom/2", b"ok"], [b"ok"]], ids=repr)
def test_other_protocol(raw: Any) -> None:
    """An answer from another version is refused, and shown."""
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


def test_head() -> None:
    """The head of a reply tells how far the room is; a reply that ends a call early has none."""
    reply = parse([*HEAD, b"watermark", 4, b"last", 5])
    assert (7, 3, 4, 5, 2) == reply.head
    assert None is parse([b"waitroom/1", b"lost"]).head


def test_joined() -> None:
    """Each ticket of a join is five values."""
    flat = [b"inside", 5, 60, 8, 1, b"room_full", 0, 0, 0, 0]
    reply = Reply("ok", {"waiting": 3, "restoring": 1, "epoch": 7, "tickets": flat})
    tickets = [("inside", 5, 60, 8, True), ("room_full", 0, 0, 0, False)]
    assert (3, True, 7, tickets, "") == replies.joined(reply)


def test_polled() -> None:
    """Each ticket of a poll that is not waiting is three values."""
    others = [b"called", 4, 0, b"inside", 60, 8]
    fields = {"waiting": 9, "restoring": 0, "positions": [-1, 2, -1], "others": others}
    polled = replies.polled(Reply("ok", fields))
    assert (9, False, [-1, 2, -1]) == polled[:3]
    assert [("called", 4, 0), ("inside", 60, 8)] == list(polled.elsewhere)


def test_advanced() -> None:
    """The answer of a step has numbers, whether there is more, and when the next step is due."""
    names = ("called", "expired", "no_shows", "abandoned", "waiting", "more", "due", "now")
    done = replies.advanced(Reply("ok", dict(zip(names, (1, 2, 3, 4, 5, 1, 0, 9), strict=True))))
    assert (1, 2, 3, 4, 5, True, None, 9) == dataclasses.astuple(done)


def test_listed() -> None:
    """Values that mean nothing in a state are None, and so is the cursor of the last page."""
    fields = {"tickets": [b"a", 0, 0, 60, 8], "after": b"", "ordered": 1}
    page = replies.listed(Reply("ok", fields), State.INSIDE)
    assert (("a", State.INSIDE, None, None, 60, 8),) == tuple(
        map(dataclasses.astuple, page.tickets)
    )
    assert None is page.after


def test_stats() -> None:
    """All counters are there by name."""
    fields: dict[str, Any] = dict.fromkeys(COUNTERS, 1)
    names = ("version", "epoch", "waiting", "called", "inside", "entries", "hold_until", "oldest")
    fields |= dict.fromkeys(names, 2) | {"mode": b"open", "now": 9, "may_return": 3, "hidden": 0}
    stats = replies.stats(Reply("ok", fields), "concert")
    assert ("concert", Mode.OPEN, 2) == (stats.room, stats.mode, stats.hold_until_ms)
    assert dict.fromkeys(COUNTERS, 1) == stats.counters


@pytest.mark.parametrize("word", refusals._REFUSALS)
def test_refusals(word: str) -> None:
    """Each refusing word is an error with its own code, in one sentence."""
    error = refusal(word)
    assert isinstance(error, errors.Refused)
    assert error.code != "refused"
    assert str(error)


def test_refusals_differ() -> None:
    """No two words give the same error."""
    assert len(refusals._REFUSALS) == len({str(refusal(word)) for word in refusals._REFUSALS})


@pytest.mark.parametrize("word", GONE)
def test_gone(word: str) -> None:
    """A ticket that is gone cannot enter, and the error tells the reason."""
    error = refusal(word)
    assert isinstance(error, errors.TurnPassed)
    assert GONE[word] in str(error)
    assert isinstance(GONE[word], Reason)


def test_unknown_word() -> None:
    """An unknown word of a newer Waitroom is named in the error."""
    error = refusal("room_on_fire")
    assert isinstance(error, errors.UpgradeNeeded)
    assert "room_on_fire" in str(error)


ENGINE = Path(engine.__file__).parent
OTHERS = [
    path
    for path in sorted(ENGINE.rglob("*.py"))
    if path.parent.name not in ("protocol", "connection")
]


def looks_into_replies(source: str) -> set[str]:
    """Return what a module does that only the protocol may do: read fields, or order arguments."""
    expressions = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in ("fields", "number", "moment"):
            expressions.add(ast.unparse(node))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("ScriptCall"):
            expressions.add(ast.unparse(node))
    return expressions


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.name)
def test_nothing_else_reads_replies_or_makes_calls(path: Path) -> None:
    """Only the protocol knows what scripts take and answer."""
    expressions = looks_into_replies(path.read_text("utf-8"))
    if path.name == "ticket_views.py":  # `number` of a ticket, not of a reply
        expressions -= {"answer.number"}
    assert set() == expressions


@pytest.mark.parametrize(
    "source", ["reply.fields['x']", "reply.number('x')", "ScriptCall(Verb.POLL, [1])"]
)
def test_a_look_into_a_reply_is_found(source: str) -> None:
    """The check finds violations."""
    assert looks_into_replies(source)
