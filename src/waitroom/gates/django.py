"""The gate for Django, sync and async; put it first, or after the middleware that knows the user.

MIDDLEWARE = ["waitroom.gates.django.WaitroomGate", ...]
WAITROOM = {"url": "http://waitroom:8080", "rules": {"/concert": "concert"}}

`finish` is for views.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings  # type: ignore[import-untyped]
from django.http import HttpResponse  # type: ignore[import-untyped]

from waitroom.gates.answers import Answer, Cookie
from waitroom.gates.facts import Facts
from waitroom.gates.gate import Gate
from waitroom.gates.identities import identify, identify_async
from waitroom.gates.judging import settled, settled_async
from waitroom.gates.options import Options


class WaitroomGate:
    """Django middleware; its options are the setting `WAITROOM`."""

    sync_capable = async_capable = True

    def __init__(self, get_response: Callable[[Any], Any]) -> None:
        given, self._next = settings.WAITROOM, get_response
        self._is_async = iscoroutinefunction(get_response)
        options = given if isinstance(given, Options) else Options(**given)
        self.gate = Gate(options, inline=not self._is_async)
        if self._is_async:
            markcoroutinefunction(self)

    def __call__(self, request: Any) -> Any:
        """Pass a request on, or answer it."""
        if self._is_async:
            return self._async(request)
        facts = facts_of(request)
        identify(self.gate, facts, request)
        outcome = request.waitroom = self.gate.quick(facts) or settled(self.gate, facts)
        if isinstance(outcome, Answer):
            return _response(outcome)
        response = self._next(request)
        return _with(response, outcome.leaving(response.status_code, facts_of, request))

    async def _async(self, request: Any) -> Any:
        facts = facts_of(request)
        await identify_async(self.gate, facts, request)
        outcome = self.gate.quick(facts) or await settled_async(self.gate, facts)
        if isinstance(outcome, Answer):
            return _response(outcome)
        request.waitroom = outcome
        response = await self._next(request)
        return _with(response, outcome.leaving(response.status_code, facts_of, request))


def finish(request: Any) -> None:
    """End the session of the visitor who sent a request; their place goes to the next one."""
    request.waitroom.finish()


def facts_of(request: Any) -> Facts:
    """Return the facts of a request."""
    meta, method = request.META, request.method or "GET"

    def header(name: str) -> str | None:
        return meta.get("HTTP_" + name.upper().replace("-", "_"))  # type: ignore[no-any-return]

    query, peer = meta.get("QUERY_STRING", ""), meta.get("REMOTE_ADDR") or ""
    inner = request.path_info if request.path_info != request.path else None
    return Facts(method, request.path, query, request.scheme, peer, header, inner)


def _response(answer: Answer) -> Any:
    lines = {name: value for name, value in answer.lines() if name != "set-cookie"}
    kind = lines.pop("content-type", "text/plain")
    return _with(HttpResponse(answer.body, kind, answer.status, headers=lines), answer.cookies)


def _with(response: Any, cookies: Sequence[Cookie]) -> Any:
    for name, value, age_s, safe in cookies:
        response.set_cookie(name, value, age_s, secure=safe, httponly=True, samesite="Lax")
    return response
