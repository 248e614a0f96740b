"""The initial values of the levers' forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from waitroom.models import Policy
from waitroom.server.operator.levers.facts import language_name
from waitroom.server.operator.levers.wishes import (
    DRAFTS,
    LINKS,
    LONG_TEXTS,
    TEXTS,
    languages,
    local_time,
)
from waitroom.server.pages.text import Text


@dataclass(frozen=True, slots=True)
class TextInput:
    """One text of the page in a form; `language` is empty for the text of all other languages."""

    name: str
    field: str
    value: str
    most: int
    long: bool
    tag: str = ""
    language: str = ""


def values(text: Text, policy: Policy, *, admin: bool, draft: str) -> dict[str, Any]:
    """Return what the template of the levers needs; only admins see links."""
    names = (*TEXTS, *LINKS) if admin else TEXTS
    return {
        "message_inputs": _inputs(text, policy, "message"),
        "text_inputs": [given for name in names for given in _inputs(text, policy, name)],
        "end_input": _inputs(text, policy, "ended_text")[0],
        "opens_at": local_time(policy, "opens_at"),
        "ends_at": local_time(policy, "ends_at"),
        "zone": policy.time_zone or "UTC",
        "drafts": DRAFTS,
        "draft": draft if draft in DRAFTS else None,
    }


def _inputs(text: Text, policy: Policy, name: str) -> list[TextInput]:
    most = Policy.__dataclass_fields__[name].metadata["high"]
    long = name in LONG_TEXTS
    inputs = [TextInput(name, name, getattr(policy, name) or "", most, long)]
    if name in (*TEXTS, "message"):
        for tag in languages(policy):
            value = (policy.texts or {})[tag].get(name, "")
            language = language_name(text, tag)
            inputs.append(TextInput(f"{name}.{tag}", name, value, most, long, tag, language))
    return inputs
