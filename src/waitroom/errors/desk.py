"""A restaurant's desk refuses; nothing was written."""

from __future__ import annotations

from typing import ClassVar

from waitroom.errors.base import WaitroomError


class DeskError(WaitroomError):
    """The desk of a restaurant refuses; nothing was written."""

    code: ClassVar[str] = "desk_error"


class UnknownStore(DeskError):
    """No store with that id."""

    code: ClassVar[str] = "unknown_store"

    def __init__(self, store: str) -> None:
        super().__init__(f"there is no store {store!r:.40}")
        self.store = store


class UnknownType(DeskError):
    """The store has no line of that name."""

    code: ClassVar[str] = "unknown_type"

    def __init__(self, store: str, name: str) -> None:
        super().__init__(f"store {store!r} has no line {name!r:.40}")


class UnknownParty(DeskError):
    """No such party in this store."""

    code: ClassVar[str] = "unknown_party"

    def __init__(self, message: str = "there is no such party in this store") -> None:
        super().__init__(message)


class StoreExists(DeskError):
    """A store with that id already exists."""

    code: ClassVar[str] = "store_exists"

    def __init__(self, store: str) -> None:
        super().__init__(f"store {store!r} exists; change it, or take another id")
        self.store = store


class StoreClosed(DeskError):
    """The store accepts nobody new; `reason` is what its hosts tell guests."""

    code: ClassVar[str] = "store_closed"

    def __init__(self, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason


class StorePaused(DeskError):
    """The store accepts nobody new for now; `reason` is what its hosts tell guests."""

    code: ClassVar[str] = "store_paused"

    def __init__(self, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason


class LineFull(DeskError):
    """As many parties wait as the line's `queue_limit` allows."""

    code: ClassVar[str] = "line_full"


class PhoneInLine(DeskError):
    """The number already has a place in this line; a host may still add it."""

    code: ClassVar[str] = "phone_in_line"

    def __init__(self) -> None:
        super().__init__(
            "this number cannot be added to the line now; who has joined with it before has a "
            "page of their own, and a host can help"
        )


class PastClosing(DeskError):
    """The expected wait passes the store's closing time."""

    code: ClassVar[str] = "past_closing"

    def __init__(self, closes_at: str, wait_minutes: int) -> None:
        super().__init__(
            f"the wait of about {wait_minutes} min passes the closing time, {closes_at}"
        )
        self.closes_at = closes_at
        self.wait_minutes = wait_minutes


class WrongStatus(DeskError):
    """The party's `status` does not allow that action."""

    code: ClassVar[str] = "wrong_status"

    def __init__(self, action: str, status: str, number: int) -> None:
        super().__init__(f"party {number} is {status} now, so {action} is not possible")
        self.action = action
        self.status = status


class PartyMoved(DeskError):
    """Somebody else changed the line since it was read: look again before deciding."""

    code: ClassVar[str] = "party_moved"
