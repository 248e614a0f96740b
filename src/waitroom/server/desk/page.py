"""How each page of the desk is made: its words, its headers, and errors as pages."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import Request, Response

from waitroom.errors import Unavailable, WaitroomError
from waitroom.server.context import Server, server_of
from waitroom.server.desk import text as say
from waitroom.server.http.problems import status_of
from waitroom.server.pages.colours import accent_style
from waitroom.server.pages.page import LocalPage
from waitroom.server.pages.route import NO_STORE, ErrorPageRoute, redirect

_ACCENT = accent_style()
_NOT_FOUND = 404
_RETRY_S = 3


class Page(LocalPage):
    """One request for a page of the desk."""

    face = "desk"

    def __init__(self, request: Request, server: Server | None = None) -> None:
        super().__init__(server or server_of(request), request)

    def reads_html(self, template: str) -> bool:
        """Return whether it is the console, whose script takes parts from a newer page."""
        return template == "desk/console.html"

    def values(self) -> dict[str, Any]:
        """Return what every template needs."""
        tellers = (say.some, say.wait, say.within, say.span)
        phrases = {function.__name__: partial(function, self.text) for function in tellers}
        return {**phrases, "accent": _ACCENT}


class PageRoute(ErrorPageRoute):
    """Answers errors with a page, not JSON; sends people who are not signed in to the sign-in."""

    async def problem(self, request: Request, error: WaitroomError) -> Response:
        """Return the page of an error."""
        page, status = Page(request), status_of(error)
        away = isinstance(error, Unavailable)
        if away:
            title, message = "away_title", page.text("problem_away")
        elif status == _NOT_FOUND:
            title, message = "unknown_title", page.text("unknown_text")
        else:
            title, message = "problem_title", str(error)
        response = page.html(
            "desk/problem.html",
            status,
            title=page.text(title),
            message=message,
            refresh_s=_RETRY_S if away and request.method == "GET" else 0,
            back=_back(request),
        )
        wait_s = getattr(error, "retry_after_s", _RETRY_S if away else None)
        if wait_s is not None:
            response.headers["retry-after"] = str(max(1, round(wait_s)))
        return response

    def sign_in(self, request: Request) -> Response:
        """Redirect to the sign-in; a script goes there itself, after keeping unsaved work."""
        wants_json = "application/json" in request.headers.get("accept", "")
        if wants_json or request.query_params.get("live"):
            return Response(status_code=401, headers=NO_STORE)
        return redirect(f"/desk/{request.path_params['store']}/host/sign-in")


def _back(request: Request) -> str | None:
    """Return the page of a form that failed."""
    return request.url.path.rpartition("/")[0] if request.method == "POST" else None
