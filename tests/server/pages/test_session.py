"""Sessions in signed cookies: valid only as signed, for their own name, until their end."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from fastapi import Request, Response

from waitroom.credentials.bearer_keys import BearerKey
from waitroom.errors import Forbidden
from waitroom.server.pages.forms import check_form_token
from waitroom.server.pages.session import SessionCookie
from waitroom.tickets import KeyRing

RING = KeyRing([b"0123456789abcdef0123456789abcdef"])


def made(mark: str) -> BearerKey:
    """Return a key to sign in with."""
    return BearerKey(id="k1", name="tablet", created_ms=0, mark=mark)


def cookie(name: str = "waitroom-host-a", ring: KeyRing = RING) -> SessionCookie:
    """Return a store's cookie."""
    return SessionCookie(ring, name, "/", 60)


def begun(key: BearerKey, *, secure: bool = True) -> tuple[str, str]:
    """Return the value and the attributes of a new session's cookie."""
    response = Response()
    cookie().begin(response, "host", key, secure=secure)
    value, _, attributes = response.headers["set-cookie"].partition("=")[2].partition(";")
    return value, attributes


def request(value: str, name: str = "waitroom-host-a") -> Request:
    """Return a request with a cookie."""
    return Request({"type": "http", "headers": [(b"cookie", f"{name}={value}".encode("latin-1"))]})


def test_a_session_is_of_its_key() -> None:
    """The cookie says whose it is, and does not fit a later key with the same id."""
    value, attributes = begun(made("m1"))
    claim = cookie().read(request(value))
    assert claim is not None
    assert ("host", "k1", "m1") == claim[:3]
    assert claim.is_of(made("m1"))
    assert not claim.is_of(made("m2"))
    for word in ("HttpOnly", "SameSite=strict", "Secure", "Max-Age=60", "Path=/"):
        assert word in attributes
    assert "Secure" not in begun(made("m1"), secure=False)[1]


def test_any_other_cookie_is_of_nobody() -> None:
    """A changed character, another name, another secret, or none."""
    value, _ = begun(made("m1"))
    for position, letter in enumerate(value):
        other = value[:position] + ("0" if letter != "0" else "1") + value[position + 1 :]
        assert cookie().read(request(other)) is None, other
    for wrong in ("", "....", ".....", value[:-1], value + "0", "\xe9", "x" * 5_000):
        assert cookie().read(request(wrong)) is None, wrong
    assert cookie("waitroom-host-b").read(request(value, "waitroom-host-b")) is None
    other_ring = KeyRing([b"fedcba9876543210fedcba9876543210"])
    assert cookie(ring=other_ring).read(request(value)) is None


def test_a_session_ends() -> None:
    """After its time the cookie is worthless, even if a browser keeps it."""
    value, _ = begun(made("m1"))
    ends_s = int(value.split(".")[3])
    for past_s, good in ((0, True), (0.5, False)):
        late = replace(cookie(), clock=partial(float, ends_s + past_s))
        assert good == (late.read(request(value)) is not None)


def test_a_form_is_of_one_session() -> None:
    """Two sessions of one key have two CSRF tokens, and neither is the cookie's signature."""
    tokens = set()
    for value in (begun(made("m1"))[0], begun(made("m1"))[0]):
        claim = cookie().read(request(value))
        assert claim is not None
        assert claim.form_token not in value
        tokens.add(claim.form_token)
    first, second = tokens
    check_form_token(first, first)
    for wrong in (second, "", first[:-1], "\ud800"):
        with pytest.raises(Forbidden):
            check_form_token(first, wrong)


def test_signing_out_removes_the_cookie() -> None:
    """It uses the same path, or the browser would keep it."""
    response = Response()
    cookie().end(response, secure=True)
    assert "Max-Age=0" in response.headers["set-cookie"]
    assert "Path=/" in response.headers["set-cookie"]


def test_over_https_no_neighbour_can_set_it() -> None:
    """`__Host-` comes before the plain name from older servers; both are removed at the end."""
    response = Response()
    cookie().begin(response, "host", made("m1"), secure=True)
    assert response.headers["set-cookie"].startswith("__Host-waitroom-host-a=")
    assert "Path=/;" in response.headers["set-cookie"]
    value, _ = begun(made("m1"))
    line = f"waitroom-host-a=planted; __Host-waitroom-host-a={value}"
    shown = Request({"type": "http", "headers": [(b"cookie", line.encode("latin-1"))]})
    assert cookie().read(shown) is not None
    ended = Response()
    cookie().end(ended, secure=True)
    assert 2 == len(ended.headers.getlist("set-cookie"))
