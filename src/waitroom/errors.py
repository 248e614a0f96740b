"""Everything that Waitroom raises on purpose.

    WaitroomError
    ├── InvalidInput            what the caller gave is wrong: `field` and what is allowed
    │   ├── InvalidRoomName
    │   ├── InvalidPolicy
    │   ├── InvalidTicket       empty, too long, not ours, forged, of another room
    │   └── InvalidPass         empty, forged, over, of another room, or not a pass at all
    ├── UnknownRoom             no room of that name
    ├── RoomExists              create, but it is there
    ├── VersionConflict         the policy or store was changed by somebody else in between
    ├── CannotUndo              an action that cannot be taken back, and what to do instead
    ├── Refused                 the room says no, and `code` says why
    │   ├── RoomClosed, RoomEnded, RoomNotOpen,
    │   │   RoomFull, Banned                      join
    │   ├── NotYourTurn, TurnPassed, EnterLater   enter
    │   ├── SessionOver, NotRenewable             renew
    │   ├── CodeUsed                              redeem
    │   ├── NoPush                                subscribe to push messages
    │   ├── DefersUsedUp, NobodyBehind            defer
    │   ├── NotWaiting                            defer, call
    │   ├── AlreadyHere, UnknownTicket,
    │   │   KeptElsewhere                         reinstate
    │   └── Holding, RoomPaused, NoCapacity       admit, call
    ├── DeskError               a restaurant's desk says no, and nothing was written
    │   ├── UnknownStore, UnknownType, UnknownParty, StoreExists
    │   ├── StoreClosed, StorePaused, LineFull, PastClosing,
    │   │   PhoneInLine                                           join
    │   └── WrongStatus, PartyMoved                               call, seat, undo, …
    ├── Unauthorized            no API key, or one that is not (or no longer) known
    ├── Forbidden               the key's role does not allow it
    ├── TooMany                 too many calls from one address; `retry_after_s` says when again
    ├── UnknownKey              no API key or host key of that id
    ├── UnknownWebhook          no webhook of that id
    ├── BadRequest              the HTTP request itself: NotFound, MethodNotAllowed,
    │                           BodyTooLarge, HeadTooLarge, RequestTooSlow
    ├── BrokenRoom              a key of the room holds data of another type
    ├── UpgradeNeeded           the data was written by a newer Waitroom
    └── Unavailable             something that we depend on cannot be used at the moment
        ├── Busy                too many calls of ours wait already; nothing was done
        ├── Slow                Redis or Valkey has not answered yet; what was asked may be done
        ├── BackendUnavailable  Redis or Valkey cannot be reached
        ├── BackendUnfit        it was reached, but must not be used as it is
        ├── BackendFull         its memory is full
        └── RecordUnavailable   the desk's database is away, locked for too long, or full

Every error has a stable `code` (for HTTP and `--json`) and a message of one sentence that names the
field and the remedy. This module imports nothing of ours.
"""

from __future__ import annotations

import math
from typing import ClassVar, Self


class WaitroomError(Exception):
    """The root: `except WaitroomError` catches whatever Waitroom raises on purpose."""

    code: ClassVar[str] = "error"


class InvalidInput(WaitroomError):
    """What the caller gave cannot be used; `field` names it, the message says what is allowed."""

    code: ClassVar[str] = "invalid_input"

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field


class InvalidRoomName(InvalidInput):
    """A room name outside the rule."""

    code: ClassVar[str] = "invalid_room_name"


class InvalidPolicy(InvalidInput):
    """A policy field out of range, or two that contradict each other."""

    code: ClassVar[str] = "invalid_policy"


class InvalidTicket(InvalidInput):
    """A ticket string that was not made by us for this room; it never reaches the server."""

    code: ClassVar[str] = "invalid_ticket"

    def __init__(self, message: str) -> None:
        super().__init__("ticket", message)


class InvalidPass(InvalidInput):
    """A pass that was not made by us, or not for this room, or that is over."""

    code: ClassVar[str] = "invalid_pass"

    def __init__(self, message: str) -> None:
        super().__init__("pass", message)


class UnknownRoom(WaitroomError):
    """No room of that name."""

    code: ClassVar[str] = "unknown_room"

    def __init__(self, room: str) -> None:
        super().__init__(f"there is no room {room!r}; create it with `waitroom room create {room}`")
        self.room = room


class RoomExists(WaitroomError):
    """A room of that name is there already."""

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
    """An action of an operator that cannot be taken back."""

    code: ClassVar[str] = "cannot_undo"


class Refused(WaitroomError):
    """The room answers no; nothing was changed."""

    code: ClassVar[str] = "refused"


class RoomClosed(Refused):
    """The room takes nobody new."""

    code: ClassVar[str] = "room_closed"


class RoomEnded(Refused):
    """It is over, by the mode `ended` or by `ends_at`: nobody new, and nobody else is called."""

    code: ClassVar[str] = "room_ended"


class RoomNotOpen(Refused):
    """The room opens later, and until then it refuses."""

    code: ClassVar[str] = "room_not_open"


class RoomFull(Refused):
    """As many people wait as `queue_limit` allows."""

    code: ClassVar[str] = "room_full"


class Banned(Refused):
    """An operator has removed this ticket or visitor, and does not let them join again."""

    code: ClassVar[str] = "banned"


class NotYourTurn(Refused):
    """The ticket still waits."""

    code: ClassVar[str] = "not_your_turn"


class TurnPassed(Refused):
    """The ticket is gone: its time to enter is over, it left or was kicked; `reason` says which."""

    code: ClassVar[str] = "turn_passed"
    reason: str | None = None

    def __init__(self, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason


class EnterLater(Refused):
    """Called, but the rolling limit is used up until `retry_at_ms`; the turn is kept."""

    code: ClassVar[str] = "enter_later"

    def __init__(self, message: str, retry_at_ms: int) -> None:
        super().__init__(message)
        self.retry_at_ms = retry_at_ms


class SessionOver(Refused):
    """The session has ended, so it can be neither renewed nor finished; `reason` says how."""

    code: ClassVar[str] = "session_over"
    reason: str | None = None

    def __init__(self, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason


class CodeUsed(Refused):
    """A one-time code that was redeemed before, is too old, or never existed."""

    code: ClassVar[str] = "code_used"


class NoPush(Refused):
    """This server sends no push messages, or the room cannot keep another subscription."""

    code: ClassVar[str] = "no_push"


class NotRenewable(Refused):
    """The room's policy does not extend sessions."""

    code: ClassVar[str] = "not_renewable"


class DefersUsedUp(Refused):
    """The ticket has gone back as often as `max_defers` allows."""

    code: ClassVar[str] = "defers_used_up"


class NobodyBehind(Refused):
    """The ticket is the last in line: there is nobody to let go first."""

    code: ClassVar[str] = "nobody_behind"


class NotWaiting(Refused):
    """The ticket does not wait (any more), so it can be neither called nor deferred."""

    code: ClassVar[str] = "not_waiting"


class AlreadyHere(Refused):
    """A place is to be given back to somebody who waits, is called or inside: `state`."""

    code: ClassVar[str] = "already_here"

    def __init__(self, state: str) -> None:
        super().__init__(f"the ticket is {state}, so there is no place to give back")
        self.state = state


class UnknownTicket(Refused):
    """Nothing in the room tells of this ticket: nobody is conjured up by their id."""

    code: ClassVar[str] = "unknown_ticket"


class KeptElsewhere(Refused):
    """A record elsewhere, like a desk's database, decides where this ticket is."""

    code: ClassVar[str] = "kept_elsewhere"


class Holding(Refused):
    """Admission holds after a loss of state until the old order is back."""

    code: ClassVar[str] = "holding"


class RoomPaused(Refused):
    """Paused, closed, ended or not yet open: nobody is called, unless forced."""

    code: ClassVar[str] = "room_paused"


class NoCapacity(Refused):
    """`capacity` or `max_entries` leaves no room, and the call was not forced."""

    code: ClassVar[str] = "no_capacity"


class DeskError(WaitroomError):
    """The desk of a restaurant says no; nothing was written."""

    code: ClassVar[str] = "desk_error"


class UnknownStore(DeskError):
    """No store of that id."""

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
    """A store of that id is there already."""

    code: ClassVar[str] = "store_exists"

    def __init__(self, store: str) -> None:
        super().__init__(f"store {store!r} exists; change it, or take another id")
        self.store = store


class StoreClosed(DeskError):
    """The store takes nobody new; `reason` is what its hosts say to guests."""

    code: ClassVar[str] = "store_closed"

    def __init__(self, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason


class StorePaused(DeskError):
    """The store takes nobody new for now; `reason` is what its hosts say to guests."""

    code: ClassVar[str] = "store_paused"

    def __init__(self, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason


class LineFull(DeskError):
    """As many parties wait as `queue_limit` of the line allows."""

    code: ClassVar[str] = "line_full"


class PhoneInLine(DeskError):
    """The number has a place in this line; a host may add it all the same."""

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


class Unauthorized(WaitroomError):
    """No API key was given, or one that is not known (any more)."""

    code: ClassVar[str] = "unauthorized"


class Forbidden(WaitroomError):
    """Whoever asks is known, but may not do this; `role` is what they would need, if that helps."""

    code: ClassVar[str] = "forbidden"

    def __init__(self, message: str, role: str | None = None) -> None:
        super().__init__(message)
        self.role = role


class TooMany(WaitroomError):
    """Too many calls from one address within a moment; of joins, too many new places."""

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
    """No API key of that id, or the store has no such host key."""

    code: ClassVar[str] = "unknown_key"

    def __init__(self, key_id: str, store: str | None = None) -> None:
        see = "see `waitroom key list`" if store is None else f"see the keys of {store!r}"
        kind = "API key" if store is None else "host key"
        super().__init__(f"there is no {kind} {key_id!r:.40}; {see}")


class UnknownWebhook(WaitroomError):
    """No webhook of that id."""

    code: ClassVar[str] = "unknown_webhook"

    def __init__(self, webhook_id: str) -> None:
        super().__init__(f"there is no webhook {webhook_id!r:.40}; see `waitroom webhook list`")


class BadRequest(WaitroomError):
    """The HTTP request itself cannot be served, whatever room it is about."""

    code: ClassVar[str] = "bad_request"


class NotFound(BadRequest):
    """No such path."""

    code: ClassVar[str] = "not_found"


class MethodNotAllowed(BadRequest):
    """The path is there, but not for this method."""

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


class BrokenRoom(WaitroomError):
    """A key of the room holds another type than ours; nothing was written."""

    code: ClassVar[str] = "broken_room"


class UpgradeNeeded(WaitroomError):
    """The room was written by a newer Waitroom than this one."""

    code: ClassVar[str] = "upgrade_needed"


class Unavailable(WaitroomError):
    """Something that we depend on cannot be used: the backend, or the desk's record."""

    code: ClassVar[str] = "unavailable"


class Busy(Unavailable):
    """Our own queue is full; the server may be well, and nothing was done."""

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
