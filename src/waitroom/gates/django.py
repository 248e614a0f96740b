"""The gate for Django, sync and async; its options are the setting `WAITROOM`.

    MIDDLEWARE = ["waitroom.gates.django.WaitroomGate", ...]
    WAITROOM = {"url": "http://waitroom:8080", "rules": {"/concert": "concert"}}

`finish(request)` ends the visitor's session from within a view.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings  # type: ignore[import-untyped]
from django.http import HttpResponse  # type: ignore[import-untyped]

from waitroom.gates.answers import Answer
from waitroom.gates.decision import Facts, Options
from waitroom.gates.gate import Gate, Visit, settled, settled_async


class WaitroomGate:
    """Django middleware; put it first."""

    sync_capable = async_capable = True

    def __init__(self, get_response: Callable[[Any], Any]) -> None:
        given = settings.WAITROOM
        options = given if isinstance(given, Options) else Options(**given)
        self._get_response = get_response
        self._is_async = iscoroutinefunction(get_response)
        self.gate = Gate(options, inline=not self._is_async)
        if self._is_async:
            markcoroutinefunction(self)

    def __call__(self, request: Any) -> Any:
        """Pass a request on, or answer it."""
        if self._is_async:
            return self._later(request)
        found = settled(self.gate, self.gate.judge(facts_of(request)))
        if isinstance(found, Answer):
            return _response(found)
        request.waitroom = found
        return _leaving(found, self._get_response(request))

    async def _later(self, request: Any) -> Any:
        found = await settled_async(self.gate, self.gate.judge(facts_of(request)))
        if isinstance(found, Answer):
            return _response(found)
        request.waitroom = found
        answer: Awaitable[Any] = self._get_response(request)
        return _leaving(found, await answer)


def finish(request: Any) -> None:
    """End the session of the visitor who sent a request; their place goes to the next one."""
    visit = getattr(request, "waitroom", None)
    if visit is not None:
        visit.finish()


def facts_of(request: Any) -> Facts:
    """Return what is known of a request."""
    meta = request.META

    def header(name: str) -> str | None:
        found = meta.get("HTTP_" + name.upper().replace("-", "_"))
        return None if found is None else str(found)

    query, address = meta.get("QUERY_STRING", ""), meta.get("REMOTE_ADDR") or ""
    return Facts(request.method or "GET", request.path, query, request.scheme, address, header)


def _response(answer: Answer) -> Any:
    made = HttpResponse(answer.body, status=answer.status)
    del made["Content-Type"]
    for name, value in answer.lines():
        if name != "set-cookie":  # a header of Django's may stand there once only
            made[name] = value
    return _with_cookies(made, answer.cookies)


def _leaving(visit: Visit, response: Any) -> Any:
    return _with_cookies(response, visit.leaving(response.status_code))


def _with_cookies(response: Any, cookies: Any) -> Any:
    for one in cookies:
        response.set_cookie(
            one.name,
            one.value,
            max_age=one.max_age_s,
            secure=one.secure,
            httponly=True,
            samesite="Lax",
        )
    return response
