"""One request for a page: its language, its template and its headers."""

from __future__ import annotations

import secrets
from typing import Any, ClassVar

from fastapi import Request, Response
from fastapi.responses import HTMLResponse

from waitroom.server.context import Server
from waitroom.server.http.auth import is_https
from waitroom.server.http.statics import url_of
from waitroom.server.pages.headers import page_headers
from waitroom.server.pages.languages import choose
from waitroom.server.pages.templates import render
from waitroom.server.pages.text import LANGUAGES, load_text

LANGUAGE_COOKIE = "waitroom-lang"
LANGUAGE_LIFE_S = 365 * 86_400


class LocalPage:
    """A page in the reader's language. A face adds what its templates need."""

    face: ClassVar[str]
    """The folder of its texts."""

    language_cookie: ClassVar[str] = LANGUAGE_COOKIE
    path: ClassVar[str] = "/"

    def __init__(self, server: Server, request: Request) -> None:
        self.server = server
        self.request = request
        chosen, kept = request.query_params.get("lang"), request.cookies.get(self.language_cookie)
        self.lang = choose(LANGUAGES, chosen, kept, request.headers.get("accept-language"))
        self.text = load_text(self.face, self.lang)

    @property
    def secure(self) -> bool:
        """Whether the browser uses https."""
        return is_https(self.server, self.request)

    def values(self) -> dict[str, Any]:
        """Return what every template of the face needs."""
        return {}

    def reads_html(self, template: str) -> bool:  # noqa: ARG002 - a face may know better
        """Return whether the page's script inserts our own HTML."""
        return False

    def html(self, template: str, status: int = 200, **values: Any) -> Response:
        """Render a page."""
        nonce = secrets.token_urlsafe(16)
        content = render(
            template,
            t=self.text,
            here=self.request.url.path,
            nonce=nonce,
            static=url_of,
            **self.values(),
            **values,
        )
        headers = page_headers(nonce, self.lang, reads_html=self.reads_html(template))
        response = HTMLResponse(content, status, headers)
        if self.request.query_params.get("lang") == self.lang:
            response.set_cookie(
                self.language_cookie,
                self.lang,
                max_age=LANGUAGE_LIFE_S,
                path=self.path,
                secure=self.secure,
                httponly=True,
                samesite="lax",
            )
        return response
