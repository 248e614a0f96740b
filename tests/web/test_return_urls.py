"""Where visitors come back to, one table for server and gates: one writes it, one reads it."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waitroom.gates import returns
from waitroom.gates.decision import Redeem, Wait, decide
from waitroom.gates.facts import Facts
from waitroom.gates.options import Options
from waitroom.server.waiting.onward import returning
from waitroom.web.names import CODE
from waitroom.web.return_urls import LONGEST_RETURN, with_code

SHOP = "https://shop.example"
OPTIONS = Options(
    "http://10.0.0.7:8080", {"/": "concert"}, public_url="https://wait.example", hosts=[SHOP]
)
FULL = "/" + "x" * (LONGEST_RETURN - len(SHOP) - 1)
Side = Callable[[str, str, str], str | None]


def server(host: str, path: str, query: str) -> str | None:
    """Make the waiting page of a room that leads to the shop read an address."""
    address = f"https://{host}{path}" + (f"?{query}" if query else "")
    return returning(address, "wait.example", f"{SHOP}/tickets")


def gate(host: str, path: str, query: str) -> str | None:
    """Make a gate of the shop write the address of a request; it sees the path decoded."""
    return returns.return_to(OPTIONS.returns_to, host, "https", unquote(path), query)


@pytest.mark.parametrize("side", [server, gate])
@pytest.mark.parametrize(
    ("host", "path", "query", "expected"),
    [
        ("shop.example", "/seats", "day=2&x=%26", f"{SHOP}/seats?day=2&x=%26"),
        ("shop.example", "/a%20b/%C3%BC", "q=%ED%95%9C", f"{SHOP}/a%20b/%C3%BC?q=%ED%95%9C"),
        ("shop.example", "/a%25b", "", f"{SHOP}/a%25b"),
        # Hosts must match in full, in any case and with or without the default port.
        ("SHOP.example:443", "/", "", f"{SHOP}/"),
        ("shop.example:444", "/", "", None),
        ("shop.example:80", "/", "", None),
        ("shop.example.", "/", "", None),
        ("evil.example", "/", "", None),
        ("shop.example.evil.example", "/", "", None),
        ("shop.example@evil.example", "/", "", None),
        ("[" + "1:" * 40 + "1]", "/", "", None),
        # One leading slash, so that no part of the path becomes a host.
        ("shop.example", "//evil.example/x", "", f"{SHOP}/evil.example/x"),
        # A code is somebody's session: it is removed, however it is spelled.
        ("shop.example", "/", f"{CODE}=x&a=1", f"{SHOP}/?a=1"),
        ("shop.example", "/", "waitroom%5Fcode=y&WAITROOM_CODE&+waitroom_code=", f"{SHOP}/"),
        ("shop.example", "/", f"{CODE}", f"{SHOP}/"),
        ("shop.example", "/", "waitroom_codes=1", f"{SHOP}/?waitroom_codes=1"),
        # There is one limit, for the whole address as written.
        ("shop.example", FULL, "", SHOP + FULL),
    ],
)  # fmt: skip
def test_both_write_the_same(
    side: Side, host: str, path: str, query: str, expected: str | None
) -> None:
    """Server and gates accept the same hosts, and build the same address."""
    assert expected == side(host, path, query)


def test_what_is_too_long_is_not_used() -> None:
    """Beyond the limit the page uses the room's own target, and a gate writes a shorter one."""
    path, query = "/" + "x" * 800, "y" * 800
    assert server("shop.example", path, query) is None
    assert SHOP + path == gate("shop.example", path, query)
    assert server("shop.example", path * 2, "") is None
    assert f"{SHOP}/" == gate("shop.example", path * 2, "")


def test_the_limit_holds_for_what_is_written() -> None:
    """Letters grow ninefold when encoded; a form that sends them back must fit too."""
    path = "/" + "한" * 400
    assert server("shop.example", path, "") is None
    assert f"{SHOP}/" == gate("shop.example", path, "")


@given(st.text(max_size=200), st.text(max_size=200))
def test_the_page_takes_what_a_gate_writes(path: str, query: str) -> None:
    """Whatever is requested, the page keeps the return address that the gate wrote, unchanged."""
    facts = Facts("GET", "/" + path, query, "https", "192.0.2.1", {"host": "shop.example"}.get)
    decision = decide(OPTIONS, facts, lambda *_: None, 0)
    if isinstance(decision, Wait):
        (back,) = parse_qs(urlsplit(decision.url).query)["return"]
        assert back == returning(back, "wait.example", f"{SHOP}/tickets")


def test_a_gate_redeems_the_code_that_the_page_adds() -> None:
    """And removes it from the address again."""
    url = urlsplit(with_code(f"{SHOP}/seats?day=2#map", "0123456789abcdefghijkl"))
    facts = Facts("GET", url.path, url.query, "https", "192.0.2.1", {"host": "shop.example"}.get)
    expected = Redeem("0123456789abcdefghijkl", "/seats?day=2")
    assert expected == decide(OPTIONS, facts, lambda *_: None, 0)
