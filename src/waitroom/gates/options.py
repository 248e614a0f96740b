"""How a site is protected: the options of a gate, the same for every framework. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from waitroom.accounts import ClaimKey
from waitroom.errors import InvalidInput
from waitroom.gates import returns
from waitroom.gates.paths import Place, Table
from waitroom.models import WhenAway, check_room_name
from waitroom.web.addresses import Networks, Proxies

_SHORTEST_SECRET = 16


class Rule(NamedTuple):
    """This path and everything below it belongs to a room; `methods` None means all."""

    path: str
    room: str
    methods: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """How a site is protected: the same for every framework.

    `rules` may be a mapping of paths to rooms; a path of `bypass_paths` and `finish` may begin with
    a method: `"POST /pay"`. `identity` returns the user's id for a request of the framework, or
    None; it needs `claim_key`, one for the only room or a mapping of rooms to theirs.
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
    issuer: str | None = None
    cookie_secure: bool | None = None
    identity: Callable[[Any], Any] | None = None
    claim_key: str | Mapping[str, str] | None = field(default=None, repr=False)
    deadline_s: float = 0.2
    away_after_s: float = 3.0
    base: str = field(init=False, repr=False)
    page: str = field(init=False, repr=False)
    rooms: tuple[str, ...] = field(init=False, repr=False)
    table: Table = field(init=False, repr=False, compare=False)
    ends: Table | None = field(init=False, repr=False, compare=False)
    returns_to: dict[str, str | None] = field(init=False, repr=False)
    believed: Proxies = field(init=False, repr=False, compare=False)
    let_by: Networks = field(init=False, repr=False, compare=False)
    claim_keys: dict[str, ClaimKey] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        given = self.rules
        pairs = given.items() if isinstance(given, Mapping) else given
        rules = [Rule(*pair) for pair in pairs]
        if not rules:
            raise InvalidInput(
                "rules", "is empty; give the path of a room, {'/concert': 'concert'}"
            )
        places = [
            _place(f"{rule.path}", rule.methods, check_room_name(rule.room)) for rule in rules
        ]
        free = [_worded(text, None) for text in _several(self.bypass_paths, "bypass_paths")]
        ends = [_worded(text, "finish") for text in _several(self.finish, "finish")]
        page = returns.origin(self.public_url or self.url, "public_url")
        self._check()
        made: dict[str, Any] = {
            "base": returns.origin(self.url, "url"),
            "page": page,
            "rooms": (rooms := tuple(dict.fromkeys(rule.room for rule in rules))),
            "claim_keys": self._claim_keys(rooms),
            "table": Table([*places, *free]),
            "ends": Table(ends) if ends else None,
            # If site and waiting page share a host, returning to it is always safe.
            "returns_to": returns.listed((*_several(self.hosts, "hosts"), _host(page))),
            "believed": Proxies(_several(self.proxies, "proxies"), "proxies"),
            "let_by": Networks(
                _several(self.bypass_addresses, "bypass_addresses"), "bypass_addresses"
            ),
            "bypass_headers": {name.lower(): text for name, text in self.bypass_headers.items()},
        }
        for name, value in made.items():
            object.__setattr__(self, name, value)

    def _claim_keys(self, rooms: Sequence[str]) -> dict[str, ClaimKey]:
        given = self.claim_key
        if (given is None) != (self.identity is None):
            raise InvalidInput("claim_key", "and `identity` belong together; give both or neither")
        if given is None:
            return {}
        if isinstance(given, str):
            given = dict.fromkeys(rooms, given) if len(rooms) == 1 else {}
        if set(given) != set(rooms):
            raise InvalidInput(
                "claim_key", f"give the key of each room, {{'{rooms[0]}': 'wrc_…'}}, and no other"
            )
        return {room: ClaimKey.parse(text) for room, text in given.items()}

    def _check(self) -> None:
        if self.when_away not in tuple(WhenAway):
            raise InvalidInput("when_away", f"{self.when_away!r:.40} is not 'open' or 'closed'")
        if any(len(text) < _SHORTEST_SECRET for text in self.bypass_headers.values()):
            raise InvalidInput("bypass_headers", f"needs {_SHORTEST_SECRET} characters or more")
        if not 0 < self.deadline_s <= 5:
            raise InvalidInput("deadline_s", "is more than 0 and at most 5 seconds")
        if not 0 < self.away_after_s <= 60:
            raise InvalidInput("away_after_s", "is more than 0 and at most 60 seconds")


def _place(path: str, methods: Sequence[str] | None, room: str | None) -> Place:
    words = None if methods is None else frozenset(method.upper() for method in methods)
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
