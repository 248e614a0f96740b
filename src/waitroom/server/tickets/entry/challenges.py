"""Who is asked for a challenge, and who has solved theirs: decided before Redis is asked.

A refusal carries a fresh challenge, so that another address (Wi-Fi, then mobile) or a late solution
costs a second try, not a place. In a room that only observes, everybody is let in and counted; a
client that can solve sends `?`, and is asked.

A solution is one place, because its solver is known by it. With an entry code for several people
they are known by their key, as with any code, so a solution is bound to the key as well.
"""

from __future__ import annotations

import math
from hashlib import sha256
from typing import Any, NamedTuple, NoReturn

from msgspec import Raw

from waitroom.errors import ChallengeRequired, TooMany
from waitroom.models import Challenge, Policy, WhenUnverified
from waitroom.server.challenges.siteverify import KIND, Unreachable
from waitroom.server.challenges.work import Binding, Unsolved
from waitroom.server.context import Server
from waitroom.server.http.request import VisitorRequest
from waitroom.server.tickets.bodies import JoinBody

ASK_ME = "?"
"""A solution or token that says: I can solve one, so ask me, even if the room only observes."""

_WORK = {Challenge.WORK, Challenge.OBSERVE_WORK}
_OBSERVES = {Challenge.OBSERVE_WORK, Challenge.OBSERVE_SITEVERIFY}
_FIRST = "this room asks newcomers for a solved challenge"


class Solved(NamedTuple):
    """Who solved a challenge, by name; None where nothing was asked. Or whose page ripened."""

    name: str | None = None
    ripened: bool = False


NOBODY = Solved()


class Asking(NamedTuple):
    """A newcomer's request, the policy that it meets, and the key that a solution is bound to."""

    server: Server
    request: VisitorRequest
    policy: Policy
    key: str | None = None


def check(asking: Asking, body: JoinBody) -> Solved | None:
    """Return who solved a challenge, or refuse; None if a service must be asked."""
    server, policy = asking.server, asking.policy
    if policy.challenge is Challenge.NONE:
        return NOBODY
    if policy.challenge in _WORK:
        return _by_work(asking, body.solution)
    if body.solution not in (None, ASK_ME) and policy.when_unverified is WhenUnverified.WORK:
        # The signature says that it was asked of them, while the service was away.
        return _by_work(asking, body.solution)
    if server.challenges.siteverify is None:
        _unverified(asking, "the settings siteverify_… are missing")
        return NOBODY
    if body.token is None and policy.challenge in _OBSERVES:
        return _observed(server)
    if body.token in (None, ASK_ME):
        _demand(asking, _FIRST)
    return None


async def ask(asking: Asking, body: JoinBody) -> Solved:
    """Return who solved a challenge, or refuse; ask the service where needed."""
    known = check(asking, body)
    if known is not None:
        return known
    server, request, policy, key = asking
    service, token = server.challenges.siteverify, body.token
    if service is None or token is None:  # `check` refuses both
        return NOBODY
    source = request.source(server.proxies)
    if (wait_s := service.wait_s(source)) > 0:
        return _limited(server, policy, wait_s)
    try:
        good, why = await service.ask(token, source, request.room, key or "")
    except Unreachable as error:
        _unverified(asking, str(error))
        return NOBODY
    if good:
        server.counters.challenge("solved")
        return Solved(f"token:{sha256(token.encode()).hexdigest()}")
    _refused(asking, why)
    return NOBODY


def _limited(server: Server, policy: Policy, wait_s: float) -> Solved:
    """Refuse an address that asks the service too often, in a room that refuses anybody."""
    if policy.challenge in _OBSERVES:
        return _observed(server)
    server.counters.limited("verifications")
    raise TooMany("too many tokens from this address; try again", max(1, math.ceil(wait_s)))


def _by_work(asking: Asking, solution: str | None) -> Solved:
    server, request, policy, key = asking
    if solution is None and policy.challenge in _OBSERVES:
        return _observed(server)
    if solution is None or solution == ASK_ME:
        _demand(asking, _FIRST)
    challenges = server.challenges
    to, price = bound(server, request, key), challenges.price(server.boards.known.get(request.room))
    ripened = solution.startswith("ripe.")
    try:
        if ripened:
            nonce = challenges.ripening.nonce(solution, to)
        else:
            nonce = challenges.work.nonce(solution, to, price)
    except Unsolved as error:
        _refused(asking, str(error))
        return NOBODY
    server.counters.challenge("solved")
    return Solved(f"work:{nonce}", ripened)


def _observed(server: Server) -> Solved:
    """Let somebody in who would have been refused."""
    server.counters.challenge("observed")
    return NOBODY


def _refused(asking: Asking, why: str) -> None:
    if asking.policy.challenge in _OBSERVES:
        _observed(asking.server)
        return
    asking.server.counters.challenge("refused")
    _demand(asking, f"the challenge was not solved: {why}")


def _unverified(asking: Asking, why: str) -> None:
    """Do what the policy says while the service gives no verdict."""
    policy = asking.policy
    asking.server.counters.challenge("unverified")
    if policy.challenge in _OBSERVES or policy.when_unverified is WhenUnverified.PASS:
        return
    if policy.when_unverified is WhenUnverified.WORK:
        _demand(asking, f"solve this instead: {why}", work=True)
    _demand(asking, f"nobody can be verified at the moment: {why}")


def _demand(asking: Asking, message: str, *, work: bool = False) -> NoReturn:
    """Refuse, with a fresh challenge."""
    server, service = asking.server, asking.server.challenges.siteverify
    if work or asking.policy.challenge in _WORK:
        challenge: Any = _work(server, asking.request, asking.key)
    else:
        challenge = {"kind": KIND} if service is None else service.service.challenge()
    server.counters.challenge("issued")
    raise ChallengeRequired(message, challenge)


def _work(server: Server, request: VisitorRequest, key: str | None) -> Raw:
    challenges = server.challenges
    wait_s = challenges.may_issue(request.source(server.proxies))
    if wait_s > 0:
        server.counters.limited("challenges")
        raise TooMany("too many challenges for this address; try again", max(1, round(wait_s)))
    price = challenges.price(server.boards.known.get(request.room))
    to = bound(server, request, key)
    return Raw(challenges.work.issue(to, price.asked))  # JSON, which a problem takes as it is


def begin_ripening(server: Server, request: VisitorRequest, key: str | None = None) -> str:
    """Return the mark of a page that ripens, for a browser that can solve nothing."""
    wait_s = server.challenges.ripen(request.source(server.proxies))
    if wait_s > 0:
        server.counters.limited("ripening")
        raise TooMany("too many pages of this address ripen; try again", max(1, round(wait_s)))
    server.counters.challenge("ripening")
    price = server.challenges.price(server.boards.known.get(request.room))
    return server.challenges.ripening.begin(bound(server, request, key), price.ripe_s)


def ripe_in_s(
    server: Server, request: VisitorRequest, mark: str, key: str | None = None
) -> float | None:
    """Return when a mark is ripe, in seconds from now; None if it does not count here."""
    try:
        return server.challenges.ripening.read(mark, bound(server, request, key)).left_s
    except Unsolved:
        return None


def asked_kind(policy: Policy | None) -> str:
    """Return what newcomers of a room are asked to solve: `work`, `siteverify` or nothing."""
    if policy is None or policy.challenge is Challenge.NONE:
        return ""
    return "work" if policy.challenge in _WORK else KIND


def bound(server: Server, request: VisitorRequest, key: str | None = None) -> Binding:
    """Return what a challenge for the caller is bound to: room, address, and the key if given."""
    source = request.source(server.proxies)
    if key is not None:
        source = source._replace(network=f"{source.network} {key}")
    return server.challenges.binding(request.room, source)
