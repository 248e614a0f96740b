"""A visitor's request: what is read from headers, cookies and bodies, and what is not."""

from __future__ import annotations

import msgspec
import pytest

from waitroom.errors import BadRequest, InvalidInput
from waitroom.server.http.request import VisitorRequest, cookie
from waitroom.web.origins import Origins


class Wish(msgspec.Struct, forbid_unknown_fields=True):
    """A body for these tests."""

    places: int = 0


def call(ticket: str | None = "me", body: bytes = b"", **headers: str) -> VisitorRequest:
    """Make a request to the room `hall`."""
    given = [(k.replace("_", "-").encode(), v.encode("latin-1")) for k, v in headers.items()]
    return VisitorRequest(Origins(), "GET", "hall", ticket, given, "192.0.2.1", "http", body)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Bearer abc", "abc"),
        ("bearer  abc ", "abc"),
        ("Bearer", None),
        ("Bearer ", None),
        ("Basic abc", None),
        ("abc", None),
        ("", None),
    ],
)
def test_bearer(text: str, expected: str | None) -> None:
    """Only `Bearer` counts, in upper or lower case."""
    assert expected == call(authorization=text).bearer


def test_the_ticket_is_taken_from_path_cookie_or_bearer() -> None:
    """The path wins unless it says `me`; then the cookie of the room, then Authorization."""
    cookies = "x=1; waitroom-ticket-other=no; waitroom-ticket-hall=from-cookie"
    assert "in-path" == call("in-path", cookie=cookies).ticket
    assert "from-cookie" == call(cookie=cookies, authorization="Bearer shown").ticket
    assert "shown" == call(cookie="x=1", authorization="Bearer shown").ticket
    assert "" == call().ticket


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=1; b=2", "2"),
        ("b=2", "2"),
        ("b=2; b=3", "2"),
        ("bb=2", None),
        ("b", ""),
        ("b=x=y", "x=y"),
        (";;; b=2 ;", "2"),
        ("", None),
        ("b=2; " + "x" * 20_000, None),
    ],
)
def test_cookies(text: str, expected: str | None) -> None:
    """If there are two, the first counts; a line that is too long counts as none."""
    assert expected == call(cookie=text).cookie("b")


def test_who_takes_cookies() -> None:
    """Clients that send what only browsers send get cookies; programs and foreign pages do not."""
    assert not call(accept="*/*", user_agent="Mozilla/5.0").takes_cookies
    ours = call(origin="http://us", host="us"), call(sec_fetch_mode="x"), call(cookie="x")
    assert [True] * 3 == [asked.takes_cookies for asked in ours]
    assert not call(origin="http://them", host="us").takes_cookies


def test_a_foreign_page_reads_no_ticket() -> None:
    """Its request counts as one without the cookie; a pass may still be shown for a check."""
    asked = call(cookie="waitroom-ticket-hall=secret", sec_fetch_site="cross-site")
    assert ("", None) == (asked.ticket, asked.cookie("waitroom-ticket-hall"))
    assert "secret" == asked.shown_cookie("waitroom-ticket-hall")


@pytest.mark.attack
def test_the_safer_name_counts_first() -> None:
    """A neighbour on the same site can set the plain name, but not the other."""
    cookies = "waitroom-ticket-hall=planted; __Host-waitroom-ticket-hall=ours"
    assert "ours" == call(cookie=cookies).ticket
    assert "old" == call(cookie="waitroom-ticket-hall=old").ticket


def test_json() -> None:
    """An empty body is `{}`; if a body does not fit, the error names the field, not the value."""
    assert 0 == call().json(Wish).places
    assert 3 == call(body=b'{"places": 3}').json(Wish).places
    for body, field in ((b'{"places": "x"}', "places"), (b"[]", "body"), (b'{"y": 1}', "body")):
        with pytest.raises(InvalidInput) as caught:
            call(body=body).json(Wish)
        assert field == caught.value.field
    for body in (b"{", b"\xff", b'{"places": 1}x', b"\x00"):
        with pytest.raises(BadRequest):
            call(body=body).json(Wish)


def test_a_cookie_is_for_this_host_alone() -> None:
    """HttpOnly, Lax, no Domain; Secure and Max-Age if requested."""
    name, text = cookie("a", "b", secure=True, max_age_s=1.9)
    assert (b"set-cookie", b"__Host-a=b; Path=/; HttpOnly; SameSite=Lax; Max-Age=1; Secure") == (
        name,
        text,
    )
    _, text = cookie("a", "b", secure=False, max_age_s=None)
    assert b"a=b; Path=/; HttpOnly; SameSite=Lax" == text
