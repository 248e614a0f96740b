"""Words with which scripts refuse, and the error for each."""

from __future__ import annotations

from collections.abc import Callable

from waitroom import errors
from waitroom.models import Reason

GONE = {
    "passed": Reason.PASSED,
    "abandoned": Reason.ABANDONED,
    "left": Reason.LEFT,
    "kicked": Reason.KICKED,
    "cleared": Reason.CLEARED,
    "unknown": Reason.PASSED,
    "no_show": Reason.NO_SHOW,
    "expired": Reason.EXPIRED,
    "finished": Reason.FINISHED,
}
"""Words for a ticket that is gone."""

_REFUSALS: dict[str, Callable[[], errors.Refused]] = {
    "room_closed": lambda: errors.RoomClosed("the room is closed and takes nobody new"),
    "room_ended": lambda: errors.RoomEnded("the room has ended and takes nobody new"),
    "room_not_open": lambda: errors.RoomNotOpen("the room has not opened yet; come back then"),
    "drawing": lambda: errors.RoomNotOpen(
        "places are drawn until the room opens, so nobody has an age or an order before that"
    ),
    "room_full": lambda: errors.RoomFull("as many people wait as this room allows; try later"),
    "banned": lambda: errors.Banned("an operator has removed you and lets you join no more"),
    "code_required": lambda: errors.CodeRequired(
        "this room is for invited people; join with an entry code"
    ),
    "code_used": lambda: errors.CodeRefused("somebody has joined with this code before", "used"),
    "code_revoked": lambda: errors.CodeRefused("this code is no longer good", "revoked"),
    "unknown_batch": lambda: errors.UnknownBatch(
        "the room has no such batch of codes; see `waitroom code list`, or force it"
    ),
    "too_many_batches": lambda: errors.TooManyBatches(
        "the room has as many batches of codes as it can hold; drop it and begin anew"
    ),
    "entered_before": lambda: errors.EnteredBefore(
        "you have been inside, and this room lets everybody in once"
    ),
    "identity_required": lambda: errors.IdentityRequired(
        "this room needs to know who you are; sign in at its site first"
    ),
    "claim_used": lambda: errors.ClaimRefused(
        "the claim was used before; come from the site again for a new one"
    ),
    "other_accounts": lambda: errors.ClaimRefused(
        "the site's claim key has another salt than the accounts of this room; give all its gates "
        "one key, renewed with `waitroom claim-key ROOM --renew KEY`, or clear the room"
    ),
    "waiting": lambda: errors.NotYourTurn("it is not your turn yet"),
    "session_over": lambda: errors.SessionOver("the session has ended; join again"),
    "session_kicked": lambda: errors.SessionOver(
        "an operator has ended the session", Reason.KICKED
    ),
    "not_renewable": lambda: errors.NotRenewable("sessions of this room are not extended"),
    "defers_used_up": lambda: errors.DefersUsedUp("the place was given up as often as allowed"),
    "nobody_behind": lambda: errors.NobodyBehind(
        "nobody is behind this place, so nobody can go first; it is kept, and so is the deferral"
    ),
    "not_waiting": lambda: errors.NotWaiting("the ticket does not wait in this room"),
    "still_banned": lambda: errors.Banned(
        "the ticket is banned; say that the ban is to be lifted with it"
    ),
    "kept_elsewhere": lambda: errors.KeptElsewhere(
        "a desk's record says where this ticket is; undo it at the desk"
    ),
    "unknown_ticket": lambda: errors.UnknownTicket(
        "there is no record of this ticket in this room; give its whole ticket string, or force it "
        "to the end of the line"
    ),
    "holding": lambda: errors.Holding(
        "admission holds until the line is complete again after a loss or an outage; "
        "wait for `recover_s`, or force it"
    ),
    "restoring": lambda: errors.Holding(
        "the line is not complete again after a loss, so places in it cannot be counted; "
        "ask again after `recover_s`"
    ),
    "room_paused": lambda: errors.RoomPaused(
        "nobody is called while the room is paused, closed, ended or not yet open; "
        "resume it, or force it"
    ),
    "no_capacity": lambda: errors.NoCapacity(
        "`capacity` or `max_entries` leaves no room now; raise it, wait, or force it"
    ),
}


def refusal(word: str) -> errors.WaitroomError:
    """Return the error for a word of refusal."""
    if word in _REFUSALS:
        return _REFUSALS[word]()
    if word in GONE:
        reason = GONE[word]
        return errors.TurnPassed(
            f"the ticket is gone ({reason}); join again for a new place", reason
        )
    return errors.UpgradeNeeded(f"the server answered {word!r}, which this version does not know")
