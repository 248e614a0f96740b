"""The HTTP request itself cannot be served."""

from __future__ import annotations

from typing import ClassVar

from waitroom.errors.base import WaitroomError


class BadRequest(WaitroomError):
    """The HTTP request itself cannot be served, whatever room it is about."""

    code: ClassVar[str] = "bad_request"


class NotFound(BadRequest):
    """No such path."""

    code: ClassVar[str] = "not_found"


class MethodNotAllowed(BadRequest):
    """The path exists, but not for this method."""

    code: ClassVar[str] = "method_not_allowed"


class BodyTooLarge(BadRequest):
    """The body is longer than any call needs."""

    code: ClassVar[str] = "body_too_large"


class HeadTooLarge(BadRequest):
    """The request has more headers, or longer ones, than any call needs."""

    code: ClassVar[str] = "head_too_large"


class RequestTooSlow(BadRequest):
    """The head or the body of the request did not arrive in time."""

    code: ClassVar[str] = "request_too_slow"
