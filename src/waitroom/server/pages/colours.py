"""The accent colour of a page: any colour, made safe to read.

A colour is moved towards black or white until it stands out from the card; text on it is black or
white, whichever can be read.
"""

from __future__ import annotations

DEFAULT_COLOUR = "#0b5fd0"
LIGHT_CARD, DARK_CARD = "#ffffff", "#1a1e24"
"""The cards of `static/waiting/page.css`, which a test compares."""

_VISIBLE = 3.0  # WCAG 1.4.11: parts that are not text but carry meaning
_WHITE, _BLACK = "#ffffff", "#000000"

Rgb = tuple[float, float, float]


def accent_style(colour: str = DEFAULT_COLOUR) -> str:
    """Return CSS variables for the two colour schemes."""
    light, dark = (visible_on(card, colour) for card in (LIGHT_CARD, DARK_CARD))
    return (
        f":root{{--accent:{light};--on-accent:{readable_on(light)}}}"
        f"@media (prefers-color-scheme:dark){{:root{{--accent:{dark};"
        f"--on-accent:{readable_on(dark)}}}}}"
    )


def back_style(colour: str) -> str:
    """Return CSS variables for the page around the card, and for text on it."""
    return f":root{{--back:{colour};--on-back:{readable_on(colour)}}}"


def visible_on(card: str, colour: str) -> str:
    """Return `colour`, moved away from the card only as far as it needs to stand out."""
    goal = _BLACK if readable_on(card) == _BLACK else _WHITE
    for step in range(21):
        mixed = _mix(colour, goal, step / 20)
        if contrast(mixed, card) >= _VISIBLE:
            return mixed
    return goal


def readable_on(colour: str) -> str:
    """Return black or white, whichever has more contrast; it is never less than 4.58."""
    return max(_WHITE, _BLACK, key=lambda text: contrast(text, colour))


def contrast(colour: str, other: str) -> float:
    """Return the contrast ratio of WCAG 2, from 1 to 21."""
    bright, dark = sorted((_luminance(colour), _luminance(other)), reverse=True)
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
