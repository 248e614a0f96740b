"""The theme of a room's page: its operators' choice of texts, pictures, colours and font."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from waitroom.models import Policy
from waitroom.server.pages.colours import DEFAULT_COLOUR, accent_style, back_style


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """What an operator may decide about the page of a room; fields are those of the policy."""

    title: str
    message: str | None = None
    ready: str | None = None
    logo: str | None = None
    colour: str | None = None
    picture: str | None = None
    event_date: str | None = None
    event_place: str | None = None
    background: str | None = None
    font: str | None = None
    footer: str | None = None
    help_link: str | None = None
    ended_text: str | None = None
    ended_picture: str | None = None
    ended_link: str | None = None

    @classmethod
    def of(cls, room: str, policy: Policy | None, lang: str) -> Theme:
        """Take it from a policy in a language; a room without a title shows its name."""
        if policy is None:
            return cls(title=room)
        texts: dict[str, Any] = {spec.name: policy.text(spec.name, lang) for spec in fields(cls)}
        return cls(**texts | {"title": texts["title"] or room})

    @property
    def event(self) -> str:
        """When and where the event is."""
        return "\N{NO-BREAK SPACE}· ".join(filter(None, (self.event_date, self.event_place)))

    @property
    def style(self) -> str:
        """CSS: variables for the two colour schemes, and the font."""
        style = accent_style(self.colour or DEFAULT_COLOUR)
        if self.background:
            style += back_style(self.background)
        if self.font:
            face = f"font-family:room;font-display:swap;src:url({self.font})"
            style += f"@font-face{{{face}}}:root{{--font:room,}}"
        return style
