"""The gate for Flask; its options may be in the app's configuration as `WAITROOM`.

    gate = WaitroomGate(app, url="http://waitroom:8080", rules={"/concert": "concert"})

It stands in front of the whole app, static files and error pages included. `gate.finish()` ends
the visitor's session from within a view.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from flask import Flask, has_request_context
from flask import request as current

from waitroom.gates import wsgi
from waitroom.gates.options import Options


class WaitroomGate:
    """A Flask extension; takes `Options`, or their fields as keywords."""

    def __init__(
        self, app: Flask | None = None, options: Options | None = None, **fields: Any
    ) -> None:
        self._options = options
        self._fields = fields
        if app is not None:
            self.init_app(app)

    def init_app(self, app: Flask) -> None:
        """Stand in front of an app."""
        fields = self._fields or app.config.get("WAITROOM") or {}
        options = self._options or Options(**fields)
        if options.identity is not None:
            options = replace(options, identity=_in_context(app, options.identity))
        middle = wsgi.WaitroomGate(app.wsgi_app, options)
        app.wsgi_app = middle  # type: ignore[method-assign]
        app.extensions["waitroom"] = middle.gate

    @staticmethod
    def finish(request: Any = None) -> None:
        """End the session of the visitor who sent a request, by default the current one."""
        finish(request)


def _in_context(app: Flask, identity: Callable[[Any], Any]) -> Callable[[wsgi.Environ], Any]:
    """Let `identity` use Flask's request and session, though the gate stands before the app."""

    def of(environ: wsgi.Environ) -> Any:
        with app.request_context(environ) as context:
            return identity(context.request)

    return of


def finish(request: Any = None) -> None:
    """End the session of the visitor who sent a request, by default the current one."""
    if request is not None or has_request_context():
        wsgi.finish(current if request is None else request)
