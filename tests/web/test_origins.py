"""Forms from other sites are refused: one table for visitors, and for operators and hosts."""

from __future__ import annotations

import pytest

from waitroom.errors import InvalidInput
from waitroom.web.origins import Origins, is_own_form

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
        # Sec-Fetch-Site comes first: what it refuses, no Origin can allow.
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


LISTED = "https://app.example"
LINK = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


@pytest.mark.attack
@pytest.mark.parametrize(
    ("method", "headers", "expected"),
    [
        ("POST", {}, True),  # a program
        ("POST", {"sec-fetch-site": "same-origin", "origin": EVIL}, True),  # Host was rewritten
        ("GET", {"sec-fetch-site": "none", **LINK}, True),
        # Links and redirects from anywhere: they only read.
        ("GET", {"sec-fetch-site": "cross-site", **LINK}, True),
        ("HEAD", {"sec-fetch-site": "same-site", **LINK}, True),
        ("GET", {"sec-fetch-site": "cross-site", **LINK, "sec-fetch-dest": "iframe"}, False),
        ("GET", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}, False),
        # Forms and scripts from other sites.
        ("POST", {"sec-fetch-site": "cross-site", "origin": EVIL, **LINK}, False),
        ("POST", {"sec-fetch-site": "same-site", "origin": EVIL, **LINK}, False),
        ("DELETE", {"sec-fetch-site": "cross-site", "origin": EVIL}, False),
        ("POST", {"sec-fetch-site": "cross-site", "origin": OURS}, False),
        ("POST", {"sec-fetch-site": "nonsense"}, False),
        ("POST", {"sec-fetch-site": "same-site", "origin": LISTED}, True),
        # Plain http: the Origin decides, in full.
        ("POST", {"origin": OURS}, True),
        ("POST", {"origin": "http://10.0.0.7:8080"}, True),
        ("POST", {"origin": LISTED}, True),
        ("POST", {"origin": EVIL}, False),
        ("POST", {"origin": "null"}, False),
        ("POST", {"origin": ""}, False),
        ("POST", {"origin": "https://"}, False),
        ("POST", {"origin": "wait.example"}, False),
        ("POST", {"origin": "https://wait.example.evil.example"}, False),
        ("POST", {"origin": "https://app.example.evil.example"}, False),
        ("POST", {"origin": "http://app.example"}, False),
    ],
)
def test_who_may_use_cookies(method: str, headers: dict[str, str], expected: bool) -> None:
    """Our own pages and listed ones; links from anywhere; no other site's form or script."""
    origins = Origins("https://wait.example/queue", [LISTED + "/"])
    given = [(name.encode(), value.encode()) for name, value in headers.items()]
    given.append((b"host", b"10.0.0.7:8080"))
    assert expected == origins.may_use_cookies(method, given)
    assert expected == Origins("https://wait.example", ["https://APP.example"]).may_use_cookies(
        method, given
    )


@pytest.mark.parametrize("text", ["app.example", "ftp://app.example", "https://", "https://a/b"])
def test_an_origin_is_spelled_out(text: str) -> None:
    """A name alone, or with a path, is refused with an example."""
    with pytest.raises(InvalidInput, match="is not an origin like"):
        Origins(None, [text])
