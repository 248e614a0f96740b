"""Something that we depend on cannot be used: the backend, or the desk's record."""

from __future__ import annotations

from typing import ClassVar

from waitroom.errors.base import WaitroomError


class Unavailable(WaitroomError):
    """Something that we depend on cannot be used: the backend, or the desk's record."""

    code: ClassVar[str] = "unavailable"


class Busy(Unavailable):
    """Our own queue is full; the server may be healthy, and nothing was done."""

    code: ClassVar[str] = "busy"

    def __init__(self) -> None:
        super().__init__("too many calls wait for an answer already; try again in a moment")


class Slow(Unavailable):
    """The server has not answered yet. The call may be done; a repeat does nothing twice."""

    code: ClassVar[str] = "slow"

    def __init__(self) -> None:
        super().__init__("the backend has not answered yet; places are kept, try again in a moment")


class BackendUnavailable(Unavailable):
    """The server cannot be reached, or did not answer in time."""

    code: ClassVar[str] = "backend_unavailable"


class BackendUnfit(Unavailable):
    """The server answers, but using it would lose people: too old, evicting, read-only."""

    code: ClassVar[str] = "backend_unfit"


class BackendFull(Unavailable):
    """The server's memory is full."""

    code: ClassVar[str] = "backend_full"

    def __init__(self) -> None:
        super().__init__(
            "the server's memory is full, so nobody new can join; raise its `maxmemory`"
        )


class RecordUnavailable(Unavailable):
    """The desk's database cannot be used at the moment: away, locked for too long, or full."""

    code: ClassVar[str] = "record_unavailable"
