"""How each operator page is made: language, session, template, headers, and errors as pages.

Strangers are sent to the sign-in, and what goes wrong is told on a page of ours, not as JSON.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Coroutine
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from waitroom.credentials.roles import Role
from waitroom.errors import BackendUnavailable, InvalidInput, WaitroomError
from waitroom.models import check_room_name
from waitroom.server.context import Server, server_of
from waitroom.server.http.answers import moment
from waitroom.server.http.auth import Who
from waitroom.server.http.problems import status_of
from waitroom.server.http.statics import url_of
from waitroom.server.operator import session as sessions
from waitroom.server.operator import words as say
from waitroom.server.operator.session import NotSignedIn, Session
from waitroom.server.pages.forms import check_own_form
from waitroom.server.pages.text import LANGUAGES, Text, language

LANGUAGE_COOKIE = "waitroom-admin-language"


class PageRoute(APIRoute):
    """Answers errors with a page of ours rather than with JSON, and strangers with the sign-in."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap the handler that FastAPI makes."""
        handle = super().get_route_handler()

        async def page(request: Request) -> Response:
            try:
                return await handle(request)
            except NotSignedIn:
                return _to_sign_in(request)
            except RequestValidationError as error:
                first = error.errors()[0]
                wrong = InvalidInput(str(first["loc"][-1]), str(first["msg"]))
                return await _problem(request, wrong)
            except WaitroomError as error:
                return await _problem(request, error)

        return page


class Page:
    """One request for a page: its language, who is signed in, and how it is rendered."""

    def __init__(self, server: Server, request: Request, session: Session | None) -> None:
        self.server = server
        self.request = request
        self.session = session
        chosen = request.query_params.get("lang")
        kept = request.cookies.get(LANGUAGE_COOKIE)
        self.lang = language(chosen, kept, request.headers.get("accept-language"))
        self.text: Text = say.words_of(self.lang)

    @classmethod
    async def of(cls, server: Server, request: Request, role: Role = Role.VIEWER) -> Page:
        """Make one for somebody who is signed in and may see it."""
        made = cls(server, request, await sessions.current(server, request))
        made.who.need(role)
        server.backend_health.check()
        return made

    @property
    def who(self) -> Who:
        """Who is signed in."""
        if self.session is None:
            raise NotSignedIn
        return self.session.who

    def check(self, token: str) -> None:
        """Refuse a form that is not of this session, or that another site sends."""
        check_own_form(self.server, self.request)
        if self.session is None:
            raise NotSignedIn
        sessions.check_form(self.session, token)

    def html(self, template: str, status: int = 200, **values: Any) -> Response:
        """Render a page."""
        nonce = secrets.token_urlsafe(16)
        may = self.session is not None and self.who.key.role.allows(Role.OPERATOR)
        content = (
            _environment()
            .get_template(template)
            .render(
                t=self.text,
                lang=self.lang,
                languages=LANGUAGES,
                here=self.request.url.path,
                nonce=nonce,
                session=self.session,
                may_change=may,
                static=url_of,
                say=Say(self.text),
                **values,
            )
        )
        response = HTMLResponse(content, status, headers=_headers(nonce))
        if self.request.query_params.get("lang") == self.lang:
            response.set_cookie(
                LANGUAGE_COOKIE, self.lang, max_age=31_536_000, path="/admin", samesite="lax"
            )
        return response


class Say:
    """What templates need to say numbers, times and deeds in the language of the page."""

    def __init__(self, text: Text) -> None:
        self._text = text

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a function of `console_text`, with the language filled in."""
        function = getattr(say, name)
        return lambda *args: function(self._text, *args)

    def moment(self, ms: int) -> str:
        """Return a time for `datetime=`."""
        return moment(ms) or ""

    def plain(self, ms: int) -> str:
        """Return a time as it reads without a script: in UTC, and saying so."""
        return f"{(moment(ms) or '')[:19].replace('T', ' ')} UTC"


@cache
def _environment() -> Environment:
    folder = Path(__file__).parents[1] / "templates"
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _headers(nonce: str) -> dict[str, str]:
    policy = (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
        "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    )
    return {
        "content-security-policy": policy,
        "cache-control": "no-store",
        "cross-origin-opener-policy": "same-origin",
        # Without any referrer browsers would send `Origin: null` with our own forms.
        "referrer-policy": "same-origin",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
    }


def see(path: str) -> Response:
    """Send the browser on, with GET."""
    return RedirectResponse(path, 303, headers={"cache-control": "no-store"})


def _to_sign_in(request: Request) -> Response:
    if request.query_params.get("live"):  # the script reloads the page, and so comes here again
        return Response(status_code=401, headers={"cache-control": "no-store"})
    return see("/admin/sign-in")


async def _problem(request: Request, error: WaitroomError) -> Response:
    server = server_of(request)
    try:
        session = await sessions.current(server, request)
    except (NotSignedIn, WaitroomError):
        session = None
    page = Page(server, request, session)
    retry = request.method == "GET" and isinstance(error, BackendUnavailable)
    values = {"error": error, "room": _room_of(request), "retry": retry}
    return page.html("operator/problem.html", status_of(error), **values)


def _room_of(request: Request) -> str | None:
    name = request.path_params.get("room")
    try:
        return None if name is None else check_room_name(name)
    except InvalidInput:
        return None
