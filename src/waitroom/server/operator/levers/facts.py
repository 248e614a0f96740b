"""One fact of a preview: a key of the texts with its numbers, and how it becomes a sentence."""

from __future__ import annotations

from typing import Any

from babel import UnknownLocaleError

from waitroom.server.operator import words
from waitroom.server.pages.text import Text, cldr
from waitroom.server.rooms.board import Board


class Fact:
    """What happens: `_s` are seconds, `_ms` moments; `before_s` and `after_s` make one `change`."""

    __slots__ = ("key", "values")

    def __init__(self, key: str, **values: Any) -> None:
        self.key, self.values = key, values

    def __repr__(self) -> str:
        return f"Fact({self.key!r}, {self.values!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fact) and (self.key, self.values) == (other.key, other.values)

    __hash__ = None  # type: ignore[assignment]


def sentence(text: Text, fact: Fact, zone: str | None) -> str:
    """Say a fact in the language of the page, times in the zone of the room."""
    given, shown = fact.values, {}
    for name, value in given.items():
        if name == "exact_s":
            shown["exact"] = words.value(text, name, value)
        elif name.endswith("_s"):
            shown[name[:-2]] = words.span(text, value)
        elif name.endswith("_ms"):
            shown[name[:-3]] = words.moment(value, zone)
        elif name == "mode":
            shown[name] = text(f"mode_{value}")
        elif name == "languages":
            shown[name] = ", ".join(language_name(text, tag) for tag in value)
        else:
            shown[name] = value
    if "before_s" in given:
        shown["change"] = words.change(text, given["before_s"], given["after_s"])
    return text(fact.key, **shown)


def kept_facts(board: Board) -> list[Fact]:
    """Return what people called and inside keep while nobody else is called."""
    stats, within_s = board.stats, board.policy.enter_within_s
    facts = []
    if stats.called and within_s is not None:
        facts.append(Fact("fact_called_stay", n=stats.called, exact_s=within_s))
    elif stats.called:
        facts.append(Fact("fact_called_stay_free", n=stats.called))
    if stats.inside:
        facts.append(Fact("fact_inside_stay", n=stats.inside))
    return facts


def language_name(text: Text, tag: str) -> str:
    """Return the name of a language in the language of the page."""
    try:
        return cldr(tag).get_display_name(text.lang) or tag
    except (ValueError, UnknownLocaleError):
        return tag
