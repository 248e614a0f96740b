"""Paths: which room they belong to, however they are spelled."""

from __future__ import annotations

from typing import Any, NamedTuple

from waitroom.gates.paths import LONGEST_PATH, Place, Table

REFUSED = "(refused)"


class _Table(NamedTuple):
    """Rules and bypasses, and the room of each path under them."""

    rules: dict[str, str]
    bypasses: list[str]
    expected: dict[str, str | None]


_CONCERT = {"/concert": "concert"}
_SPELLINGS = [
    "/concert",
    "/concert/",
    "/concert/seats",
    "/concert//seats",
    "//concert",
    "///concert",
    "/./concert",
    "/x/../concert",
    "/x//../concert",
    "/../concert",
    "/%2e/concert",
    "/x/%2e%2e/concert",
    "/x/%2E%2e/concert",
    "/x/..%2fconcert",
    "/x%2f..%2fconcert",
    "/%2fconcert",
    "/%252fconcert",
    "/x/%252e%252e/concert",
    "/;a/concert",
    "/.;/concert",
    "/x/..;/concert",
    "/x/..;a=b/concert",
    "/\\concert",
    "/x\\..\\concert",
    "/%5cconcert",
    "/%20/concert",
    "/Concert",
    "/CONCERT",
    "/conCert",
    "/%63oncert",
    "/%43oncert",
    "/%2563oncert",
    "/%252563oncert",
    "/%u0063oncert",
    "/\uff43oncert",
    "/%EF%BD%83oncert",
    "/con\u200bcert",
    "/con%C2%ADcert",
    "/%E2%92%B8oncert",
    "/%63%6f%6e%63%65%72%74",
    "/con%ffcert",
    "/concert%ff",
    "/concert.",
    "/concert..",
    "/concert...",
    "/concert%2e",
    "/concert;",
    "/concert;a=1",
    "/concert;/x",
    "/concert%3b",
    "/concert%20",
    "/concert/.",
    "/concert/./",
    "/concert\\seats",
    "/concert%2fseats",
    "/concert%5cseats",
    "/concert%23",
    "/concert%3fx",
    "/concert.;a",
    "/concert/x/..",
    "/concert/%2e%2e/concert",
    "/concert/../x",
    "/concert/..",
    "/concert/..;/free",
    "/concert/%EC%95%84",
    "/concert/100%",
    "/concert/%zz",
    "/concert/a+b",
    "/concert%85",
]
_FREE = [
    "/",
    "/free",
    "/concerts",
    "/concert-hall",
    "/my/concert",
    "/concert.json",
    "/concert,",
    "/concer",
    "/artists/%EC%95%84%EC%9D%B4%EC%9C%A0",
    "/.well-known/x",
    "/a/b.c/d_e~f-g",
    "/x/..",
    "/100%",
    "/concert+",
    "/%ef%bc%88x%ef%bc%89",
]
_UNREADABLE = [
    "/concert%00",
    "/.%00/concert",
    "/concert%0a",
    "/concert%09",
    "/concert%c2%85",
    "/free%00",
    "/free%0d%0a",
    "/%25252525252525252563oncert",
    "/x" * (LONGEST_PATH // 2) + "/x",
]
_RULES = {
    "/": "site",
    "/concert": "concert",
    "/concert/vip": "vip",
    "/concert/*/seats": "seats",
    "/\ub300\uae30\uc5f4": "korean",
    "/stra\u00dfe": "street",
    "/caf\u00e9": "cafe",
    "/same": "site",
}
_BY_RULE = {
    "/": "site",
    "/about": "site",
    "/concerts": "site",
    "/concert": "concert",
    "/concert/2026": "concert",
    "/concert/vip/x": "vip",
    "/concert/2026/seats": "seats",
    "/concert/2026/seats/5": "seats",
    "/concert/vip/seats": "seats",
    "/concert/seats": "concert",
    "/%EB%8C%80%EA%B8%B0%EC%97%B4/1": "korean",
    "/\ub300\uae30\uc5f4": "korean",
    "/%E1%84%83%E1%85%A2%E1%84%80%E1%85%B5%E1%84%8B%E1%85%A7%E1%86%AF": "korean",
    "/strasse": "street",
    "/STRASSE": "street",
    "/stra%C3%9Fe": "street",
    "/STRA%E1%BA%9EE": "street",
    "/cafe%CC%81": "cafe",
    "/CAF%C3%89": "cafe",
    "/cafe": "site",
    "/concert/free": None,
    "/concert/free/x": None,
    "/concert/free/": None,
    "/concert/Open": None,
    "/concert/open": "concert",
    "/concert/FREE": "concert",
    "/concert//free": "concert",
    "/concert/free;x": "concert",
    "/concert/%66ree": "concert",
    "/concert/free.": "concert",
    "/concert/./free": "concert",
    "/concert/freedom": "concert",
    "/concert/vip/pics/1": None,
    "/concert/vip/pics": None,
    "/concert/x/pics": None,
    "/concert/free/seats": "seats",
    "/concert/free/..": "concert",
    "/concert/x/../free": "concert",
    "/same": "site",
    "/concert/../about": REFUSED,
    "/concert/vip/../x": REFUSED,
    "/about/../concert": REFUSED,
    "/concert/x/..;/vip": REFUSED,
    "/concert/vip/..%2f": REFUSED,
}
_BYPASSES = ["/concert/free", "/concert/Open", "/concert/*/pics", "/same", "/"]


def document() -> dict[str, Any]:
    """Return the file."""
    expected: dict[str, str | None] = dict.fromkeys(_SPELLINGS, "concert")
    expected |= dict.fromkeys(_FREE) | dict.fromkeys(_UNREADABLE, REFUSED)
    tables = [_Table(_CONCERT, [], expected), _Table(_RULES, _BYPASSES, _BY_RULE)]
    return {
        "about": "The room of a path as the client sent it, without its query; null: it is free.",
        "tables": [{"rules": one.rules, "bypass_paths": one.bypasses} for one in tables],
        "cases": [
            {"table": number} | case for number, one in enumerate(tables) for case in _cases(one)
        ],
    }


def _cases(given: _Table) -> list[dict[str, Any]]:
    places = [Place(path, room) for path, room in given.rules.items()]
    table = Table([*places, *(Place(path, None) for path in given.bypasses)])
    read = {path: _room(table, path) for path in given.expected}
    assert given.expected == read, set(given.expected.items()) ^ set(read.items())
    return [
        {"path": path, "refused": True} if room == REFUSED else {"path": path, "room": room}
        for path, room in read.items()
    ]


def _room(table: Table, path: str) -> str | None:
    match = table.match("GET", path)
    return REFUSED if not match.safe else match.place.room if match.place else None
