"""What a message or another text will do: who sees it, where, how soon and in which language."""

from __future__ import annotations

from waitroom.models import Policy
from waitroom.server.operator.levers.facts import Fact
from waitroom.server.operator.levers.wishes import languages
from waitroom.server.rooms.board import Board


def message(board: Board, policy: Policy) -> list[Fact]:
    """Return who reads a message, or no longer reads the one that is removed."""
    stats = board.stats
    readers = stats.waiting + stats.called
    if policy.message is None and not _own(policy, "message"):
        return [Fact("fact_message_removed", n=readers)]
    facts = [Fact("fact_message_readers", n=readers), Fact("fact_message_inside")]
    local = _own(policy, "message")
    if local:
        facts.append(Fact("fact_message_languages", languages=local))
    else:
        facts.append(Fact("fact_message_all"))
    if set(_own(board.policy, "message")) - set(local):
        facts.append(Fact("fact_message_replaces"))
    return facts


def texts(board: Board, policy: Policy) -> list[Fact]:
    """Return where changed texts of the page appear."""
    readers = board.stats.waiting + board.stats.called
    tags = languages(policy)
    reads = Fact("fact_texts_languages", languages=tags) if tags else Fact("fact_message_all")
    return [Fact("fact_texts", n=readers), reads]


def _own(policy: Policy, name: str) -> list[str]:
    """Return the languages that have their own text."""
    return [tag for tag, local in (policy.texts or {}).items() if name in local]
