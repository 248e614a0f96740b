"""Visitors whom a gate hands over with a claim: a form of the room's site, sent to our page.

The form comes from another origin, so it is accepted only from the site that the room leads to, or
from an origin that is listed. Otherwise any page could replace somebody's place by that of its own
account. A browser sends our cookie along only if both hosts belong to one site. If they do not, or
the browser does not say so, our answer is a page that sends the same form once more, from here:
then the browser has told us about the place that it holds already.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple
from urllib.parse import urlsplit

from fastapi import Request, Response

from waitroom.errors import Forbidden
from waitroom.server.context import Server
from waitroom.server.http.request import VisitorRequest
from waitroom.server.pages import templates
from waitroom.server.pages.headers import page_headers
from waitroom.server.pages.text import Text
from waitroom.web import return_urls
from waitroom.web.origins import ORIGIN_HEADER, SITE_HEADER, is_own_form

AGAIN = "again"
"""The field that our own page adds: a form that it sent is never sent once more."""


class Sender(NamedTuple):
    """Who sent the form: our own page or a trusted one, and whether our cookies came with it."""

    trusted: bool
    has_cookies: bool


def sender_of(server: Server, request: Request, go_to: str | None) -> Sender:
    """Judge a form by the two headers that no page can set."""
    site, origin = request.headers.get(SITE_HEADER), request.headers.get(ORIGIN_HEADER)
    # Over plain http browsers do not say where a form is from, and older ones never do.
    has_cookies = site != "cross-site" if site else _is_ours(server, request, origin)
    ours = VisitorRequest.of(server.origins, request.scope, "", None)
    if server.origins.may_use_cookies("POST", ours.headers):  # our own, listed, or not a browser
        return Sender(True, has_cookies)
    target = return_urls.split(go_to or "")
    theirs = target is not None and origin == return_urls.origin_of(target)
    return Sender(theirs, has_cookies)


def _is_ours(server: Server, request: Request, origin: str | None) -> bool:
    hosts = {request.headers.get("host"), urlsplit(server.settings.public_url or "").netloc}
    return origin is not None and is_own_form(None, origin, hosts, origin_must_match=True)


def check(sender: Sender) -> None:
    """Refuse a form of a page that has nothing to do with the room."""
    if not sender.trusted:
        raise Forbidden(
            "this form was sent by a page that the room does not lead to; set the room's `go_to`, "
            "or list the site in `origins`"
        )


def as_our_own(request: VisitorRequest) -> None:
    """Let a form of a trusted page use our cookies, as if our own page had sent it."""
    foreign = (SITE_HEADER.encode(), ORIGIN_HEADER.encode(), b"sec-fetch-mode")
    kept = [header for header in request.headers if header[0] not in foreign]
    request.headers = [*kept, (b"sec-fetch-mode", b"navigate")]


def once_more(text: Text, claim: str) -> Response:
    """Return the page that sends the form again, to its own address."""
    nonce = secrets.token_urlsafe(16)
    html = templates.render("waiting/signed_in.html", t=text, claim=claim, again=AGAIN, nonce=nonce)
    headers = {"content-type": "text/html; charset=utf-8", **page_headers(nonce, text.lang)}
    return Response(html, headers=headers)
