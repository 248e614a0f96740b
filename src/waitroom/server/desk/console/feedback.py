"""The console's answers to its host: what was done, or why not and who is next now."""

from __future__ import annotations

from waitroom.desk.desk import Desk
from waitroom.desk.models import Action, Change, Party, Status, Store
from waitroom.errors import (
    DefersUsedUp,
    InvalidInput,
    PartyMoved,
    UnknownParty,
    WaitroomError,
    WrongStatus,
)
from waitroom.server.desk import text as say
from waitroom.server.desk.refusals import refusal
from waitroom.server.pages.text import Text

UNDOABLE = frozenset({Action.CALL, Action.SEAT, Action.NO_SHOW, Action.CANCEL, Action.RESTORE})
"""Actions that a host may undo; undoing an undo would go one more step back."""

_DEEDS = frozenset({"join", *(str(action) for action in Action)})


def deed(text: Text, action: Action | str, party: Party) -> str:
    """Say what was done to a party."""
    status = text(f"status_{party.status}")
    return text(f"did_{action}", who=say.who(text, party), status=status)


async def last_deed(
    desk: Desk, text: Text, store: str, party_id: int | None
) -> tuple[str, Party | None] | None:
    """Say what was last done to a party, and whether that can be undone."""
    if party_id is None:
        return None
    try:
        party = await desk.record.party(store, party_id)
    except UnknownParty:
        return None
    last = await _last(desk, store, party_id)
    if last is None:
        return None
    return deed(text, last.action, party), (party if last.action in UNDOABLE else None)


async def why_not(desk: Desk, text: Text, store: str, error: WaitroomError, party_id: int) -> str:
    """Say why something was not done to a party: mostly because another host was faster."""
    if isinstance(error, DefersUsedUp):
        return text("not_done", why=text("defer_used_host"))
    if not isinstance(error, PartyMoved | WrongStatus):
        return text("not_done", why=str(error))
    party = await desk.record.party(store, party_id)
    status, last = text(f"status_{party.status}"), await _last(desk, store, party_id)
    if last is None:
        return text("now_is", who=say.who(text, party), status=status)
    by = text("by_guest") if last.by == "guest" else last.by
    time = say.clock(await desk.record.store(store), last.at_ms)
    return text("now_is_by", who=say.who(text, party), status=status, by=by, time=time)


async def why_not_next(
    desk: Desk, text: Text, store: str, line_name: str, error: WaitroomError
) -> str:
    """Say who is next now, if it is not the party that the host saw."""
    if not isinstance(error, PartyMoved):
        return text("not_done", why=str(error))
    live = await desk.record.live(store, line_name)
    first = next((party for party in live if party.status is Status.WAITING), None)
    if first is None:
        return text("now_nobody")
    return text("now_next", who=say.who(text, first), size=say.some(text, "size", first.size))


def wrong_walk_in(text: Text, store: Store, line_name: str, error: WaitroomError) -> str:
    """Say what is wrong with a party that a host wants to add."""
    waiting_type = store.waiting_type(line_name)
    if isinstance(error, InvalidInput) and waiting_type is not None:
        messages = refusal(text, store, error, waiting_type.largest_party)
        return text("not_done", why=" ".join(messages.values()))
    return text("not_done", why=str(error))


async def _last(desk: Desk, store: str, party_id: int) -> Change | None:
    """Return the last change of a party; a look at its phone number is not a change."""
    history = await desk.record.history(store, party_id)
    return next((change for change in reversed(history) if change.action in _DEEDS), None)
