"""The caller is not allowed, calls too often, or names a key or webhook that does not exist."""

from __future__ import annotations

import math
from typing import ClassVar, Self

from waitroom.errors.base import WaitroomError


class Unauthorized(WaitroomError):
    """No API key was given, or one that is not (or no longer) known."""

    code: ClassVar[str] = "unauthorized"


class Forbidden(WaitroomError):
    """The caller is known, but may not do this; `role` is what they would need, if that helps."""

    code: ClassVar[str] = "forbidden"

    def __init__(self, message: str, role: str | None = None) -> None:
        super().__init__(message)
        self.role = role


class TooMany(WaitroomError):
    """Too many calls from one address within a short time; for joins, too many new places."""

    code: ClassVar[str] = "too_many_requests"

    def __init__(self, message: str, retry_after_s: int, *, of_joins: bool = False) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.of_joins = of_joins

    @classmethod
    def joins(cls, wait_s: float) -> Self:
        """Return the refusal of a join; the next one is possible in `wait_s`."""
        text = "too many people join from this address; try again"
        return cls(text, max(1, math.ceil(wait_s)), of_joins=True)


class UnknownKey(WaitroomError):
    """No API key with that id, or the store has no such host key."""

    code: ClassVar[str] = "unknown_key"

    def __init__(self, key_id: str, store: str | None = None) -> None:
        see = "see `waitroom key list`" if store is None else f"see the keys of {store!r}"
        kind = "API key" if store is None else "host key"
        super().__init__(f"there is no {kind} {key_id!r:.40}; {see}")


class UnknownWebhook(WaitroomError):
    """No webhook with that id."""

    code: ClassVar[str] = "unknown_webhook"

    def __init__(self, webhook_id: str) -> None:
        super().__init__(f"there is no webhook {webhook_id!r:.40}; see `waitroom webhook list`")
