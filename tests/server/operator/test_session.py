"""Who gets into the operator page: the sign-in, its cookie, and what forms need."""

from __future__ import annotations

import time
from collections.abc import Callable

import httpx2
import pytest

from tests.server.operator.forms import token_of
from tests.support.servers import wait_for
from tests.support.serving import ADMIN_KEY, Serving


@pytest.mark.parametrize("path", ["", "/rooms/x", "/rooms/x/tickets", "/audit", "/rooms/x/confirm"])
def test_strangers_are_asked_to_sign_in(http: httpx2.Client, path: str) -> None:
    """Nothing is shown without a session; a refreshing script learns it from the status."""
    answer = http.get(f"/admin{path}")
    assert (303, "/admin/sign-in") == (answer.status_code, answer.headers["location"])
    assert 401 == http.get(f"/admin{path}?live=1").status_code


def test_the_cookie(served: Serving) -> None:
    """It is only for this host's operator page, no script reads it, no other site sends it."""
    with httpx2.Client(base_url=served.base) as client:
        cookie = client.post("/admin/sign-in", data={"key": ADMIN_KEY}).headers["set-cookie"]
    assert cookie.startswith("waitroom-admin=api.settings.")
    for word in ("HttpOnly", "Max-Age=43200", "Path=/admin", "SameSite=strict"):
        assert word in cookie
    assert ADMIN_KEY not in cookie
    assert "Secure" not in cookie  # plain http: a browser would throw it away


@pytest.mark.parametrize(
    "change", [lambda c: c.swapcase(), lambda _: "", lambda c: c + "a", lambda _: "a.b.c.d.e"]
)
def test_forged_cookies(served: Serving, page: httpx2.Client, change: Callable[[str], str]) -> None:
    """A cookie that we did not sign is not a session."""
    forged = change(page.cookies["waitroom-admin"])
    with httpx2.Client(base_url=served.base, cookies={"waitroom-admin": forged}) as client:
        assert 303 == client.get("/admin").status_code


def test_bad_keys(http: httpx2.Client) -> None:
    """A wrong key gets the form again, with the reason, and no cookie."""
    answer = http.post("/admin/sign-in", data={"key": "wr_no"})
    assert (401, False) == (answer.status_code, "set-cookie" in answer.headers)
    assert "This key is not known" in answer.text


def test_a_session_ends_with_its_key(served: Serving, operator: httpx2.Client) -> None:
    """Revoking a key signs out everybody who signed in with it, within two seconds."""
    made = operator.post("/v1/admin/keys", json={"name": "temp", "role": "viewer"}).json()
    with httpx2.Client(base_url=served.base) as client:
        client.post("/admin/sign-in", data={"key": made["key"]})
        assert 200 == client.get("/admin").status_code
        operator.delete(f"/v1/admin/keys/{made['id']}").raise_for_status()
        asked = deleted = time.monotonic()
        while client.get("/admin").status_code != 303:
            assert asked < deleted + 2.5  # time of the request: a slow machine may answer later
            time.sleep(0.05)
            asked = time.monotonic()


def test_signing_out(page: httpx2.Client) -> None:
    """Signing out removes the cookie; without the token nobody is signed out."""
    assert 403 == page.post("/admin/sign-out").status_code
    token = token_of(page.get("/admin").text)
    answer = page.post("/admin/sign-out", data={"token": token})
    assert 303 == answer.status_code
    assert "Max-Age=0" in answer.headers["set-cookie"]


@pytest.mark.attack
def test_a_copy_of_a_cookie_ends_with_the_sign_out(served: Serving, page: httpx2.Client) -> None:
    """A copied cookie is signed out too; a colleague's session continues."""
    copied = {"waitroom-admin": page.cookies["waitroom-admin"]}
    with (
        httpx2.Client(base_url=served.base, cookies=copied) as thief,
        httpx2.Client(base_url=served.base) as colleague,
    ):
        colleague.post("/admin/sign-in", data={"key": ADMIN_KEY})
        shown = thief.get("/admin")
        assert 200 == shown.status_code
        page.post("/admin/sign-out", data={"token": token_of(shown.text)})
        wait_for(lambda: thief.get("/admin").status_code == 303, "the copy is signed out")
        form = {"do": "mode", "mode": "paused", "token": token_of(shown.text)}
        assert 303 == thief.post("/admin/rooms/x/do", data=form).status_code
        assert 200 == colleague.get("/admin").status_code


def test_forms_of_other_sites(page: httpx2.Client, room: str) -> None:
    """A form without the token, or from another origin, changes nothing."""
    token = token_of(page.get("/admin").text)
    form = {"do": "mode", "mode": "paused", "version": "1", "token": token}
    url = f"/admin/rooms/{room}/do"
    assert 403 == page.post(url, data=form | {"token": "0" * 32}).status_code
    assert 403 == page.post(url, data=form, headers={"origin": "https://evil.example"}).status_code
    assert 403 == page.post(url, data=form, headers={"origin": "null"}).status_code
    assert 403 == page.post(url, data=form, headers={"sec-fetch-site": "cross-site"}).status_code
    ours = str(page.base_url).rstrip("/")
    assert 303 == page.post(url, data=form, headers={"origin": ours}).status_code


def test_a_viewer_may_only_look(served: Serving, operator: httpx2.Client, room: str) -> None:
    """A viewer sees no levers, and cannot use them."""
    made = operator.post("/v1/admin/keys", json={"name": "v", "role": "viewer"}).json()
    with httpx2.Client(base_url=served.base) as client:
        client.post("/admin/sign-in", data={"key": made["key"]})
        shown = client.get(f"/admin/rooms/{room}").text
        assert "View only" in shown
        assert "/confirm" not in shown
        form = {"do": "mode", "mode": "paused", "token": token_of(shown)}
        assert 403 == client.post(f"/admin/rooms/{room}/do", data=form).status_code
