"""Who a newcomer is, as far as they showed it, and whether the room wants more."""

from __future__ import annotations

from typing import NamedTuple

from waitroom.engine import ClaimUse, NarrowDoor
from waitroom.entry_codes import EntryCode
from waitroom.errors import CodeRequired, IdentityRequired, InvalidInput
from waitroom.models import Needs, Policy
from waitroom.server.challenges.price import RIPENING
from waitroom.server.context import Server
from waitroom.server.http.request import VisitorRequest
from waitroom.server.tickets.bodies import JoinBody
from waitroom.server.tickets.entry import challenges, claims, codes
from waitroom.server.tickets.entry.challenges import Asking, Solved

SHORTEST_KEY, LONGEST_KEY = 16, 128


class Newcomer(NamedTuple):
    """Who asks for a place. A stranger has no name; the same name always gets the same place."""

    visitor: str | None = None
    code: EntryCode | None = None
    account: ClaimUse | None = None
    narrow: NarrowDoor | None = None


def check(
    server: Server,
    request: VisitorRequest,
    body: JoinBody,
    policy: Policy | None,
    account: ClaimUse | None = None,
) -> Newcomer | None:
    """Return who it is, or refuse; None if that needs a question, which `ask` asks.

    `policy` is None if the room is not known here yet, `account` if no claim was read yet.
    """
    if policy is None:
        return None
    by_itself = by_key(request)
    check_needs(policy, body)
    if body.claim is not None:
        account = account or claims.use(server, request.room, body.claim)
        return Newcomer(None, codes.shown(server, request.room, body, account.id), account)
    code = codes.shown(server, request.room, body, by_itself)
    if code is not None and code.uses == 1:  # it has its price already: it is good once
        return Newcomer(by_itself, code)
    solved = challenges.check(_asking(server, request, policy, code), body)
    return None if solved is None else _solver(solved, by_itself, code)


async def ask(
    server: Server,
    request: VisitorRequest,
    body: JoinBody,
    policy: Policy,
    account: ClaimUse | None,
) -> Newcomer:
    """Return who it is, or refuse, and ask others where that is needed."""
    known = check(server, request, body, policy, account)
    if known is not None:
        return known
    by_itself = by_key(request)
    code = codes.shown(server, request.room, body, by_itself)
    solved = await challenges.ask(_asking(server, request, policy, code), body)
    return _solver(solved, by_itself, code)


def _asking(
    server: Server, request: VisitorRequest, policy: Policy, code: EntryCode | None
) -> Asking:
    return Asking(server, request, policy, None if code is None else by_key(request))


def _solver(solved: Solved, by_itself: str | None, code: EntryCode | None) -> Newcomer:
    name = by_itself if code is not None else solved.name or by_itself
    return Newcomer(name, code, narrow=RIPENING if solved.ripened else None)


def check_needs(policy: Policy, body: JoinBody) -> None:
    """Refuse a newcomer who does not show what the room needs."""
    if policy.needs is Needs.IDENTITY and body.claim is None and body.visitor is None:
        raise IdentityRequired("this room needs to know who you are; sign in at its site first")
    if policy.needs is Needs.CODE and body.code is None:
        raise CodeRequired("this room is for invited people; join with an entry code")


def by_key(request: VisitorRequest) -> str | None:
    """Return the name of a newcomer who sent an Idempotency-Key."""
    key = idempotency_key(request)
    return None if key is None else by_name(key)


def by_name(key: str) -> str:
    """Return the name of whoever sends this key."""
    return f"key:{key}"


def idempotency_key(request: VisitorRequest) -> str | None:
    """Return the Idempotency-Key, if there is a valid one."""
    text = request.header(b"idempotency-key")
    if text is None:
        return None
    good = text.isascii() and text.isprintable() and SHORTEST_KEY <= len(text) <= LONGEST_KEY
    if not good:
        # Somebody who guesses another's key gets their place, so a short key is refused.
        raise InvalidInput(
            "Idempotency-Key",
            f"takes {SHORTEST_KEY} to {LONGEST_KEY} printable characters; use a random UUID",
        )
    return text
