"""Headers of our pages: the content security policy, no caching and no framing."""

from __future__ import annotations

from collections.abc import Sequence

_ALL_PAGES = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def page_headers(
    nonce: str,
    lang: str,
    *,
    form_target: str = "",
    reads_html: bool = False,
    fonts: bool = False,
    is_sample: bool = False,
    worker: bool = False,
    widget: Sequence[str] = (),
) -> dict[str, str]:
    """Return the headers of a page that is made for one reader.

    It runs only scripts and styles that carry its nonce, and contacts no other host. `form_target`
    is another origin that a form may lead to: browsers check the redirect after it against the
    policy. `reads_html` is for pages whose script inserts our own HTML, which trusted types would
    refuse. `fonts` is for pages with a font from this host, `worker` for those that may have a
    worker from it, and `is_sample` for those that may be shown in our own frame and send no form.
    `widget` are the origins of a widget that somebody else wrote: it may do on the page what it
    wants, but contact nobody else.
    """
    forms, ancestors = ("'none'", "'self'") if is_sample else ("'self'", "'none'")
    more = "".join(f" {origin}" for origin in widget)
    policy = (
        f"default-src 'none'; script-src 'nonce-{nonce}'{more}; style-src 'nonce-{nonce}'{more}; "
        f"img-src 'self' data:{more}; connect-src 'self'{more}; "
        f"form-action {forms}{form_target and ' '}{form_target}; "
        f"base-uri 'none'; frame-ancestors {ancestors}"
    )
    return {
        "content-security-policy": policy
        + (_FONTS if fonts else "")
        + ("; worker-src 'self'" if worker else "")
        + (f"; frame-src{more}" if widget else "")
        + ("" if reads_html or widget else _TRUSTED_TYPES),
        "content-language": lang,
        "cache-control": "no-store",
        "vary": "Accept-Language, Accept-Encoding, Cookie",
        # Some addresses contain tickets, so no other site may see them. With no referrer at all
        # browsers would send `Origin: null` with our own forms.
        "referrer-policy": "same-origin",
        **_ALL_PAGES,
        **({"x-frame-options": "SAMEORIGIN"} if is_sample else {}),
    }


def document_headers(style_sha256: str) -> dict[str, str]:
    """Return the headers of a page that is the same for everybody: one style, named by its hash."""
    return {
        "content-security-policy": (
            f"default-src 'none'; style-src 'sha256-{style_sha256}'; base-uri 'none'; "
            "form-action 'none'; frame-ancestors 'none'"
        ),
        "cache-control": "public, max-age=300",
        "referrer-policy": "no-referrer",
        **_ALL_PAGES,
    }


_FONTS = "; font-src 'self'"
_TRUSTED_TYPES = "; require-trusted-types-for 'script'"
