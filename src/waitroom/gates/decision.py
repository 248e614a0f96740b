"""What happens to a request at the gate: pass on, wait, join, redeem or refuse. Pure: no I/O.

`decide` gets the options, the facts of the request, and a function that reads passes. `gate.py`
carries out its decision, the same for every framework.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from waitroom.gates import methods, returns
from waitroom.gates.facts import Facts
from waitroom.gates.options import Options
from waitroom.gates.paths import Place
from waitroom.web.addresses import FORWARDED_FOR, FORWARDED_PROTO
from waitroom.web.names import (
    CODE,
    KEY_HEADER,
    PASS_COOKIE,
    PASS_HEADER,
    TICKET_COOKIE,
    TICKET_HEADER,
    cookie_names,
)
from waitroom.web.return_urls import on_site

_MOST_TRIED = 4  # passes that one request may show
_SHORTEST_SECRET, _LONGEST_SECRET = 16, 128
_TOKEN = re.compile(r"[A-Za-z0-9._~-]{1,1024}", re.ASCII)
_SAFE_METHODS = ("GET", "HEAD")


class GoodPass(NamedTuple):
    """A good pass as the gate knows it, with the text that proves it."""

    room: str
    ticket_id: str
    sid: int
    expires_s: float
    kid: str
    text: str
    half_s: float
    """When half of the session is over."""


class PassOn(NamedTuple):
    """Let the request through: with a pass, or because nothing protects it."""

    good_pass: GoodPass | None = None
    renew: bool = False
    finish: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """Send a browser to the waiting page; with an account, hand it over with a claim."""

    room: str
    url: str
    account: str | None = None


@dataclass(frozen=True, slots=True)
class Join:
    """Take a place for an API client, or poll the ticket that it has."""

    room: str
    url: str
    ticket: str | None
    key: str | None
    account: str | None = None


@dataclass(frozen=True, slots=True)
class Redeem:
    """Exchange a one-time code for a pass, and remove the code from the URL."""

    code: str
    clean_url: str


@dataclass(frozen=True, slots=True)
class Refuse:
    """Turn the request down."""

    status: int
    code: str
    detail: str


Decision = PassOn | Wait | Join | Redeem | Refuse
Reader = Callable[[str, str, float], GoodPass | None]
_FREE = PassOn()
_UNREADABLE = Refuse(
    400, "unreadable_path", "the path or the method can be read in more ways than one"
)


def decide(options: Options, facts: Facts, passes: Reader, now_s: float) -> Decision:
    """Decide about a request. `passes(room, text, now_s)` returns the pass of a text, if good."""
    match = methods.match(options.table, facts)
    if not match.safe:
        return _UNREADABLE
    place = match.place
    if place is not None and CODE in facts.query and (code := _code(facts)):
        return Redeem(code, on_site(facts.path, facts.query, decoded=True))
    ends = options.ends is not None and methods.may_match(options.ends, facts)
    if place is None and not ends:
        return _FREE
    for room in options.rooms if place is None else (place.room or "",):
        good_pass = _shown_pass(options, facts, room, passes, now_s)
        if good_pass is not None:
            late = now_s >= good_pass.half_s and options.renew and good_pass.sid != 0 and not ends
            return PassOn(good_pass, late, ends)
    if place is None or _goes_by(options, facts):
        return _FREE
    return _outside(options, facts, place)


def _outside(options: Options, facts: Facts, place: Place) -> Decision:
    """Decide about a request without a pass."""
    room = place.room or ""
    back = facts.path, facts.query
    if facts.method not in _SAFE_METHODS:  # a form cannot be sent again from the waiting page
        back = ("/" if "*" in place.path else place.path), ""
    host, scheme = seen_as(options, facts)
    url = returns.waiting_page(
        options.page, room, returns.return_to(options.returns_to, host, scheme, *back)
    )
    account = account_of(options, facts, room)
    if not is_api(facts):
        return Wait(room, url, account)
    tickets = [*facts.cookies(*cookie_names(TICKET_COOKIE + room)), facts.header(TICKET_HEADER)]
    ticket = next((text for text in tickets if text and _is_token(text)), None)
    key = facts.header(KEY_HEADER)
    usable = key is not None and _is_token(key) and len(key) >= _SHORTEST_SECRET
    return Join(room, url, ticket, key if usable else None, account)


def account_of(options: Options, facts: Facts, room: str) -> str | None:
    """Return the account in a room of who has signed in; None for who has not."""
    key = options.claim_keys.get(room)
    return None if key is None or facts.user is None else key.account(room, facts.user)


def is_api(facts: Facts) -> bool:
    """Tell whether a program asks, which cannot use a page."""
    header = facts.header
    if header("x-requested-with") or any(map(header, (TICKET_HEADER, KEY_HEADER, PASS_HEADER))):
        return True
    accept = (header("accept") or "").lower()
    return "json" in accept and "text/html" not in accept


def seen_as(options: Options, facts: Facts) -> tuple[str, str]:
    """Return host and scheme as the visitor's browser sees them, maybe through a proxy."""
    forwarded = facts.header(FORWARDED_PROTO)
    return facts.header("host") or "", options.believed.scheme(
        facts.address, facts.scheme, forwarded
    )


def address_of(options: Options, facts: Facts) -> str:
    """Return the visitor's address, maybe behind proxies."""
    return options.believed.visitor(facts.address, facts.header(FORWARDED_FOR))


def _shown_pass(
    options: Options, facts: Facts, room: str, passes: Reader, now_s: float
) -> GoodPass | None:
    """Return the good pass of a request: from a cookie, or from a program's header.

    Of somebody who has signed in only their own account's counts, or one without a session, which
    anybody may have been given while the backend was away.
    """
    account = account_of(options, facts, room)
    texts = facts.cookies(*cookie_names(PASS_COOKIE + room))[:_MOST_TRIED]
    for text in (*texts, facts.header(PASS_HEADER), facts.bearer()):
        good_pass = passes(room, text, now_s) if text else None
        if good_pass is None:
            continue
        if account is None or good_pass.ticket_id == account or good_pass.sid == 0:
            return good_pass
    return None


def _goes_by(options: Options, facts: Facts) -> bool:
    """Tell whether a request may bypass: by address, by secret header, or as a CORS preflight."""
    for name, secret in options.bypass_headers.items():
        given = facts.header(name)
        if given is not None and hmac.compare_digest(given.encode(), secret.encode()):
            return True
    if options.bypass_addresses and address_of(options, facts) in options.let_by:
        return True
    # A browser sends no cookie with a preflight.
    asks = facts.header("access-control-request-method")
    return facts.method == "OPTIONS" and bool(asks and facts.header("origin"))


def _code(facts: Facts) -> str | None:
    if facts.method not in _SAFE_METHODS:
        return None
    for part in facts.query.split("&"):
        name, _, value = part.partition("=")
        if name == CODE and _is_secret(value):
            return value
    return None


def _is_token(text: str) -> bool:
    """Tell whether a text may be a ticket, a key or a code, and so safe in a header."""
    return _TOKEN.fullmatch(text) is not None


def _is_secret(text: str) -> bool:
    """Tell whether a text is long enough to be unguessable."""
    return _is_token(text) and _SHORTEST_SECRET <= len(text) <= _LONGEST_SECRET
