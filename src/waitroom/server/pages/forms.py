"""CSRF protection: a form is accepted only from our own page, and for the session it belongs to."""

from __future__ import annotations

import hmac
from urllib.parse import urlsplit

from fastapi import Request

from waitroom.errors import Forbidden
from waitroom.server.context import Server
from waitroom.web.origins import ORIGIN_HEADER, SITE_HEADER, is_own_form


def check_own_form(server: Server, request: Request, *, origin_must_match: bool = True) -> None:
    """Refuse a form that another site sends."""
    headers = request.headers
    hosts = {headers.get("host"), urlsplit(server.settings.public_url or "").netloc}
    site, origin = headers.get(SITE_HEADER), headers.get(ORIGIN_HEADER)
    if not is_own_form(site, origin, hosts, origin_must_match=origin_must_match):
        raise Forbidden("this form was not sent by our own page")


def check_form_token(expected: str, token: str, older: str = "") -> None:
    """Refuse a form whose CSRF token is neither the session's current one nor the `older` one."""
    given = token.encode("utf-8", "replace")
    if not any(hmac.compare_digest(good.encode(), given) for good in (expected, older) if good):
        raise Forbidden(
            "this form belongs to another session; go back, reload the page and try again"
        )
