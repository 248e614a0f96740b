"""A room is not as the caller expected: its name, version or keys."""

from __future__ import annotations

from typing import ClassVar

from waitroom.errors.base import WaitroomError


class UnknownRoom(WaitroomError):
    """No room with that name."""

    code: ClassVar[str] = "unknown_room"

    def __init__(self, room: str) -> None:
        super().__init__(f"there is no room {room!r}; create it with `waitroom room create {room}`")
        self.room = room


class RoomExists(WaitroomError):
    """A room with that name already exists."""

    code: ClassVar[str] = "room_exists"

    def __init__(self, room: str) -> None:
        super().__init__(f"room {room!r} exists; change it with `waitroom room set {room}`")
        self.room = room


class VersionConflict(WaitroomError):
    """Somebody else changed the policy, or the store of a desk, since it was read."""

    code: ClassVar[str] = "version_conflict"

    def __init__(self, name: str, expected: int, actual: int, what: str = "room") -> None:
        super().__init__(
            f"{what} {name!r} is at version {actual}, not {expected}; read it again and retry"
        )
        self.expected = expected
        self.actual = actual


class CannotUndo(WaitroomError):
    """An operator's action that cannot be undone."""

    code: ClassVar[str] = "cannot_undo"


class BrokenRoom(WaitroomError):
    """A key of the room holds another type than ours; nothing was written."""

    code: ClassVar[str] = "broken_room"


class UpgradeNeeded(WaitroomError):
    """The room was written by a newer Waitroom than this one."""

    code: ClassVar[str] = "upgrade_needed"
