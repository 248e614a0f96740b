"""Forms of another site are refused: one table for visitors, and for operators and hosts."""

from __future__ import annotations

import pytest

from waitroom.web.origins import is_own_form

HOSTS = {"wait.example", "10.0.0.7:8080", "", None}
OURS, EVIL = "https://wait.example", "https://evil.example"


@pytest.mark.parametrize(
    ("site", "origin", "visitors", "operators"),
    [
        (None, None, True, True),  # curl, lynx
        ("same-origin", None, True, True),
        ("none", None, True, True),
        ("same-origin", OURS, True, True),
        (None, OURS, True, True),
        (None, "http://10.0.0.7:8080", True, True),
        # Sec-Fetch-Site comes first: what it refuses no Origin makes good.
        ("cross-site", None, False, False),
        ("cross-site", OURS, False, False),
        ("same-site", None, False, False),
        ("same-site", OURS, False, False),
        ("", OURS, False, False),
        ("nonsense", OURS, False, False),
        ("Same-Origin", OURS, False, False),
        # Without it the Origin must be one of our hosts, in full.
        (None, EVIL, False, False),
        (None, "null", False, False),
        (None, "", False, False),
        (None, "wait.example", False, False),
        (None, "https://wait.example.evil.example", False, False),
        (None, "https://wait.example:444", False, False),
        (None, "https://user@wait.example", False, False),
        (None, "http://[", False, False),
        # A proxy that rewrites Host makes our own Origin look foreign: good enough for visitors.
        ("same-origin", EVIL, True, False),
        ("none", "null", True, False),
        ("same-origin", "http://[", True, False),
    ],
)
def test_whose_form_it_is(
    site: str | None, origin: str | None, visitors: bool, operators: bool
) -> None:
    """The browser's own comparison comes first, then the Origin."""
    assert visitors == is_own_form(site, origin, HOSTS, origin_must_match=False)
    assert operators == is_own_form(site, origin, HOSTS, origin_must_match=True)
