"""However an address is spelled, it does not get past the gate: tested over plain sockets."""

from __future__ import annotations

import random
from itertools import product

import pytest

from tests.stacks.conftest import Inside
from tests.stacks.tools import NAME, ROOM, Stack, let_in
from tests.support.clients import ask, request
from tests.support.counts import count
from waitroom.gates.paths import Place, Table

FRONTS = [
    "/", "//", "///", "/./", "/x/../", "/x//../", "/%2e/", "/x/%2e%2e/", "/x/%2E%2e/", "/x/..%2f",
    "/x%2f..%2f", "/;a/", "/.;/", "/x/..;/", "/x/..;a=b/", "/\\", "/x\\..\\", "/%5c", "/%2f",
    "/%252f", "/x/%252e%252e/", "/../", "/.%00/", "/%20/", "/free/../", "/free/%2e%2e/",
    "/%c0%ae%c0%ae/", "/rooms/..%2f", "/static/../", "/v1/%2e%2e/", "/_waitroom_check/../",
]  # fmt: skip
WORDS = [
    "concert", "Concert", "CONCERT", "conCert", "%63oncert", "%43oncert", "conc%65rt",
    "%2563oncert", "%252563oncert", "%u0063oncert", "ｃoncert", "%EF%BD%83oncert", "con\u200bcert",
    "con%C2%ADcert", "%E2%92%B8oncert", "%63%6f%6e%63%65%72%74", "con%ffcert", "concert%00",
    "%EA%9F%B2oncert",
]  # fmt: skip
BACKS = [
    "", "/", "//", ".", "..", "...", "%2e", "%2E%2e", ";", ";a=1", ";/x", "%3b", "%20", "+", "%09",
    "/.", "/./", "/seats", "/x/..", "/x/%2e%2e", "\\seats", "%2fseats", "%5cseats", "?x", "#x",
    "%23", "%3fx", ".;a", "%2e%3ba", "/%2e%2e/concert", "/..;/free", ".json", "%0a", "%85",
]  # fmt: skip
FREE = [
    "/", "/free", "/free/", "/free/a.html", "/free?a=%2e%2e/concert", "/concerts", "/concert-hall",
    "/my/concert", "/artists/%EC%95%84%EC%9D%B4%EC%9C%A0", "/.well-known/x", "/a/b.c/d_e~f-g",
]  # fmt: skip
TABLE = Table([Place("/concert", ROOM)])


def tricks() -> list[bytes]:
    """Return spellings of /concert, among others, that some server might read as it."""
    paths = ["".join(parts).encode() for parts in product(FRONTS, WORDS, BACKS)]
    few = [f"/{word}".encode() for word in WORDS]
    few += [f"{front}concert".encode() for front in FRONTS]
    few += [f"/concert{back}".encode() for back in BACKS]
    return few + random.Random(4).sample(paths, min(len(paths), count("path_tricks")))


def free_to_all(path: bytes) -> bool:
    """Tell whether no server could read a path as one under /concert."""
    rule = TABLE.match("GET", path.partition(b"?")[0].decode("utf-8"))
    return rule.place is None and rule.safe


def test_no_spelling_leads_past_the_gate(stack: Stack) -> None:
    """Case, `//`, `%2e`, `;`, dots at the end, unicode, encoded slashes: 0 reach the site."""
    got = [path for path in tricks() if let_in(stack.ask(path))]
    assert [] == [path for path in got if not free_to_all(path)]


@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "PROPFIND", "get", "X"])
def test_no_method_leads_past_the_gate(stack: Stack, method: str) -> None:
    """Whatever the method is."""
    assert 200 != stack.ask("/concert", method=method).status


def test_no_form_of_request_leads_past_the_gate(stack: Stack) -> None:
    """The whole address in the first line, HTTP/1.0, old HTTP, two lengths, and other names."""
    for data in (
        request("GET", f"http://{NAME}/concert"),
        request("GET", "http://evil.test/concert"),
        request("GET", f"http://{NAME}//concert"),
        request("GET", "concert"),
        request("GET", "*"),
        b"GET /concert HTTP/1.0\r\n\r\n",
        b"GET /concert\r\n\r\n",
        b"GET /free HTTP/1.1\r\nHost: waitroom.test\r\nContent-Length: 4\r\n"
        b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n"
        b"GET /concert HTTP/1.1\r\nHost: waitroom.test\r\n\r\n",
    ):
        try:
            reply = ask(stack.port, data)
        except AssertionError:  # it was cut off without an answer
            continue
        assert b"the site, at /concert" not in reply.body
        assert b"the site, at GET /concert" not in reply.body
        assert reply.status != 200 or b"/free" in data


def test_headers_that_name_another_path_are_worth_nothing(nginx_stack: Stack) -> None:
    """Some frameworks would follow them: they do not reach the site."""
    given = {"X-Original-URL": "/concert", "X-Rewrite-URL": "/concert"}
    reply = nginx_stack.ask("/free", None, given)
    assert ("-", "-") == (reply.header("saw-x-original-url"), reply.header("saw-x-rewrite-url"))


@pytest.mark.parametrize("path", FREE)
def test_plain_addresses_stay_free(stack: Stack, path: str) -> None:
    """A path that is not under /concert needs no pass."""
    assert (200, True) == (stack.ask(path).status, let_in(stack.ask(path)))


def test_with_a_pass_every_spelling_of_the_room_is_open(stack: Stack, inside: Inside) -> None:
    """The gate refuses no pass holder because of a capital letter."""
    paths = ("/Concert", "/concert/", "/concert/seats;a=1", "/./concert", "/concert/%EC%95%84")
    assert [True] * len(paths) == [let_in(stack.ask(path, inside.pass_)) for path in paths]
