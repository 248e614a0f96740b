"""What the waiting page can say: one face for every state of a visitor and of the room."""

from __future__ import annotations

from enum import StrEnum

from waitroom.models import Reason


class Face(StrEnum):
    """What the page says."""

    JOIN = "join"
    RIPENING = "ripening"
    SOON = "soon"
    WAITING = "waiting"
    CALLED = "called"
    INSIDE = "inside"
    CODE = "code"
    FULL = "full"
    CLOSED = "closed"
    ENDED = "ended"
    PASSED = "passed"
    LATE = "late"
    OVER = "over"
    LEFT = "left"
    FINISHED = "finished"
    REMOVED = "removed"
    BANNED = "banned"
    SIGN_IN = "sign_in"
    ENTERED = "entered"
    CLEARED = "cleared"
    AWAY = "away"
    UNKNOWN = "unknown"


FACE_OF = {
    Reason.FINISHED: Face.FINISHED,
    Reason.LEFT: Face.LEFT,
    Reason.KICKED: Face.REMOVED,
    Reason.EXPIRED: Face.OVER,
    Reason.NO_SHOW: Face.PASSED,
    Reason.ABANDONED: Face.LATE,
    Reason.PASSED: Face.PASSED,
    Reason.CLEARED: Face.CLEARED,
}

LIVES = {Face.JOIN, Face.SOON, Face.WAITING, Face.CALLED, Face.FULL, Face.CLOSED}
"""Those that the script can turn into a waiting page without a reload."""

REJOINS = {
    *(Face.CODE, Face.PASSED, Face.LATE, Face.OVER, Face.LEFT, Face.FINISHED),
    *(Face.REMOVED, Face.CLEARED),
}
"""Those from which a new place is the next step."""
