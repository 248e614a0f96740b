"""Named users on a real server: who gets in by a proxy's header, and who does not."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from tests.server.operator.forms import token_of
from tests.support.serving import ADMIN_KEY, Serving, serving

PROXY_SECRET = "between-proxy-and-waitroom-" * 2
NAME, GROUPS, SECRET = "x-auth-request-email", "x-auth-request-groups", "x-waitroom-proxy-secret"
ROLES = (
    "alice@example.com=admin,oliver@example.com=operator,*@example.com=viewer,group:ops=operator"
)
ALICE, VERA, EVE = "alice@example.com", "vera@example.com", "eve@evil.example"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Run a server that trusts a proxy at 127.0.0.1."""
    with serving(
        tmp_path_factory.mktemp("users"),
        user_header="X-Auth-Request-Email",
        user_groups_header="X-Auth-Request-Groups",
        user_peers="127.0.0.1/32",
        user_secret=PROXY_SECRET,
        user_roles=ROLES,
        user_sign_out_url="/oauth2/sign_out",
    ) as running:
        yield running


def through_proxy(name: str, **more: str) -> dict[str, str]:
    """Return the headers that the proxy sends for somebody."""
    return {NAME: name, SECRET: PROXY_SECRET} | more


@pytest.fixture
def browser(served: Serving) -> Iterator[httpx2.Client]:
    """Return a browser without any proxy header."""
    with httpx2.Client(base_url=served.base, timeout=60) as client:
        yield client


def is_let_in(answer: httpx2.Response) -> bool:
    """Tell whether somebody sees the page; strangers are sent to the sign-in."""
    assert (answer.status_code, answer.headers.get("location")) in (
        (200, None),
        (303, "/admin/sign-in"),
    )
    return answer.status_code == 200


def test_a_named_user_needs_no_key(served: Serving, browser: httpx2.Client) -> None:
    """They see the page and act under their name; one sign-in is logged, forms need a token."""
    room, head = served.new_room(), through_proxy(ALICE)
    shown = browser.get(f"/admin/rooms/{room}", headers=head).text
    assert f"{ALICE}</b> <small>admin</small>" in shown
    assert 'href="/oauth2/sign_out"' in shown
    assert "/admin/sign-out" not in shown
    assert not browser.cookies
    form = {"text": "hello", "token": token_of(shown)}
    url = f"/admin/rooms/{room}/notes"
    assert 403 == browser.post(url, data={"text": "hello"}, headers=head).status_code
    assert 303 == browser.post(url, data=form, headers=head).status_code
    with served.operator() as operator:
        log = operator.get("/v1/admin/audit", params={"room": room}).json()["entries"]
        entry = log[0]
        named = (entry["key_id"], entry["key_name"], entry["role"], entry["way"])
        assert (f"user:{ALICE}", ALICE, "admin", "page") == named
        signed_in = operator.get("/v1/admin/audit", params={"log": "sign_ins"}).json()["entries"]
        assert 1 == sum(entry["key_id"] == f"user:{ALICE}" for entry in signed_in)


def test_keys_work_beside_it(browser: httpx2.Client) -> None:
    """Anybody without a name signs in with a key; so may somebody without a role."""
    assert not is_let_in(browser.get("/admin"))
    refused = browser.get("/admin", headers=through_proxy(EVE))
    assert (403, True) == (refused.status_code, f"{EVE} has no role here" in refused.text)
    browser.post("/admin/sign-in", data={"key": ADMIN_KEY})
    assert is_let_in(browser.get("/admin"))
    assert is_let_in(browser.get("/admin", headers=through_proxy(EVE)))
    shown = browser.get("/admin", headers=through_proxy(VERA)).text
    assert f"{VERA}</b> <small>viewer</small>" in shown


def test_a_role_too_low_is_told(served: Serving, browser: httpx2.Client) -> None:
    """A viewer is offered no actions, and told by name which role they would need."""
    room, head = served.new_room(), through_proxy(VERA)
    assert "/settings" not in browser.get(f"/admin/rooms/{room}", headers=head).text
    refused = browser.get(f"/admin/rooms/{room}/settings", headers=head)
    assert 403 == refused.status_code
    assert f"this needs the role operator; {VERA} is a viewer" in refused.text


@pytest.mark.attack(7)
@pytest.mark.parametrize(
    "sent",
    [
        {NAME: ALICE},
        {NAME: ALICE, SECRET: ""},
        {NAME: ALICE, SECRET: PROXY_SECRET[:-1]},
        {NAME: ALICE, SECRET: PROXY_SECRET.upper()},
        {NAME: f"{ALICE}, {VERA}", SECRET: PROXY_SECRET},
        {"x_auth_request_email": ALICE, SECRET: PROXY_SECRET},
        {"x-forwarded-email": ALICE, SECRET: PROXY_SECRET},
    ],
)
def test_a_spoofed_header(browser: httpx2.Client, sent: dict[str, str]) -> None:
    """A name without the secret, with another, or in another shape opens nothing."""
    assert not is_let_in(browser.get("/admin", headers=sent))


@pytest.mark.attack(2)
def test_a_secret_in_the_address(browser: httpx2.Client) -> None:
    """The secret counts only as a header, where no log and no browser history keeps it."""
    for name in (SECRET, "user_secret"):
        answer = browser.get("/admin", params={name: PROXY_SECRET}, headers={NAME: ALICE})
        assert not is_let_in(answer)


@pytest.mark.attack(4)
def test_another_peer(served: Serving) -> None:
    """Only the direct peer counts: no header turns somebody else into a listed proxy."""
    transport = httpx2.HTTPTransport(local_address="127.0.0.2")
    claims = [dict.fromkeys(names, "127.0.0.1") for names in ((), ("x-forwarded-for",))]
    claims += [{"x-real-ip": "127.0.0.1"}, {"forwarded": "for=127.0.0.1"}]
    with httpx2.Client(base_url=served.base, transport=transport, timeout=60) as elsewhere:
        for claim in claims:
            answer = elsewhere.get("/admin", headers=through_proxy(ALICE) | claim)
            assert not is_let_in(answer)
    assert PROXY_SECRET not in served.said()
    assert "its peer is not listed in user_peers" in served.said()


@pytest.mark.attack(2)
def test_two_values_make_nobody_higher(browser: httpx2.Client) -> None:
    """A second name, or a second list of groups, sent through a careless proxy."""
    secret = (SECRET, PROXY_SECRET)
    for pair in (
        [(NAME, VERA), (NAME, ALICE), secret],
        [(NAME, VERA), (GROUPS, "staff"), (GROUPS, "ops"), secret],
    ):
        assert not is_let_in(browser.get("/admin", headers=httpx2.Headers(pair)))


@pytest.mark.attack(4)
def test_forms_of_other_sites(served: Serving, browser: httpx2.Client) -> None:
    """The proxy names the browser's user, so a form from another site is still refused."""
    room, head = served.new_room(), through_proxy(ALICE)
    form = {"text": "x", "token": token_of(browser.get(f"/admin/rooms/{room}", headers=head).text)}
    for more in (
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
    ):
        answer = browser.post(f"/admin/rooms/{room}/notes", data=form, headers=head | more)
        assert 403 == answer.status_code
    oliver = through_proxy("oliver@example.com")
    other = token_of(browser.get(f"/admin/rooms/{room}", headers=oliver).text)
    answer = browser.post(f"/admin/rooms/{room}/notes", data=form | {"token": other}, headers=head)
    assert 403 == answer.status_code


@pytest.mark.attack
def test_a_lost_role_is_lost_at_once(served: Serving, browser: httpx2.Client) -> None:
    """Somebody removed from the group cannot send a form that they still have open."""
    room, name = served.new_room(), "carol@other.example"
    head = through_proxy(name, **{GROUPS: "staff, ops"})
    shown = browser.get(f"/admin/rooms/{room}", headers=head)
    assert f"{name}</b> <small>operator</small>" in shown.text
    form = {"text": "x", "token": token_of(shown.text)}
    url = f"/admin/rooms/{room}/notes"
    assert 303 == browser.post(url, data=form, headers=head).status_code
    gone = through_proxy(name, **{GROUPS: "staff"})
    assert 403 == browser.post(url, data=form, headers=gone).status_code
    assert 403 == browser.get("/admin", headers=gone).status_code


@pytest.mark.attack(3)
def test_the_api_and_visitors_know_no_users(served: Serving, browser: httpx2.Client) -> None:
    """The header only opens the page: the API needs a key, and so does joining for somebody."""
    room, head = served.new_room(), through_proxy(ALICE)
    assert 401 == browser.get("/v1/admin/rooms", headers=head).status_code
    assert 401 == browser.post("/v1/admin/keys", headers=head, json={"name": "x"}).status_code
    body = {"visitor": "somebody-else"}
    joined = browser.post(f"/v1/rooms/{room}/tickets", headers=head, json=body)
    assert joined.status_code in (401, 403)
