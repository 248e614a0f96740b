"""The gate for WSGI: any framework, under any server.

    app = WaitroomGate(app, url="http://waitroom:8080", rules={"/concert": "concert"})

`finish(environ)` ends the visitor's session from within the app.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from waitroom.gates.answers import Answer
from waitroom.gates.facts import Facts
from waitroom.gates.gate import Gate
from waitroom.gates.identities import identify
from waitroom.gates.judging import settled
from waitroom.gates.options import Options

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
App = Callable[[Environ, StartResponse], Iterable[bytes]]
KEY = "waitroom.gate"


class WaitroomGate:
    """WSGI middleware; takes `Options`, or their fields as keywords."""

    def __init__(self, app: App, options: Options | None = None, **fields: Any) -> None:
        self.app = app
        self.gate = Gate(options or Options(**fields), inline=True)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass a request on, or answer it."""
        facts = facts_of(environ)
        identify(self.gate, facts, environ)
        outcome = self.gate.quick(facts) or settled(self.gate, facts)
        if isinstance(outcome, Answer):
            phrase = f"{outcome.status} {HTTPStatus(outcome.status).phrase}"
            start_response(phrase, outcome.lines())
            return [b"" if environ["REQUEST_METHOD"] == "HEAD" else outcome.body]
        environ[KEY] = outcome

        def leave(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            if outcome.carries:
                cookies = outcome.leaving(int(status[:3]), facts_of, environ)
                headers = [*headers, *(("Set-Cookie", cookie.header()) for cookie in cookies)]
            return start_response(status, headers, *more)

        return self.app(environ, start_response if outcome.good_pass is None else leave)


def finish(request: Any) -> None:
    """End the session of the visitor who sent a request; takes the environ, or what has one."""
    visit = (request if isinstance(request, dict) else request.environ).get(KEY)
    if visit is not None:
        visit.finish()


def facts_of(environ: Environ) -> Facts:
    """Return the facts of a request."""

    def header(name: str) -> str | None:
        value = environ.get("HTTP_" + name.upper().replace("-", "_"))
        return None if value is None else str(value)

    root, inner = _text(environ.get("SCRIPT_NAME", "")), _text(environ.get("PATH_INFO", ""))
    return Facts(
        environ["REQUEST_METHOD"],
        root + inner or "/",
        environ.get("QUERY_STRING", ""),
        environ.get("wsgi.url_scheme", "http"),
        environ.get("REMOTE_ADDR", ""),
        header,
        inner if root else None,
    )


def _text(raw: str) -> str:
    """Read a path as Python's frameworks do: its bytes travel as latin-1, and are UTF-8."""
    return raw if raw.isascii() else raw.encode("latin-1", "replace").decode("utf-8", "replace")
