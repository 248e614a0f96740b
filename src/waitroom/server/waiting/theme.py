"""How a room's page looks: its texts, its logo, and its colour made safe to read.

Operators choose any colour. It is used for accents only, moved towards black or white until it
stands out from the card, and what is written on it is black or white, whichever can be read.
"""

from __future__ import annotations

from dataclasses import dataclass

from waitroom.models import Policy

DEFAULT_COLOUR = "#0b5fd0"
LIGHT_CARD, DARK_CARD = "#ffffff", "#1a1e24"
"""The cards of `static/waiting/page.css`, which a test compares."""

_VISIBLE = 3.0  # WCAG 1.4.11: what is no text but carries meaning
_WHITE, _BLACK = "#ffffff", "#000000"

Rgb = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What an operator may decide about the page of a room."""

    title: str
    message: str | None = None
    ready: str | None = None
    logo: str | None = None
    colour: str = DEFAULT_COLOUR

    @classmethod
    def of(cls, room: str, policy: Policy | None) -> Look:
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
        light, dark = (visible_on(card, self.colour) for card in (LIGHT_CARD, DARK_CARD))
        return (
            f":root{{--accent:{light};--on-accent:{readable_on(light)}}}"
            f"@media (prefers-color-scheme:dark){{:root{{--accent:{dark};"
            f"--on-accent:{readable_on(dark)}}}}}"
        )


def visible_on(card: str, colour: str) -> str:
    """Return `colour`, moved away from the card as little as is needed to stand out."""
    goal = _BLACK if readable_on(card) == _BLACK else _WHITE
    for step in range(21):
        mixed = _mix(colour, goal, step / 20)
        if contrast(mixed, card) >= _VISIBLE:
            return mixed
    return goal


def readable_on(colour: str) -> str:
    """Return black or white, whichever has more contrast; it is never less than 4.58."""
    return max(_WHITE, _BLACK, key=lambda text: contrast(text, colour))


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of WCAG 2, from 1 to 21."""
    bright, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    r, g, b = (
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4
        for c in (value / 255 for value in _rgb(colour))
    )
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def _mix(colour: str, goal: str, share: float) -> str:
    pairs = zip(_rgb(colour), _rgb(goal), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _rgb(colour: str) -> Rgb:
    r, g, b = bytes.fromhex(colour.removeprefix("#"))
    return float(r), float(g), float(b)
