"""A gate's own responses: a redirect, a problem document, or a page to try again. Pure."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

RETRY_AFTER_S = 5
_TITLES = {400: "The request cannot be read", 429: "Please wait", 503: "Not available for a moment"}
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="%d">
<title>One moment, please</title>
<body style="font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem">
<h1>One moment, please</h1>
<p>%s This page tries again by itself.</p>
"""


_HAND_OVER = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>One moment, please</title>
<body style="font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem">
<h1>One moment, please</h1>
<form method="post" action="{action}">
<input type="hidden" name="claim" value="{claim}">
<button>Go to the waiting room</button>
</form>
<script nonce="{nonce}">document.forms[0].submit()</script>
"""


class Cookie(NamedTuple):
    """A cookie for this host only, not readable by scripts; an age of 0 removes it."""

    name: str
    value: str
    max_age_s: int
    secure: bool

    def header(self) -> str:
        """Return the value of Set-Cookie."""
        text = f"{self.name}={self.value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={self.max_age_s}"
        return text + "; Secure" if self.secure else text


@dataclass(frozen=True, slots=True)
class Answer:
    """A response in place of the site's."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    cookies: Sequence[Cookie] = ()

    def lines(self) -> list[tuple[str, str]]:
        """Return all headers, those of the cookies too."""
        return [
            ("cache-control", "no-store"),
            ("content-length", str(len(self.body))),
            *self.headers,
            *(("set-cookie", cookie.header()) for cookie in self.cookies),
        ]


def redirect(url: str, *cookies: Cookie) -> Answer:
    """Send a browser elsewhere, where it asks with GET."""
    return Answer(303, (("location", url),), cookies=cookies)


def hand_over(action: str, claim: str, *cookies: Cookie) -> Answer:
    """Send a browser to the waiting page with a claim: in the body of a form, never in a URL.

    The referrer policy lets the waiting page know our origin, and nothing more.
    """
    nonce = secrets.token_urlsafe(16)
    origin = "/".join(action.split("/")[:3])
    policy = (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; "
        f"form-action {origin}; base-uri 'none'; frame-ancestors 'none'"
    )
    lines = (
        ("content-type", "text/html; charset=utf-8"),
        ("content-security-policy", policy),
        ("referrer-policy", "strict-origin"),
        ("x-content-type-options", "nosniff"),
    )
    body = _HAND_OVER.format(action=escape(action), claim=escape(claim), nonce=nonce)
    return Answer(200, lines, body.encode(), cookies)


def problem(
    status: int,
    code: str,
    detail: str,
    extra: Mapping[str, Any] | None = None,
    *,
    retry_after_s: int | None = None,
    headers: tuple[tuple[str, str], ...] = (),
    cookies: Sequence[Cookie] = (),
) -> Answer:
    """Answer a program with a problem document (RFC 9457).

    `extra` may hold whatever a newer Waitroom tells: the document's own members win.
    """
    title = _TITLES.get(status, "Not possible")
    own = {"type": "about:blank", "title": title, "status": status, "detail": detail, "code": code}
    document = own | (dict(extra) if extra else {}) | own
    lines = (("content-type", "application/problem+json"), *headers)
    if retry_after_s is not None:
        lines = (*lines, ("retry-after", str(retry_after_s)))
    return Answer(status, lines, json.dumps(document).encode(), cookies)


def away(*, api: bool) -> Answer:
    """Say that Waitroom cannot be reached."""
    if api:
        detail = "the waiting room cannot be reached; try again"
        return problem(503, "waitroom_away", detail, retry_after_s=RETRY_AFTER_S)
    return _page(503, "The waiting room cannot be reached.")


def busy(*, api: bool, **extra: Any) -> Answer:
    """Say that too many requests wait at this gate."""
    if api:
        detail = "too many requests wait for the waiting room here; try again"
        return problem(429, "busy", detail, extra, retry_after_s=RETRY_AFTER_S)
    return _page(429, "Very many people are coming at once.")


def slow(**extra: Any) -> Answer:
    """Tell a program that Waitroom has not answered in time."""
    detail = "the waiting room has not answered yet; try again"
    return problem(429, "slow", detail, extra, retry_after_s=RETRY_AFTER_S)


def _page(status: int, reason: str) -> Answer:
    lines = ("content-type", "text/html; charset=utf-8"), ("retry-after", str(RETRY_AFTER_S))
    return Answer(status, lines, (_PAGE % (RETRY_AFTER_S, reason)).encode())
