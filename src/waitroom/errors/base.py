"""The root of all errors, and errors about the caller's input."""

from __future__ import annotations

from typing import ClassVar


class WaitroomError(Exception):
    """The root: `except WaitroomError` catches whatever Waitroom raises on purpose."""

    code: ClassVar[str] = "error"


class InvalidInput(WaitroomError):
    """The caller's input cannot be used; `field` names it, the message says what is allowed."""

    code: ClassVar[str] = "invalid_input"

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field


class InvalidRoomName(InvalidInput):
    """A room name that breaks the rule."""

    code: ClassVar[str] = "invalid_room_name"


class InvalidPolicy(InvalidInput):
    """A policy field out of range, or two that contradict each other."""

    code: ClassVar[str] = "invalid_policy"


class InvalidTicket(InvalidInput):
    """A ticket string that we did not make for this room; it never reaches the server."""

    code: ClassVar[str] = "invalid_ticket"

    def __init__(self, message: str) -> None:
        super().__init__("ticket", message)


class InvalidPass(InvalidInput):
    """A pass that we did not make, or not for this room, or that is over."""

    code: ClassVar[str] = "invalid_pass"

    def __init__(self, message: str) -> None:
        super().__init__("pass", message)
