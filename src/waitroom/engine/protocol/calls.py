"""The calls: a verb with its own arguments, in the order given in the header of its Lua file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from waitroom.engine import policies
from waitroom.engine.scripts import Verb
from waitroom.models import Policy, State

_NOBODY = "-" * 16

Session = tuple[str, int]
"""The id of a ticket, and the session that it claims to have."""


class ScriptCall(NamedTuple):
    """A verb, its own arguments, and the number of its tickets."""

    verb: Verb
    args: Sequence[Any] = ()
    items: int = 1


STATS = ScriptCall(Verb.STATS)
CLEAR = ScriptCall(Verb.CLEAR)
DROP = ScriptCall(Verb.DROP)


def sample(told_s: int | None) -> ScriptCall:
    """Note the room's numbers, and the wait that a newcomer is told."""
    return ScriptCall(Verb.SAMPLE, [_or_empty(told_s)])


def configure(action: str, version: int | str, policy: Policy) -> ScriptCall:
    """`create` or `update` a room."""
    return ScriptCall(Verb.CONFIGURE, [action, version, "", "", "", *policies.write(policy)])


def restore(
    version: int, policy: Policy, message_at_ms: int | None, *, claim: int, endings: str
) -> ScriptCall:
    """Bring back a room, or whatever an existing room has forgotten."""
    args = ["restore", version, claim, endings, _or_empty(message_at_ms), *policies.write(policy)]
    return ScriptCall(Verb.CONFIGURE, args)


def join(
    tickets: Sequence[tuple[str, str, bool, str, str, str]],
    draw: Callable[[str], int] | None,
    *,
    restore: bool = False,
    per_minute: int = 0,
) -> ScriptCall:
    """Join tickets: id, claim, whether to enter, source, entry code and use of a gate's claim."""
    args: list[Any] = [int(restore), per_minute]
    for ticket_id, claim, enter, source, code, use in tickets:
        lot = draw(ticket_id) if draw else ""
        args += (ticket_id, claim, lot, int(enter), source, code, use)
    return ScriptCall(Verb.JOIN, args, len(tickets))


def adopt(account: str, ticket_id: str, claim: str, use: str) -> ScriptCall:
    """Give an account the place of a ticket, or its own if that is earlier."""
    return ScriptCall(Verb.ADOPT, (account, ticket_id, claim, use))


def poll(ids: Sequence[str], claims: Iterable[str]) -> ScriptCall:
    """Poll tickets, whose ids all have the same length."""
    claimed = " ".join([claim or "-" for claim in claims])
    return ScriptCall(Verb.POLL, ["".join(ids), claimed], len(ids))


def enter(ids: Sequence[str], claims: Iterable[str]) -> ScriptCall:
    """Let called tickets go inside."""
    pairs = zip(ids, claims, strict=True)
    return ScriptCall(Verb.ENTER, [word for pair in pairs for word in pair], len(ids))


def check(sessions: Sequence[Session]) -> ScriptCall:
    """Ask which sessions are inside."""
    # Text that cannot be an id matches nobody; it must not shift the others.
    ids = "".join([ticket_id if _is_id(ticket_id) else _NOBODY for ticket_id, _ in sessions])
    return ScriptCall(Verb.CHECK, [ids, " ".join([str(sid) for _, sid in sessions])], len(sessions))


def renew(ticket_id: str, claim: str, sid: int | None, vouched_until_ms: int | None) -> ScriptCall:
    """Extend a session."""
    return ScriptCall(Verb.RENEW, (ticket_id, _or_empty(sid), _or_empty(vouched_until_ms), claim))


def finish(ticket_id: str, sid: int | None) -> ScriptCall:
    """End a session."""
    return ScriptCall(Verb.FINISH, (ticket_id, _or_empty(sid)))


def leave(ticket_id: str, claim: str) -> ScriptCall:
    """Give up a place, a turn or a session."""
    return ScriptCall(Verb.LEAVE, (ticket_id, claim))


def defer(ticket_id: str, places: int) -> ScriptCall:
    """Let `places` people go first."""
    return ScriptCall(Verb.DEFER, (ticket_id, places))


def advance(most: int) -> ScriptCall:
    """Do a step of housekeeping and admission."""
    return ScriptCall(Verb.ADVANCE, [most])


def admit(count: int, *, force: bool) -> ScriptCall:
    """Call the first `count` people by hand."""
    return ScriptCall(Verb.ADMIT, [count, int(force)])


def call(ticket_id: str, *, force: bool) -> ScriptCall:
    """Call one ticket by hand."""
    return ScriptCall(Verb.CALL, [ticket_id, int(force)])


def kick(ids: Sequence[str], *, ban: bool) -> ScriptCall:
    """Remove tickets, perhaps for good."""
    return ScriptCall(Verb.KICK, [int(ban), *ids], max(1, len(ids)))


def reinstate(
    ticket_id: str, claim: str, evidence: str, epoch: int, *, lift_ban: bool, force: bool
) -> ScriptCall:
    """Give a place back; `evidence` is what events of an epoch prove, empty until they are read."""
    args = (ticket_id, claim, evidence, int(lift_ban), int(force), epoch)
    return ScriptCall(Verb.REINSTATE, args)


def issue(batch: str, codes: int, uses: int, note: str, by: str) -> ScriptCall:
    """Note a new batch of entry codes."""
    return ScriptCall(Verb.ISSUE, (batch, codes, uses, note, by))


def revoke(batch: str, *, force: bool) -> ScriptCall:
    """Revoke a batch of entry codes."""
    return ScriptCall(Verb.REVOKE, (batch, int(force)))


def settle(
    tickets: Sequence[tuple[str, str, int, int]], turnover: str, *, forced: bool
) -> ScriptCall:
    """Bring tickets to the state given by an outside record."""
    values = (value for ticket in tickets for value in ticket)
    return ScriptCall(Verb.SETTLE, [int(forced), turnover, *values], max(1, len(tickets)))


def page(
    state: State, after: str | None, limit: int, since_ms: int | None, until_ms: int | None
) -> ScriptCall:
    """`list` tickets of a state."""
    low, high = (_or_empty(ms and ms * 1000) for ms in (since_ms, until_ms))
    return ScriptCall(Verb.LIST, [state, after or "", limit, low, high])


def named(state: State, ticket_ids: Sequence[str]) -> ScriptCall:
    """`list` those of the given tickets that are in a state."""
    return ScriptCall(Verb.LIST, [state, "", len(ticket_ids), "", "", *ticket_ids])


def claim(place: int, epoch: int) -> str:
    """Return the place that a ticket claims; empty for a new one, which has no epoch."""
    return f"{place}:{epoch}" if epoch else ""


def _or_empty(value: int | None) -> int | str:
    return "" if value is None else value


def _is_id(ticket_id: str) -> bool:
    return len(ticket_id) == len(_NOBODY) and ticket_id.isascii()
