"""The theme of a room's page: what its operators decide about texts, logo and colour."""

from __future__ import annotations

from dataclasses import dataclass

from waitroom.models import Policy
from waitroom.server.pages.colours import DEFAULT_COLOUR, accent_style


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """What an operator may decide about the page of a room."""

    title: str
    message: str | None = None
    ready: str | None = None
    logo: str | None = None
    colour: str = DEFAULT_COLOUR

    @classmethod
    def of(cls, room: str, policy: Policy | None) -> Theme:
        """Take it from a policy; a room without a title shows its name."""
        if policy is None:
            return cls(title=room)
        return cls(
            title=policy.title or room,
            message=policy.message,
            ready=policy.ready,
            logo=policy.logo,
            colour=policy.colour or DEFAULT_COLOUR,
        )

    @property
    def style(self) -> str:
        """CSS variables for the two colour schemes."""
        return accent_style(self.colour)
