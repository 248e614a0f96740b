"""The same small site in every framework, behind its gate, on a real server of its kind.

Every path that a lenient site could read as `/concert` is protected and answers `secret`; the rest
answers `open`. `/concert/pay` ends the session by calling `finish`.
"""

from __future__ import annotations

import contextlib
import posixpath
import threading
import unicodedata
import urllib.parse
import wsgiref.simple_server
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import django  # type: ignore[import-untyped]
import flask
import litestar
from django.conf import settings  # type: ignore[import-untyped]
from django.core.handlers.asgi import ASGIHandler  # type: ignore[import-untyped]
from django.core.handlers.wsgi import WSGIHandler  # type: ignore[import-untyped]
from django.http import HttpResponse  # type: ignore[import-untyped]
from django.urls import re_path  # type: ignore[import-untyped]
from fastapi import FastAPI, Request
from litestar.handlers import asgi as litestar_asgi
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from tests.examples.serving import running
from tests.support.clients import HOST
from waitroom.gates import asgi, wsgi
from waitroom.gates import django as django_gate
from waitroom.gates import flask as flask_gate
from waitroom.gates.gate import Gate
from waitroom.gates.options import Options

METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]
GATES: list[Gate] = []
"""The gates of running sites; Django makes its own."""


def text_of(path: str) -> str:
    """Return what the site shows: as secret as its most lenient reading of a path."""
    return "secret" if any(map(_is_secret, _lenient(path))) else "open"


def _lenient(path: str) -> Iterator[str]:
    """Yield a path as servers, frameworks and file systems of all kinds may read it."""
    for _ in range(4):
        for text in (path, unicodedata.normalize("NFKC", path), path.replace("\ufffd", "")):
            plain = text.replace("\\", "/").split("\0")[0]
            yield plain
            bare = "/".join(
                part.split(";")[0].strip().rstrip(". ") or part for part in plain.split("/")
            )
            for one in (plain, bare, "/" + plain.lstrip("/")):
                yield posixpath.normpath("/" + one.lstrip("/"))
        path = urllib.parse.unquote(path)


def _is_secret(path: str) -> bool:
    first = path.lower().strip("/").split("/")[0]
    return first == "concert"


def pays(path: str) -> bool:
    """Tell whether a view is the one that ends the session."""
    return path == "/concert/pay"


async def _view(request: Request) -> Response:
    path = request.scope["path"]
    if pays(path):
        asgi.finish(request)
    return PlainTextResponse(text_of(path))


def _starlette() -> Any:
    return Starlette(routes=[Route("/{rest:path}", _view, methods=METHODS)])


class AddedGate(asgi.WaitroomGate):
    """The gate as FastAPI adds it, kept where the test can find it."""

    def __init__(self, app: Any, options: Options) -> None:
        super().__init__(app, options)
        GATES.append(self.gate)


def _fastapi(options: Options) -> Any:
    app = FastAPI(openapi_url=None)
    app.api_route("/{rest:path}", methods=METHODS)(_view)
    app.add_middleware(AddedGate, options=options)
    return app


def _litestar() -> Any:
    @litestar_asgi("/", is_mount=True, copy_scope=False)
    async def everything(scope: Any, receive: Any, send: Any) -> None:
        response = await _view(Request(scope))
        await response(scope, receive, send)

    return litestar.Litestar([everything], openapi_config=None)


def _plain(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    path = wsgi.facts_of(environ).path
    if pays(path):
        wsgi.finish(environ)
    body = text_of(path).encode()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]


def _flask(options: Options) -> Any:
    app = flask.Flask(__name__)

    @app.route("/", methods=METHODS, defaults={"rest": ""})
    @app.route("/<path:rest>", methods=METHODS)
    def view(rest: str) -> str:  # noqa: ARG001 - the path as Flask has it
        if pays(flask.request.path):
            flask_gate.finish()
        return text_of(flask.request.path)

    flask_gate.WaitroomGate(app, options)
    GATES.append(app.extensions["waitroom"])
    return app


class DjangoGate(django_gate.WaitroomGate):
    """The gate for Django, kept where the test can find it."""

    def __init__(self, get_response: Callable[[Any], Any]) -> None:
        super().__init__(get_response)
        GATES.append(self.gate)


def _django_view(request: Any) -> Any:
    if pays(request.path):
        django_gate.finish(request)
    return HttpResponse(text_of(request.path), content_type="text/plain")


urlpatterns = [re_path(r"^.*$", _django_view)]


def _django(options: Options) -> None:
    if not settings.configured:
        settings.configure(
            SECRET_KEY="only for tests",
            ALLOWED_HOSTS=["*"],
            ROOT_URLCONF=__name__,
            MIDDLEWARE=[f"{__name__}.DjangoGate"],
            DEFAULT_CHARSET="utf-8",
            USE_TZ=True,
            LOGGING_CONFIG=None,
        )
        django.setup()
    settings.WAITROOM = options


def _made(name: str, options: Options) -> Any:
    """Return a site of a framework behind its gate."""
    if name == "fastapi":
        return _fastapi(options)
    if name in ("starlette", "litestar"):
        gated: Any = asgi.WaitroomGate(
            _starlette() if name == "starlette" else _litestar(), options
        )
        GATES.append(gated.gate)
        return gated
    if name == "wsgi":
        gated = wsgi.WaitroomGate(_plain, options)
        GATES.append(gated.gate)
        return gated
    if name == "flask":
        return _flask(options)
    _django(options)
    return ASGIHandler() if name == "django-async" else WSGIHandler()


FRAMEWORKS = ("starlette", "fastapi", "litestar", "wsgi", "flask", "django", "django-async")
_ASYNC = {"starlette", "fastapi", "litestar", "django-async"}


@contextlib.contextmanager
def site(name: str, options: Options) -> Iterator[int]:
    """Run the site of a framework; yield the port that it listens on."""
    GATES.clear()
    app = _made(name, options)
    try:
        with running(app, lifespan="off") if name in _ASYNC else _wsgiref(app) as port:
            yield port
    finally:
        for gate in GATES:
            gate.close()


class _Quiet(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@contextlib.contextmanager
def _wsgiref(app: Any) -> Iterator[int]:
    with wsgiref.simple_server.make_server(HOST, 0, app, handler_class=_Quiet) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join(10)
