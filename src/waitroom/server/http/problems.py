"""Errors as RFC 9457 problems: one shape for every route, with the stable `code` of the error.

`answer` is for the lane and the visitor calls, `install` gives FastAPI the same shape.
"""

from __future__ import annotations

import logging
from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match

from waitroom import errors
from waitroom.server.http.answers import Answer, moment

log = logging.getLogger("waitroom.problems")
MEDIA_TYPE = "application/problem+json"
_HEAD = [(b"content-type", MEDIA_TYPE.encode()), (b"cache-control", b"no-store")]
RETRY_AFTER_S = 2
"""Retry-After while the backend is away: it recovers by itself, usually fast."""

# The nearest base class decides, so an error that is added later also has a status.
STATUS: dict[type[errors.WaitroomError], int] = {
    errors.WaitroomError: 500,
    errors.InvalidInput: 422,
    errors.InvalidRoomName: 404,
    errors.InvalidTicket: 404,
    errors.InvalidPass: 401,
    errors.UnknownRoom: 404,
    errors.RoomExists: 409,
    errors.VersionConflict: 409,
    errors.CannotUndo: 409,
    errors.Refused: 409,
    errors.RoomClosed: 403,
    errors.RoomEnded: 403,
    errors.RoomNotOpen: 403,
    errors.Banned: 403,
    errors.ChallengeRequired: 403,
    errors.IdentityRequired: 403,
    errors.ClaimRefused: 403,
    errors.CodeRequired: 403,
    errors.CodeRefused: 403,
    errors.EnteredBefore: 403,
    errors.UnknownBatch: 404,
    errors.TooManyBatches: 409,
    errors.RoomFull: 429,
    errors.TurnPassed: 410,
    errors.SessionOver: 410,
    errors.CodeUsed: 410,
    errors.EnterLater: 409,
    errors.DeskError: 409,
    errors.UnknownTicket: 404,
    errors.UnknownStore: 404,
    errors.UnknownType: 404,
    errors.UnknownParty: 404,
    errors.StoreClosed: 403,
    errors.StorePaused: 403,
    errors.LineFull: 429,
    errors.PhoneInLine: 409,
    errors.PastClosing: 403,
    errors.UnknownKey: 404,
    errors.UnknownWebhook: 404,
    errors.Unauthorized: 401,
    errors.Forbidden: 403,
    errors.TooMany: 429,
    errors.BadRequest: 400,
    errors.NotFound: 404,
    errors.MethodNotAllowed: 405,
    errors.BodyTooLarge: 413,
    errors.RequestTooSlow: 408,
    errors.HeadTooLarge: 431,
    errors.BrokenRoom: 503,
    errors.UpgradeNeeded: 503,
    errors.Unavailable: 503,
}
TITLES = {
    400: "The request cannot be read",
    401: "A key or a pass is needed",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "The request took too long",
    409: "Not possible as things stand",
    410: "Gone",
    413: "The body is too large",
    422: "The input is not valid",
    429: "Too many",
    431: "The head is too large",
    500: "Internal error",
    503: "Not available for a moment",
}
_REASONED = errors.TurnPassed | errors.SessionOver | errors.CodeRefused
_METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
_BY_STATUS: dict[int, type[errors.WaitroomError]] = {
    404: errors.NotFound,
    405: errors.MethodNotAllowed,
}


def status_of(error: errors.WaitroomError) -> int:
    """Return the HTTP status of an error."""
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def document(error: errors.WaitroomError) -> dict[str, Any]:
    """Return the problem document of an error."""
    status = status_of(error)
    problem: dict[str, Any] = {
        "type": f"/docs/errors#{error.code}",
        "title": TITLES[status],
        "status": status,
        "detail": str(error),
        "code": error.code,
    }
    if isinstance(error, errors.UnknownRoom):
        # The error's message tells a developer which command to type; a visitor cannot type it.
        problem["detail"] = f"there is no room {error.room!r}"
    if isinstance(error, errors.InvalidInput):
        problem["field"] = error.field
    if isinstance(error, errors.EnterLater):
        problem["retry_at"] = moment(error.retry_at_ms)
    if isinstance(error, _REASONED) and error.reason is not None:
        problem["reason"] = error.reason
    if isinstance(error, errors.ChallengeRequired):
        problem["challenge"] = error.challenge
    return problem


def answer(error: errors.WaitroomError) -> Answer:
    """Return the whole answer to an error."""
    problem = document(error)
    headers = [*_HEAD, *_more_headers(error)]
    return Answer(problem["status"], headers, msgspec.json.encode(problem))


def _more_headers(error: errors.WaitroomError) -> list[tuple[bytes, bytes]]:
    if isinstance(error, errors.TooMany):
        return [(b"retry-after", b"%d" % max(1, round(error.retry_after_s)))]
    if isinstance(error, errors.Unavailable | errors.RoomFull):
        return [(b"retry-after", b"%d" % RETRY_AFTER_S)]
    if isinstance(error, errors.Unauthorized):
        return [(b"www-authenticate", b'Bearer realm="waitroom"')]
    return [(b"connection", b"close")] if isinstance(error, errors.RequestTooSlow) else []


def install(app: FastAPI) -> None:
    """Give every error of a FastAPI app our shape."""

    async def known(_: Request, error: Exception) -> Response:
        assert isinstance(error, errors.WaitroomError)  # noqa: S101 - as registered
        return answer(error).response()

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # noqa: S101 - as registered
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"][1:]) or "body"
        return answer(errors.InvalidInput(field, str(first["msg"]))).response()

    async def plain(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101 - as registered
        kind = _BY_STATUS.get(error.status_code, errors.BadRequest)
        problem = answer(kind(str(error.detail)))
        if error.status_code != 405:
            return problem.response()
        allow = (b"allow", ", ".join(_methods(app, request)).encode())
        return Answer(problem.status, [*problem.headers, allow], problem.body).response()

    async def unforeseen(request: Request, error: Exception) -> Response:
        route = getattr(request.scope.get("route"), "path", "")
        known = {"request_id": request.scope.get("request_id")}
        log.error("a call failed: %s %s", request.method, route, exc_info=error, extra=known)
        return answer(errors.WaitroomError("internal error; details are in the log")).response()

    app.add_exception_handler(errors.WaitroomError, known)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, plain)
    app.add_exception_handler(Exception, unforeseen)


def _methods(app: FastAPI, request: Request) -> list[str]:
    """Return all methods of a path; Starlette names only those of the first matching route."""

    def has(method: str) -> bool:
        scope = {**request.scope, "method": method}
        return any(route.matches(scope)[0] is Match.FULL for route in app.routes)

    return [method for method in _METHODS if has(method)]
