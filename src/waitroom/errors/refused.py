"""The room refuses; nothing was changed."""

from __future__ import annotations

from typing import Any, ClassVar

from waitroom.errors.base import WaitroomError


class Refused(WaitroomError):
    """The room refuses; nothing was changed."""

    code: ClassVar[str] = "refused"


class RoomClosed(Refused):
    """The room accepts nobody new."""

    code: ClassVar[str] = "room_closed"


class RoomEnded(Refused):
    """The room has ended, by the mode `ended` or by `ends_at`: nobody may join or is called."""

    code: ClassVar[str] = "room_ended"


class RoomNotOpen(Refused):
    """The room opens later, and refuses people until then."""

    code: ClassVar[str] = "room_not_open"


class RoomFull(Refused):
    """As many people wait as `queue_limit` allows."""

    code: ClassVar[str] = "room_full"


class Banned(Refused):
    """An operator has removed this ticket or visitor, and does not let them join again."""

    code: ClassVar[str] = "banned"


class ChallengeRequired(Refused):
    """A newcomer must solve a challenge first; `challenge` holds a fresh one."""

    code: ClassVar[str] = "challenge_required"

    def __init__(self, message: str, challenge: Any) -> None:
        super().__init__(message)
        self.challenge = challenge  # a mapping for clients; our server has the JSON of it already


class IdentityRequired(Refused):
    """The room is for people who have signed in at its site, and nobody said who this is."""

    code: ClassVar[str] = "identity_required"


class ClaimRefused(Refused):
    """A gate's word about who somebody is: forged, too old, used before, or for another room."""

    code: ClassVar[str] = "claim_refused"


class CodeRequired(Refused):
    """The room is for invited people, and no entry code was given."""

    code: ClassVar[str] = "code_required"


class CodeRefused(Refused):
    """An entry code that gives no place; `reason` is `unknown`, `used` or `revoked`."""

    code: ClassVar[str] = "code_refused"

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class UnknownBatch(Refused):
    """The room has no such batch of entry codes."""

    code: ClassVar[str] = "unknown_batch"


class TooManyBatches(Refused):
    """The room has as many batches of entry codes as it can hold."""

    code: ClassVar[str] = "too_many_batches"


class EnteredBefore(Refused):
    """The room lets everybody in `once`, and this person has been inside."""

    code: ClassVar[str] = "entered_before"


class NotYourTurn(Refused):
    """The ticket is still waiting."""

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
    """A one-time code that was already redeemed, is too old, or never existed."""

    code: ClassVar[str] = "code_used"


class NoPush(Refused):
    """This server sends no push messages, or the room cannot store another subscription."""

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
    """The ticket is not (or no longer) waiting, so it can be neither called nor deferred."""

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
