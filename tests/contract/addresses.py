"""Whose address a request has, behind trusted proxies and others."""

from __future__ import annotations

from typing import Any

from waitroom.web.addresses import Proxies

_INSIDE = ["10.0.0.0/8", "::1", "fd00::/8"]
_CASES: list[tuple[list[str], str, str | None, str]] = [
    ([], "192.0.2.1", None, "192.0.2.1"),
    ([], "192.0.2.1", "198.51.100.7", "192.0.2.1"),
    (_INSIDE, "192.0.2.1", "198.51.100.7", "192.0.2.1"),
    (_INSIDE, "10.0.0.1", None, "10.0.0.1"),
    (_INSIDE, "10.0.0.1", "", "10.0.0.1"),
    (_INSIDE, "10.0.0.1", "198.51.100.7", "198.51.100.7"),
    (_INSIDE, "10.0.0.1", " 198.51.100.7 ", "198.51.100.7"),
    (_INSIDE, "10.0.0.1", "6.6.6.6, 198.51.100.7", "198.51.100.7"),
    (_INSIDE, "10.0.0.1", "198.51.100.7, 10.9.9.9", "198.51.100.7"),
    (_INSIDE, "10.0.0.1", "198.51.100.7,,10.9.9.9,", "198.51.100.7"),
    (_INSIDE, "10.0.0.1", "10.1.1.1, 10.2.2.2", "10.0.0.1"),
    (_INSIDE, "10.0.0.1", "198.51.100.7, unknown", "10.0.0.1"),
    (_INSIDE, "10.0.0.1", "unknown, 198.51.100.7", "198.51.100.7"),
    (_INSIDE, "10.0.0.1", "198.51.100.7, 010.0.0.1", "10.0.0.1"),
    (_INSIDE, "10.0.0.1", "198.51.100.7:5678", "198.51.100.7"),
    (_INSIDE, "10.0.0.1", "[2001:DB8::0001]:443", "2001:db8::1"),
    (_INSIDE, "10.0.0.1", "[2001:db8::1]", "2001:db8::1"),
    (_INSIDE, "10.0.0.1", "2001:db8::1:443", "2001:db8::1:443"),
    (_INSIDE, "10.0.0.1", "198.51.100.7:port", "10.0.0.1"),
    (_INSIDE, "10.0.0.1", "::ffff:198.51.100.7", "198.51.100.7"),
    (_INSIDE, "::ffff:10.0.0.1", "198.51.100.7", "198.51.100.7"),
    (_INSIDE, "::1", "198.51.100.7, fd00::5", "198.51.100.7"),
    (_INSIDE, "::1", "fe80::1%eth0", "fe80::1"),
    (["::ffff:10.0.0.0/104"], "10.0.0.1", "198.51.100.7", "198.51.100.7"),
    (["::/0"], "10.0.0.1", "198.51.100.7", "10.0.0.1"),
    (["0.0.0.0/0"], "10.0.0.1", "198.51.100.7", "10.0.0.1"),
    (["10.0.0.1"], "10.0.0.2", "198.51.100.7", "10.0.0.2"),
]


def document() -> dict[str, Any]:
    """Return the file; the Python gate confirms each expectation."""
    for proxies, peer, forwarded_for, visitor in _CASES:
        read = Proxies(proxies, "proxies").visitor(peer, forwarded_for)
        assert visitor == read, (peer, forwarded_for, read)
    return {
        "about": "The visitor's address, by the peer's and X-Forwarded-For, behind `proxies`.",
        "cases": [
            {"proxies": case[0], "peer": case[1], "forwarded_for": case[2], "visitor": case[3]}
            for case in _CASES
        ],
    }
