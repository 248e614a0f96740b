"""How each page of the desk is made: language, template, headers, and errors as pages."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Coroutine
from functools import cache, partial
from pathlib import Path
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from waitroom.errors import InvalidInput, Unavailable, WaitroomError
from waitroom.server.context import Server, server_of
from waitroom.server.desk import text as say
from waitroom.server.http.auth import is_https
from waitroom.server.http.problems import status_of
from waitroom.server.http.statics import url_of
from waitroom.server.pages.text import LANGUAGES, language
from waitroom.server.waiting.theme import Look

LANGUAGE_COOKIE = "waitroom-lang"
_YEAR_S = 365 * 86_400
_STYLE = Look(title="").style
_NOT_FOUND = 404
_RETRY_S = 3


class SignInFirst(Exception):
    """Nobody is signed in to this console, or no longer."""


class Page:
    """One request for a page: its language, and how it is rendered."""

    def __init__(self, request: Request, server: Server | None = None) -> None:
        self.server = server or server_of(request)
        self.request = request
        chosen, kept = request.query_params.get("lang"), request.cookies.get(LANGUAGE_COOKIE)
        self.lang = language(chosen, kept, request.headers.get("accept-language"))
        self.text = say.words_of(self.lang)

    @property
    def secure(self) -> bool:
        """Whether the browser speaks https to us."""
        return is_https(self.server, self.request)

    def html(self, template: str, status: int = 200, **values: Any) -> Response:
        """Render a page."""
        nonce = secrets.token_urlsafe(16)
        content = render(template, self.lang, nonce, here=self.request.url.path, **values)
        parses = template == "desk/console.html"
        response = HTMLResponse(content, status, headers=headers(nonce, self.lang, parses=parses))
        if self.request.query_params.get("lang") == self.lang:
            response.set_cookie(
                LANGUAGE_COOKIE, self.lang, max_age=_YEAR_S, secure=self.secure, samesite="lax"
            )
        return response


def render(template: str, lang: str, nonce: str, **values: Any) -> str:
    """Fill in a template; nothing of a request is needed."""
    text = say.words_of(lang)
    return (
        _environment()
        .get_template(template)
        .render(
            t=text,
            some=partial(say.some, text),
            wait=partial(say.wait, text),
            within=partial(say.within, text),
            span=partial(say.span, text),
            another=next(one for one in LANGUAGES if one != lang),
            nonce=nonce,
            static=url_of,
            accent=_STYLE,
            **values,
        )
    )


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(Path(__file__).parents[2] / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def headers(nonce: str, lang: str, *, parses: bool = False) -> dict[str, str]:
    """Return the headers of a page: it may run only what it brings, and asks no other host.

    Only the console's script reads HTML, which the server has made.
    """
    policy = (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self' 'nonce-{nonce}'; "
        "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    )
    policy += "" if parses else "; require-trusted-types-for 'script'"
    return {
        "content-security-policy": policy,
        "content-language": lang,
        "cache-control": "no-store",
        "vary": "Accept-Language, Cookie",
        # The address of a guest's page is their ticket: it is told to nobody else.
        "referrer-policy": "same-origin",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
    }


def see(path: str) -> Response:
    """Send the browser on, with GET."""
    return RedirectResponse(path, 303, headers={"cache-control": "no-store"})


class PageRoute(APIRoute):
    """Answers errors with a page rather than JSON, and strangers to a console with its sign-in."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap the handler that FastAPI makes."""
        handle = super().get_route_handler()

        async def page(request: Request) -> Response:
            try:
                return await handle(request)
            except SignInFirst:
                return _to_sign_in(request)
            except RequestValidationError as error:
                first = error.errors()[0]
                return problem(request, InvalidInput(str(first["loc"][-1]), str(first["msg"])))
            except WaitroomError as error:
                return problem(request, error)

        return page


def _to_sign_in(request: Request) -> Response:
    if request.query_params.get("live") or "application/json" in request.headers.get("accept", ""):
        # The script leads there itself, once what is not saved yet has been kept.
        return Response(status_code=401, headers={"cache-control": "no-store"})
    return see(f"/desk/{request.path_params['store']}/host/sign-in")


def problem(request: Request, error: WaitroomError) -> Response:
    """Say on a page what went wrong."""
    page, status = Page(request), status_of(error)
    away = isinstance(error, Unavailable)
    if away:
        title, said = "away_title", page.text("problem_away")
    elif status == _NOT_FOUND:
        title, said = "unknown_title", page.text("unknown_text")
    else:
        title, said = "problem_title", str(error)
    response = page.html(
        "desk/problem.html",
        status,
        title=page.text(title),
        said=said,
        refresh_s=_RETRY_S if away and request.method == "GET" else 0,
        back=_back(request),
    )
    wait_s = getattr(error, "retry_after_s", _RETRY_S if away else None)
    if wait_s is not None:
        response.headers["retry-after"] = str(max(1, round(wait_s)))
    return response


def _back(request: Request) -> str | None:
    """Return the page that a form belongs to, where what went wrong was a form."""
    return request.url.path.rpartition("/")[0] if request.method == "POST" else None
