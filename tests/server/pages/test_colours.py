"""A page's accent stands out and is readable, whatever colour an operator chooses."""

from __future__ import annotations

import re
from pathlib import Path

import waitroom.server
from waitroom.server.pages import colours


def test_every_colour_can_be_seen_and_read() -> None:
    """Accents have a contrast of 3:1 to the card, and text on them 4.5:1."""
    shades = ("00", "40", "80", "c0", "ff")
    for colour in (f"#{r}{g}{b}" for r in shades for g in shades for b in shades):
        for card in (colours.LIGHT_CARD, colours.DARK_CARD):
            accent = colours.visible_on(card, colour)
            assert 3.0 <= colours.contrast(accent, card)
            assert 4.5 <= colours.contrast(colours.readable_on(accent), accent)
    assert "#0b5fd0" == colours.visible_on(colours.LIGHT_CARD, "#0b5fd0"), "a good one stays"


def test_the_cards_are_those_of_the_style_sheet() -> None:
    """The colours that contrasts are measured against are the ones shown."""
    css = (Path(waitroom.server.__file__).parent / "static/waiting/page.css").read_text("utf-8")
    light, dark, turn = re.findall(r"--card: (#\w+)", css)
    assert (colours.LIGHT_CARD, colours.DARK_CARD) == (light, dark)
    assert "#ffffff" == colours.readable_on(turn), "white words on the green card of a turn"
