"""A gate without its framework: does what `decide` says, and keeps what it must know.

`judge` is a generator that yields calls under way and receives their outcomes, so that async and
sync frameworks run the same code; `judging.py` waits for the calls.

A visitor without a pass sees the protected page only if Waitroom is down and `when_away` is open,
never because Waitroom is slow or this gate is busy.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator
from enum import Enum
from typing import Any, TypeAlias

from waitroom.gates import answers, methods, refusals
from waitroom.gates.answers import Answer, Cookie
from waitroom.gates.decision import (
    GoodPass,
    Join,
    PassOn,
    Redeem,
    Refuse,
    Wait,
    address_of,
    decide,
    is_api,
    seen_as,
)
from waitroom.gates.facts import Facts
from waitroom.gates.health import State
from waitroom.gates.keys import Verifier
from waitroom.gates.options import Options
from waitroom.gates.remote import Remote
from waitroom.gates.returns import claims_at, needs_code, with_mark
from waitroom.gates.sessions import Sessions, bearer
from waitroom.gates.transport import NoAnswer, Outcome, Reply
from waitroom.gates.workers import Call
from waitroom.web.browser_mark import is_secret, mark_of, new_secret
from waitroom.web.names import (
    BROWSER_COOKIE,
    PASS_COOKIE,
    TICKET_COOKIE,
    TICKET_HEADER,
    cookie_name,
)

Steps: TypeAlias = "Generator[Call, Outcome, Visit | Answer]"
FRESH_S, STALE_S = 1.5, 3.0
"""Keys older than the first are fetched in the background, older than the second at once."""

HEARD_S = 0.5
"""How long after its last reply Waitroom counts as reachable."""

_MOST_WISHES, _WISHES_PER_S = 10.0, 2.0
_NEVER = -math.inf
_BROWSER_S = 7 * 86_400
"""How long a browser keeps the secret by which codes are its own; a new one costs a redirect."""


class Carries(Enum):
    """Which cookies of ours the site's response carries."""

    NEW = "the pass that this request was given"
    RENEWED = "the pass that replaces an older one, if it has come by then"
    END = "as ENDED if the site's answer is a success, else as RENEWED"
    ENDED = "empty ones, which remove pass and ticket"


class Visit:
    """A request that goes on to the site, with its pass if one was needed.

    `carries` is None for nearly all: there is no cookie to set.
    """

    __slots__ = ("_gate", "carries", "good_pass")

    def __init__(
        self, gate: Gate, good_pass: GoodPass | None = None, carries: Carries | None = None
    ) -> None:
        self._gate = gate
        self.good_pass = good_pass
        self.carries = carries

    def finish(self) -> None:
        """End the session: its place goes to the next one. Nobody waits for the call."""
        if self.good_pass is not None and self.carries is not Carries.ENDED:
            self.carries = Carries.ENDED
            self._gate.sessions.finish(self.good_pass)

    def leaving(self, status: int, facts_of: Callable[[Any], Facts], of: Any) -> list[Cookie]:
        """Return the cookies that go with the site's response.

        `facts_of(of)` is called only if there are any. A visit does not keep its request, because
        the request keeps the visit: the cycle would need the garbage collector, which would cost
        the site more than all else here.
        """
        good_pass = self.good_pass
        if good_pass is None or self.carries is None:
            return []
        if self.carries is Carries.END and status < 400:
            self.finish()
        if self.carries is Carries.ENDED:
            names = PASS_COOKIE + good_pass.room, TICKET_COOKIE + good_pass.room
            return [self._gate.cookie(facts_of(of), name, "", 0) for name in names]
        is_new = self.carries is Carries.NEW
        fresh = good_pass if is_new else self._gate.sessions.renewed(good_pass)
        return [] if fresh is None else [self._gate.pass_cookie(facts_of(of), fresh)]


class Gate:
    """The gate's state in a process. `inline` waits for a renewal, else it runs in background."""

    def __init__(self, options: Options, *, inline: bool = False) -> None:
        self.options = options
        self.remote = Remote(options.base, options.deadline_s, options.away_after_s)
        self.verifier = Verifier(options.keys, options.issuer)
        self.sessions = Sessions(options, self.remote, self.verifier)
        self._inline = inline
        self._tidy_at = self._stale_at = _NEVER
        self.due_at = _NEVER
        """When something is to be done before a request goes on."""
        self._fetching: Call | None = None
        self._fetched_at = _NEVER
        self._wishes, self._wished_at = _MOST_WISHES, 0.0

    def quick(self, facts: Facts) -> Visit | None:
        """Return the visit of a request that needs no call, as nearly all do; else None."""
        now = time.monotonic()
        if now >= self.due_at or self.options.strict:
            return None
        decision = decide(self.options, facts, self.verifier.read, time.time())
        if decision.__class__ is not PassOn or decision.renew:
            return None
        return Visit(self, decision.good_pass, Carries.END if decision.finish else None)

    def judge(self, facts: Facts) -> Steps:
        """Decide, and carry out the decision."""
        now = time.monotonic()
        if now >= self.due_at:
            waits = self._tidy(now)
            if waits is not None:
                yield waits
        decision = decide(self.options, facts, self.verifier.read, time.time())
        for _ in range(2):  # a fetch under way may have begun before the key was there
            if not self.verifier.unknown or not self._may_fetch():
                break
            yield self._fetch()
            self.verifier.unknown = False
            decision = decide(self.options, facts, self.verifier.read, time.time())
        refused = False
        if self.options.strict and isinstance(decision, PassOn) and decision.good_pass is not None:
            inside = yield from self.sessions.still_inside(decision.good_pass)
            without_pass = decide(self.options, facts, _nobody, 0)
            if inside is NoAnswer.SHED and not isinstance(without_pass, PassOn):
                return answers.busy(api=is_api(facts))
            if not inside:
                refused, decision = True, without_pass
        if isinstance(decision, PassOn):
            return (yield from self._pass_on(decision))
        if isinstance(decision, Refuse):
            return answers.problem(decision.status, decision.code, decision.detail)
        if isinstance(decision, Redeem):
            return (yield from self._redeem(facts, decision))
        if isinstance(decision, Join):
            return (yield from self._join(facts, decision, refused))
        return (yield from self._wait(facts, decision, refused))

    def cookie(self, facts: Facts, name: str, value: str, age_s: float) -> Cookie:
        """Return a cookie of ours."""
        safe = self._is_secure(facts)
        return Cookie(cookie_name(name, secure=safe), value, int(age_s), safe)

    def _is_secure(self, facts: Facts) -> bool:
        given = self.options.cookie_secure
        return seen_as(self.options, facts)[1] == "https" if given is None else given

    def _secret_of(self, facts: Facts) -> str | None:
        """Return the secret that this gate gave a browser; only under the name that it set."""
        name = cookie_name(BROWSER_COOKIE, secure=self._is_secure(facts))
        return next(filter(is_secret, facts.cookies(name)), None)

    def pass_cookie(self, facts: Facts, good_pass: GoodPass) -> Cookie:
        """Return the cookie of a pass."""
        left_s = max(1, good_pass.expires_s - time.time())
        return self.cookie(facts, PASS_COOKIE + good_pass.room, good_pass.text, left_s)

    def close(self) -> None:
        """Close threads and connections."""
        self.remote.close()

    def _tidy(self, now: float) -> Call | None:
        """Do what is due; return the call that the request must wait for, if any."""
        if now >= self._tidy_at:
            self._tidy_at = now + 1
            self.sessions.tidy(now)
            if self.verifier.fixed:
                self._stale_at = math.inf
            self.due_at = min(self._tidy_at, self._stale_at)
        if self.verifier.fixed:
            return None
        running = self._fetching is not None and not self._fetching.future.done()
        if not running and now - self._fetched_at < FRESH_S:
            return None
        must_wait = now >= self._stale_at and self.remote.health.state is State.UP
        call = self._fetch()
        return call if must_wait else None

    def _may_fetch(self) -> bool:
        """Tell whether a pass with an unknown key is worth a call: forgers make many of them."""
        self.verifier.unknown = False
        if self.verifier.fixed:
            return False
        now = time.monotonic()
        self._wishes = min(_MOST_WISHES, self._wishes + (now - self._wished_at) * _WISHES_PER_S)
        self._wished_at = now
        if self._wishes < 1:
            return False
        self._wishes -= 1
        return True

    def _fetch(self) -> Call:
        """Fetch the keys, unless that is under way."""
        running = self._fetching
        if running is None or running.future.done():
            self._fetched_at = time.monotonic()
            running = self.remote.ask("GET", "/.well-known/jwks.json", then=self._fetched)
            self._fetching = running
        return running

    def _fetched(self, reply: Outcome) -> None:
        if self.verifier.fixed or not isinstance(reply, Reply) or reply.status != 200:
            return
        if self.verifier.load(reply.json()):
            self._stale_at = time.monotonic() + STALE_S
            self.due_at = min(self._tidy_at, self._stale_at)

    def _pass_on(self, decision: PassOn) -> Steps:
        """Let a request through; renew its session if that is due."""
        if decision.renew and decision.good_pass is not None:
            renewing = self.sessions.renew(decision.good_pass)
            waits = self._inline and self.remote.health.state is State.UP
            if renewing is not None and waits:
                yield renewing
            return Visit(self, decision.good_pass, Carries.RENEWED)
        return Visit(self, decision.good_pass, Carries.END if decision.finish else None)

    def _wait(self, facts: Facts, wish: Wait, refused: bool) -> Steps:
        """Send a browser to the waiting page, unless nobody is there; ask if that is not known."""
        health = self.remote.health
        down = health.state is State.DOWN
        if health.state is State.UP and time.monotonic() - health.heard_at >= HEARD_S:
            down = (yield self._fetch()) is NoAnswer.DOWN
        return self._away(facts, refused) if down else self._to_page(facts, wish)

    def _to_page(self, facts: Facts, wish: Wait) -> Answer:
        """Send a browser to the waiting page; on another host with its mark, for a code later."""
        host, scheme = seen_as(self.options, facts)
        if not needs_code(self.options.page, host.strip().lower(), scheme):
            return self._sent(wish, wish.url)
        secret = self._secret_of(facts)
        if secret is not None:
            return self._sent(wish, with_mark(wish.url, mark_of(secret)))
        secret = new_secret()
        kept = self.cookie(facts, BROWSER_COOKIE, secret, _BROWSER_S)
        return self._sent(wish, with_mark(wish.url, mark_of(secret)), kept)

    def _sent(self, wish: Wait, url: str, *cookies: Cookie) -> Answer:
        """Send a browser to the waiting page: with a claim, if somebody has signed in."""
        if wish.account is None:
            return answers.redirect(url, *cookies)
        return answers.hand_over(claims_at(url), self._claim(wish.room, wish.account), *cookies)

    def _claim(self, room: str, account: str) -> str:
        return self.options.claim_keys[room].claim(room, account, time.time())

    def guards(self, facts: Facts) -> bool:
        """Tell whether it matters who has signed in: the path is protected, or ends a session."""
        ends = self.options.ends
        if methods.match(self.options.table, facts).place is not None:
            return True
        return ends is not None and methods.may_match(ends, facts)

    def _away(self, facts: Facts, refused: bool) -> Visit | Answer:
        """Do what `when_away` says; who was refused stays out all the same."""
        if self.options.when_away == "open" and not refused:
            return Visit(self)
        return answers.away(api=is_api(facts))

    def _redeem(self, facts: Facts, wish: Redeem) -> Steps:
        """Exchange a code for a pass; if that fails, the clean URL leads to the waiting page."""
        secret = self._secret_of(facts)
        if secret is None:  # a code that this browser never asked for
            return answers.redirect(wish.clean_url)
        body = {"code": wish.code, "browser": secret}
        reply = yield self.remote.ask(
            "POST", "/v1/redeem", headers=facts.trace(), body=body, once=True, newcomer=True
        )
        if reply is NoAnswer.SHED:  # the code is still good
            return answers.busy(api=is_api(facts))
        good_pass = None
        if isinstance(reply, Reply) and reply.status == 200:
            session = reply.json()
            good_pass = yield from self._given(str(session.get("room")), session)
        if good_pass is None:
            return answers.redirect(wish.clean_url)
        return answers.redirect(wish.clean_url, self.pass_cookie(facts, good_pass))

    def _join(self, facts: Facts, wish: Join, refused: bool) -> Steps:
        """Take a place for a program, and let it in when it is its turn."""
        headers = {"x-forwarded-for": address_of(self.options, facts), **facts.trace()}
        if wish.ticket is not None:
            headers["cookie"] = f"{TICKET_COOKIE}{wish.room}={wish.ticket}"
        elif wish.key is not None:
            headers["idempotency-key"] = wish.key
        path = f"/v1/rooms/{wish.room}/tickets"
        body: dict[str, Any] = {"enter": True}
        if wish.account is not None:
            body["claim"] = self._claim(wish.room, wish.account)
        reply = yield self.remote.ask("POST", path, headers=headers, body=body, newcomer=True)
        if not isinstance(reply, Reply):
            return self._without_answer(reply, facts, wish, refused)
        view = reply.json()
        if view.get("state") == "called":
            ticket = bearer(str(view.get("ticket")))
            entered = yield self.remote.ask(
                "POST", f"{path}/me/enter", headers=ticket | facts.trace(), newcomer=True
            )
            if isinstance(entered, Reply) and entered.status == 200:
                view = entered.json()
        good_pass = yield from self._given(wish.room, view)
        if good_pass is not None:
            return Visit(self, good_pass, Carries.NEW)
        return self._told(facts, wish, reply, view)

    def _without_answer(
        self, why: NoAnswer, facts: Facts, wish: Join, refused: bool
    ) -> Visit | Answer:
        """Answer a program whose join has no answer."""
        if why is NoAnswer.DOWN:
            return self._away(facts, refused)
        if why is NoAnswer.SHED:
            return answers.busy(api=True, room=wish.room, url=wish.url)
        return answers.slow(room=wish.room, url=wish.url)

    def _given(self, room: str, view: dict[str, Any]) -> Generator[Call, Outcome, GoodPass | None]:
        """Return the pass that Waitroom has just given; its key may be newer than ours."""
        text = view.get("pass")
        if not isinstance(text, str):
            return None
        good_pass = self.verifier.read(room, text, time.time())
        if good_pass is None and not self.verifier.fixed:
            yield self._fetch()
            good_pass = self.verifier.read(room, text, time.time())
        return good_pass

    def _told(self, facts: Facts, wish: Join, reply: Reply, view: dict[str, Any]) -> Answer:
        """Tell a program how long to wait."""
        if reply.status >= 300:
            extra = {"room": wish.room, "url": wish.url}
            if refusals.asks_for_more(view):
                extra["join"] = f"{self.options.page}/v1/rooms/{wish.room}/tickets"
                if wish.account is not None:  # for the body of the join
                    extra["claim"] = self._claim(wish.room, wish.account)
            return refusals.refused(reply.status, view, extra, reply.headers.get("retry-after"))
        ticket = str(view.pop("ticket", ""))
        after_s = max(1, math.ceil(int(view.get("poll_after_ms") or 3_000) / 1000))
        if view.get("pass"):  # inside, but the key of its pass could not be fetched in time
            after_s = 1
        return answers.problem(
            429,
            "waiting",
            f"wait for your turn, then send this again with the ticket as `{TICKET_HEADER}`",
            {"room": wish.room, **view, "ticket": ticket, "url": wish.url},
            retry_after_s=after_s,
            headers=((TICKET_HEADER, ticket),),
            cookies=[self.cookie(facts, TICKET_COOKIE + wish.room, ticket, 86_400)],
        )


def _nobody(*_: object) -> None:
    return None
