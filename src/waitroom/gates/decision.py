"""What happens to a request at the gate: pass on, wait, join, redeem or refuse. Pure: no I/O.

`decide` sees the options, what is known of the request, and a function that reads passes. What it
returns is done by `gate.py`, the same for every framework.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any, NamedTuple

from waitroom.errors import InvalidInput
from waitroom.gates import returns
from waitroom.gates.paths import Place, Table
from waitroom.models import WhenAway, check_room_name

PASS_COOKIE = "waitroom-pass-"  # noqa: S105 - the name of a cookie
TICKET_COOKIE = "waitroom-ticket-"
PASS_HEADER, TICKET_HEADER, KEY_HEADER = "waitroom-pass", "waitroom-ticket", "waitroom-key"
_MOST_TRIED = 4  # passes that one request may show
_SHORTEST_SECRET = 16
_LONGEST_CODE = 256
_TOKEN = re.compile(r"[A-Za-z0-9._~-]{1,1024}", re.ASCII)
_SAFE_METHODS = ("GET", "HEAD")


class Rule(NamedTuple):
    """This path and everything below it belongs to a room; `methods` None means all."""

    path: str
    room: str
    methods: Sequence[str] | None = None


class Held(NamedTuple):
    """A good pass as the gate knows it, with the text that proves it."""

    room: str
    ticket_id: str
    sid: int
    issued_s: float
    expires_s: float
    kid: str
    text: str

    @property
    def half_s(self) -> float:
        """When half of the session is over."""
        return (self.issued_s + self.expires_s) / 2


@dataclass(frozen=True, slots=True)
class Options:
    """How a site is protected: the same for every framework.

    `rules` may be a mapping of paths to rooms; a path of `bypass_paths` and `finish` may begin with
    a method: `"POST /pay"`.
    """

    url: str
    rules: Sequence[Rule] | Mapping[str, str]
    public_url: str | None = None
    hosts: Sequence[str] = ()
    strict: bool = False
    when_away: str = "closed"
    renew: bool = True
    finish: Sequence[str] = ()
    bypass_paths: Sequence[str] = ()
    bypass_addresses: Sequence[str] = ()
    bypass_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    proxies: Sequence[str] = ()
    keys: str | bytes | None = None
    cookie_secure: bool | None = None
    deadline_s: float = 0.2
    base: str = field(init=False, repr=False)
    page: str = field(init=False, repr=False)
    rooms: tuple[str, ...] = field(init=False, repr=False)
    table: Table = field(init=False, repr=False, compare=False)
    ends: Table | None = field(init=False, repr=False, compare=False)
    returns_to: dict[str, str | None] = field(init=False, repr=False)
    believed: tuple[IPv4Network | IPv6Network, ...] = field(init=False, repr=False)
    let_by: tuple[IPv4Network | IPv6Network, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        given = self.rules
        pairs = given.items() if isinstance(given, Mapping) else given
        rules = [Rule(*one) for one in pairs]
        if not rules:
            raise InvalidInput(
                "rules", "is empty; give the path of a room, {'/concert': 'concert'}"
            )
        places = [_place(f"{one.path}", one.methods, check_room_name(one.room)) for one in rules]
        free = [_worded(text, None) for text in _several(self.bypass_paths, "bypass_paths")]
        ends = [_worded(text, "finish") for text in _several(self.finish, "finish")]
        page = returns.origin(self.public_url or self.url, "public_url")
        self._check()
        made: dict[str, Any] = {
            "base": returns.origin(self.url, "url"),
            "page": page,
            "rooms": tuple(dict.fromkeys(one.room for one in rules)),
            "table": Table([*places, *free]),
            "ends": Table(ends) if ends else None,
            # Where site and waiting page share a host, going back to it is safe in any case.
            "returns_to": returns.listed((*_several(self.hosts, "hosts"), _host(page))),
            "believed": _networks(self.proxies, "proxies"),
            "let_by": _networks(self.bypass_addresses, "bypass_addresses"),
            "bypass_headers": {name.lower(): text for name, text in self.bypass_headers.items()},
        }
        for name, value in made.items():
            object.__setattr__(self, name, value)

    def _check(self) -> None:
        if self.when_away not in tuple(WhenAway):
            raise InvalidInput("when_away", f"{self.when_away!r:.40} is not 'open' or 'closed'")
        if any(len(text) < _SHORTEST_SECRET for text in self.bypass_headers.values()):
            raise InvalidInput("bypass_headers", f"needs {_SHORTEST_SECRET} characters or more")
        if not 0 < self.deadline_s <= 5:
            raise InvalidInput("deadline_s", "is more than 0 and at most 5 seconds")


class Facts:
    """What is known of a request. `header` gives a header by its name in lower case."""

    __slots__ = ("address", "header", "method", "path", "query", "scheme")

    def __init__(
        self,
        method: str,
        path: str,
        query: str,
        scheme: str,
        address: str,
        header: Callable[[str], str | None],
    ) -> None:
        self.method = method
        self.path = path
        self.query = query
        self.scheme = scheme
        self.address = address
        self.header = header

    def cookies(self, name: str) -> list[str]:
        """Return all cookies of a name, in order: another page may have planted one more."""
        text = self.header("cookie")
        if text is None or name not in text:
            return []
        found = []
        for part in text.split(";"):
            key, _, value = part.strip().partition("=")
            if key == name and value:
                found.append(value.strip('"'))
        return found

    def bearer(self) -> str | None:
        """Return what `Authorization: Bearer` carries; most often that is the site's own."""
        kind, _, token = (self.header("authorization") or "").partition(" ")
        return token.strip() if kind.lower() == "bearer" else None


@dataclass(frozen=True, slots=True)
class PassOn:
    """Let the request through: with a pass, or because nothing protects it."""

    held: Held | None = None
    renew: bool = False
    finish: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """Send a browser to the waiting page."""

    room: str
    url: str


@dataclass(frozen=True, slots=True)
class Join:
    """Take a place for an API client, or look after the one it has."""

    room: str
    url: str
    ticket: str | None
    key: str | None


@dataclass(frozen=True, slots=True)
class Redeem:
    """Change a one-time code for a pass, and get it out of the address."""

    code: str
    clean_url: str


@dataclass(frozen=True, slots=True)
class Refuse:
    """Turn the request down."""

    status: int
    code: str
    detail: str


Decision = PassOn | Wait | Join | Redeem | Refuse
Reader = Callable[[str, str], Held | None]
_FREE = PassOn()
_UNREADABLE = Refuse(400, "unreadable_path", "the path can be read in more ways than one")


def decide(options: Options, facts: Facts, passes: Reader, now_s: float) -> Decision:
    """Say what happens to a request. `passes(room, text)` is the good pass of that text, or None."""
    method = facts.method
    found = options.table.match(method, facts.path)
    if options.table.by_method and found.place is None and found.safe:
        found = _as_another(options, facts) or found
    if not found.safe:
        return _UNREADABLE
    if returns.CODE in facts.query and (code := _code(facts)):
        return Redeem(code, returns.on_site(facts.path, facts.query))
    ends = options.ends is not None and options.ends.match(method, facts.path).place is not None
    rooms = options.rooms if found.place is None else (found.place.room or "",)
    if found.place is None and not ends:
        return _FREE
    for room in rooms:
        for text in _shown(facts, room):
            held = passes(room, text)
            if held is not None:
                late = options.renew and not ends and held.sid != 0 and now_s >= held.half_s
                return PassOn(held, late, ends)
    if found.place is None or _goes_by(options, facts):
        return _FREE
    return _outside(options, facts, found.place)


def _outside(options: Options, facts: Facts, place: Place) -> Decision:
    """Say where somebody without a pass goes."""
    room = place.room or ""
    back = facts.path, facts.query
    if facts.method not in _SAFE_METHODS:  # a form cannot be sent again from the waiting page
        back = ("/" if "*" in place.path else place.path), ""
    host, scheme = seen_as(options, facts)
    url = returns.waiting_page(
        options.page, room, returns.return_to(options.returns_to, host, scheme, *back)
    )
    if not is_api(facts):
        return Wait(room, url)
    tickets = [*facts.cookies(TICKET_COOKIE + room), facts.header(TICKET_HEADER)]
    ticket = next((one for one in tickets if one and _is_token(one)), None)
    key = facts.header(KEY_HEADER)
    return Join(room, url, ticket, key if key and _is_token(key) and len(key) >= 16 else None)


def is_api(facts: Facts) -> bool:
    """Tell whether a program asks, that can make nothing of a page."""
    header = facts.header
    if header("x-requested-with") or any(map(header, (TICKET_HEADER, KEY_HEADER, PASS_HEADER))):
        return True
    accept = (header("accept") or "").lower()
    return "json" in accept and "text/html" not in accept


def seen_as(options: Options, facts: Facts) -> tuple[str, str]:
    """Return host and scheme as the visitor's browser has them, maybe through a proxy."""
    scheme = facts.scheme
    if options.believed and _within(options.believed, facts.address):
        told = (facts.header("x-forwarded-proto") or "").strip().lower()
        scheme = told if told in ("http", "https") else scheme
    return facts.header("host") or "", scheme


def address_of(options: Options, facts: Facts) -> str:
    """Return the visitor's address: the last one that no listed proxy has vouched for."""
    if not _within(options.believed, facts.address):
        return facts.address
    told = (facts.header("x-forwarded-for") or "").split(",")
    for part in reversed([one.strip() for one in told if one.strip()]):
        if not _within(options.believed, part):
            return part
    return facts.address


def _shown(facts: Facts, room: str) -> list[str]:
    """Return the texts that may be passes, the likeliest first."""
    found = facts.cookies(PASS_COOKIE + room)
    if len(found) < _MOST_TRIED:
        found += [one for one in (facts.header(PASS_HEADER), facts.bearer()) if one]
    return found[:_MOST_TRIED]


def _goes_by(options: Options, facts: Facts) -> bool:
    """Tell whether the address or a secret header lets a request by, or it only asks whether."""
    for name, secret in options.bypass_headers.items():
        given = facts.header(name)
        if given is not None and hmac.compare_digest(given.encode(), secret.encode()):
            return True
    if options.let_by and _within(options.let_by, address_of(options, facts)):
        return True
    # A browser sends no cookie with the question it asks before a request to another origin.
    asks = facts.header("access-control-request-method")
    return facts.method == "OPTIONS" and bool(asks and facts.header("origin"))


def _as_another(options: Options, facts: Facts) -> Any:
    """Match the method that a framework might take the request for."""
    told = facts.header("x-http-method-override") or facts.header("x-method-override")
    method = "GET" if facts.method == "HEAD" else (told or "").strip().upper()
    return options.table.match(method, facts.path) if method else None


def _code(facts: Facts) -> str | None:
    if facts.method not in _SAFE_METHODS:
        return None
    for part in facts.query.split("&"):
        name, _, value = part.partition("=")
        if name == returns.CODE and _is_token(value) and 16 <= len(value) <= _LONGEST_CODE:
            return value
    return None


def _is_token(text: str) -> bool:
    """Tell whether a text may be a ticket, a key or a code, and so is safe in a header."""
    return _TOKEN.fullmatch(text) is not None


def _place(path: str, methods: Sequence[str] | None, room: str | None) -> Place:
    words = None if methods is None else frozenset(one.upper() for one in methods)
    return Place(path, room, words)


def _worded(text: str, room: str | None) -> Place:
    """Read `"POST /pay"` or `"/thanks"`."""
    method, blank, path = text.partition(" ")
    return _place(path.strip(), (method,), room) if blank else _place(text, None, room)


def _several(given: Sequence[str], name: str) -> tuple[str, ...]:
    if isinstance(given, str):
        raise InvalidInput(name, f"is a list; write [{given!r:.60}]")
    return tuple(given)


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0]


def _networks(given: Sequence[str], name: str) -> tuple[IPv4Network | IPv6Network, ...]:
    try:
        return tuple(ip_network(one, strict=False) for one in _several(given, name))
    except ValueError:
        raise InvalidInput(name, "takes networks like 10.0.0.0/8, or addresses") from None


def _within(networks: Sequence[IPv4Network | IPv6Network], address: str) -> bool:
    if not networks:
        return False
    try:
        found = ip_address(address)
    except ValueError:
        return False
    plain = getattr(found, "ipv4_mapped", None) or found
    return any(plain in network for network in networks)
