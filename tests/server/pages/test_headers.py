"""One policy for all pages: what a page may run and ask for, and the named exceptions."""

from __future__ import annotations

import pytest

from waitroom.server.pages.headers import document_headers, page_headers


def policy(headers: dict[str, str]) -> dict[str, str]:
    """Return the directives of a page's policy."""
    parts = headers["content-security-policy"].split("; ")
    return dict(part.split(" ", 1) for part in parts)


def test_a_page_runs_what_carries_its_nonce() -> None:
    """Scripts and styles only by nonce, and nothing from another host."""
    assert {
        "default-src": "'none'",
        "script-src": "'nonce-n'",
        "style-src": "'nonce-n'",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
    } == policy(page_headers("n", "ko"))


def test_the_exceptions_change_nothing_else() -> None:
    """A form that leads to the room's site, and a script that reads our own HTML."""
    plain = policy(page_headers("n", "ko"))
    lead = policy(page_headers("n", "ko", form_target="https://shop.example"))
    assert {**plain, "form-action": "'self' https://shop.example"} == lead
    reads = policy(page_headers("n", "ko", reads_html=True))
    assert plain == {**reads, "require-trusted-types-for": "'script'"}
    assert "require-trusted-types-for" not in reads
    assert {**plain, "font-src": "'self'"} == policy(page_headers("n", "ko", fonts=True))
    sample = policy(page_headers("n", "ko", is_sample=True))
    assert {**plain, "form-action": "'none'", "frame-ancestors": "'self'"} == sample


@pytest.mark.parametrize("headers", [page_headers("n", "ko"), document_headers("abc=")])
def test_no_page_is_framed_or_guessed(headers: dict[str, str]) -> None:
    """This holds for every page, old browsers included."""
    assert "'none'" == policy(headers)["frame-ancestors"]
    assert "DENY" == headers["x-frame-options"]
    assert "nosniff" == headers["x-content-type-options"]
    assert "same-origin" == headers["cross-origin-opener-policy"]
    assert "same-origin" == headers["cross-origin-resource-policy"]


def test_only_documents_are_kept() -> None:
    """A page for one reader is not stored, and varies by language and cookie."""
    mine = page_headers("n", "ko")
    assert ("no-store", "ko") == (mine["cache-control"], mine["content-language"])
    assert "Accept-Language, Accept-Encoding, Cookie" == mine["vary"]
    assert "public, max-age=300" == document_headers("abc=")["cache-control"]
