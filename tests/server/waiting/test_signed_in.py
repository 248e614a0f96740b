"""A gate hands somebody over: which forms count, whose place it becomes, what the page says."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator

import httpx2
import pytest
from redis.asyncio import Redis

from tests.support.serving import SECRET, Serving
from waitroom.engine import keys
from waitroom.tickets import KeyRing

RING = KeyRing.from_text(SECRET)
SHOP = "https://shop.example"
SAME_SITE = {"origin": SHOP, "sec-fetch-site": "same-site", "sec-fetch-mode": "navigate"}
CROSS_SITE = SAME_SITE | {"sec-fetch-site": "cross-site"}


@pytest.fixture
def room(served: Serving) -> str:
    """Return a room that leads to a shop."""
    return served.new_room(mode="paused", go_to=f"{SHOP}/concert")


@pytest.fixture
def browser(served: Serving) -> Iterator[httpx2.Client]:
    """Return a client that keeps cookies."""
    with httpx2.Client(base_url=served.base, timeout=60) as client:
        yield client


def claim_of(room: str, user: str = "ann", late_s: float = 0) -> str:
    """Return a claim as a gate signs it."""
    key = RING.claim_key(room)
    return key.claim(room, key.account(room, user), time.time() - late_s)


def send(
    client: httpx2.Client, room: str, claim: str, headers: dict[str, str] = SAME_SITE
) -> httpx2.Response:
    """Send the form of a gate."""
    return client.post(f"/rooms/{room}/claim", data={"claim": claim}, headers=headers)


def send_again(
    client: httpx2.Client, room: str, page: httpx2.Response, headers: dict[str, str]
) -> httpx2.Response:
    """Send the form of our own page, with all of its fields."""
    assert 200 == page.status_code
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]+)">', page.text))
    return client.post(f"/rooms/{room}/claim", data=fields, headers=headers)


def forged(claim: str) -> str:
    """Return a claim with another last letter, which one in 16 has by chance."""
    return claim[:-1] + ("A" if claim[-1] != "A" else "Q")


def my_id(client: httpx2.Client, room: str) -> str:
    """Return the id of the ticket that a browser holds."""
    view = client.get(f"/v1/rooms/{room}/tickets/me").json()
    return RING.read(room, view["ticket"]).id


def face(client: httpx2.Client, room: str, query: str = "") -> str:
    """Return the face of the page that a browser sees."""
    page = client.get(f"/rooms/{room}{query}", headers={"accept-language": "en"})
    shown = re.search(r'<section data-face="(\w+)">', page.text)
    assert shown is not None, page.text
    return shown[1]


def test_the_place_is_the_accounts(browser: httpx2.Client, room: str) -> None:
    """The ticket comes as a cookie, and the page's address has neither claim nor ticket."""
    answer = browser.post(
        f"/rooms/{room}/claim",
        params={"return": f"{SHOP}/concert?row=7", "browser": "x"},
        data={"claim": claim_of(room)},
        headers=SAME_SITE,
    )
    assert 303 == answer.status_code
    where = answer.headers["location"]
    assert f"/rooms/{room}?return=https%3A%2F%2Fshop.example%2Fconcert%3Frow%3D7" == where
    assert RING.claim_key(room).account(room, "ann") == my_id(browser, room)
    assert "waiting" == face(browser, room)


@pytest.mark.attack
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "https://shop.example.evil"])
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_form_of_any_other_page(
    browser: httpx2.Client, room: str, origin: str, site: str
) -> None:
    """It is refused, and the visitor keeps their place: nobody puts another into their own."""
    browser.post(f"/rooms/{room}/join")
    mine = my_id(browser, room)
    headers = {"origin": origin, "sec-fetch-site": site, "sec-fetch-mode": "navigate"}
    answer = send(browser, room, claim_of(room, "evil"), headers)
    assert (403, "forbidden") == (answer.status_code, answer.json()["code"])
    assert mine == my_id(browser, room)


def test_a_site_of_its_own(browser: httpx2.Client, room: str) -> None:
    """From another site no cookie comes: our page sends the form again, and then it counts."""
    claim = claim_of(room)
    answer = send(browser, room, claim, CROSS_SITE)
    assert (200, None) == (answer.status_code, answer.headers.get("set-cookie"))
    assert f'name="claim" value="{claim}"' in answer.text
    nonce = re.search(r"script-src 'nonce-([\w-]+)'", answer.headers["content-security-policy"])
    assert nonce is not None
    assert f'<script nonce="{nonce[1]}">' in answer.text
    assert "<button>" in answer.text  # without a script
    again = send(browser, room, claim, {"sec-fetch-site": "same-origin"})
    assert 303 == again.status_code
    assert "waiting" == face(browser, room)


@pytest.mark.attack
@pytest.mark.parametrize("headers", [{}, {"origin": SHOP}], ids=["nothing", "origin"])
def test_without_sec_fetch_site(
    browser: httpx2.Client, served: Serving, room: str, headers: dict[str, str]
) -> None:
    """Over plain http nobody knows whether cookies came: our page asks, and the place is kept."""
    browser.post(f"/rooms/{room}/join")
    with httpx2.Client(base_url=served.base, timeout=60) as bare:  # no cookie: SameSite=Lax
        page = send(bare, room, claim_of(room), headers)
    assert 0 == page.text.count("waitroom-ticket")
    assert "set-cookie" not in page.headers
    answer = send_again(browser, room, page, {"origin": served.base})
    assert 303 == answer.status_code
    assert RING.claim_key(room).account(room, "ann") == my_id(browser, room)
    view = browser.get(f"/v1/rooms/{room}/tickets/me").json()
    assert (1, 1) == (view["position"], view["waiting"])


def test_the_form_is_sent_once_more_and_no_more(browser: httpx2.Client, room: str) -> None:
    """Behind a proxy that rewrites Host our own origin looks like the site's: nobody loops."""
    headers = {"origin": SHOP}
    page = send(browser, room, claim_of(room), headers)
    assert 303 == send_again(browser, room, page, headers).status_code
    assert "waiting" == face(browser, room)


def test_our_own_origin_over_plain_http(browser: httpx2.Client, served: Serving, room: str) -> None:
    """A site on our own host needs no second form: its cookies came."""
    assert 303 == send(browser, room, claim_of(room), {"origin": served.base}).status_code
    assert "waiting" == face(browser, room)


@pytest.mark.attack
@pytest.mark.parametrize("bad", ["used", "expired", "another room", "forged", "empty"])
def test_claims_that_do_not_count(
    browser: httpx2.Client, served: Serving, room: str, bad: str
) -> None:
    """No place and no cookie: the page shows what a stranger sees."""
    claim = {
        "used": claim_of(room),
        "expired": claim_of(room, late_s=46),
        "another room": claim_of(served.new_room()),
        "forged": forged(claim_of(room)),
        "empty": "",
    }[bad]
    if bad == "used":
        with httpx2.Client(base_url=served.base) as other:
            assert "set-cookie" in send(other, room, claim).headers
    answer = send(browser, room, claim)
    assert 303 == answer.status_code
    assert "waitroom-ticket" not in answer.headers.get("set-cookie", "")
    assert "join" == face(browser, room)


def test_waited_before_signing_in(browser: httpx2.Client, served: Serving, room: str) -> None:
    """The earlier place becomes the account's, and the later one on another device goes."""
    browser.post(f"/rooms/{room}/join")
    old = my_id(browser, room)
    with httpx2.Client(base_url=served.base, timeout=60) as phone:
        phone.post(f"/rooms/{room}/join")
        send(phone, room, claim_of(room))
        assert 2 == phone.get(f"/v1/rooms/{room}/tickets/me").json()["position"]
        send(browser, room, claim_of(room))
        assert my_id(browser, room) == my_id(phone, room) != old
        for client in (browser, phone):
            view = client.get(f"/v1/rooms/{room}/tickets/me").json()
            assert (1, 1) == (view["position"], view["waiting"])


@pytest.mark.attack
def test_somebody_else_signs_in(browser: httpx2.Client, served: Serving, room: str) -> None:
    """An account's place cannot be handed on: who signs in with its ticket gets a place behind."""
    send(browser, room, claim_of(room, "ann"))
    with httpx2.Client(base_url=served.base, timeout=60) as phone:
        send(phone, room, claim_of(room, "ann"))
        send(browser, room, claim_of(room, "ben"))
        assert RING.claim_key(room).account(room, "ben") == my_id(browser, room)
        assert 2 == browser.get(f"/v1/rooms/{room}/tickets/me").json()["position"]
        assert 1 == phone.get(f"/v1/rooms/{room}/tickets/me").json()["position"]
    send(browser, room, claim_of(room, "ann"))
    view = browser.get(f"/v1/rooms/{room}/tickets/me").json()
    assert (1, 2) == (view["position"], view["waiting"])


def test_a_room_that_needs_identity(browser: httpx2.Client, served: Serving) -> None:
    """The page says to sign in and leads to the site; an API join is refused in these words."""
    room = served.new_room(mode="paused", go_to=f"{SHOP}/concert", needs="identity")
    page = browser.get(f"/rooms/{room}?return={SHOP}/concert/7", headers={"accept-language": "ko"})
    assert "먼저 로그인해 주세요" in page.text
    assert f'<a class="big" href="{SHOP}/concert/7">' in page.text
    refused = browser.post(f"/v1/rooms/{room}/tickets")
    assert (403, "identity_required") == (refused.status_code, refused.json()["code"])
    assert "sign_in" == face(browser, room)
    joined = browser.post(f"/v1/rooms/{room}/tickets", json={"claim": claim_of(room)})
    assert 201 == joined.status_code
    send(browser, room, claim_of(room))
    assert "waiting" == face(browser, room)
    browser.post(f"/rooms/{room}/leave")
    again = browser.post(f"/rooms/{room}/join")  # with the button of a page that is still open
    assert "sign_in" == face(browser, room, again.headers["location"].partition(room)[2])


@pytest.mark.attack
@pytest.mark.parametrize("key", [{}, {"idempotency-key": "0123456789abcdef"}], ids=["bare", "key"])
@pytest.mark.parametrize("how", ["new", "returning"])
async def test_a_process_that_has_not_heard_of_it(
    browser: httpx2.Client, served: Serving, room: str, key: dict[str, str], how: str
) -> None:
    """The room itself refuses strangers, if it needs identity and this process does not know."""
    path = f"/v1/rooms/{room}/tickets"
    assert 201 == browser.post(path).status_code
    browser.delete(f"{path}/me")
    if how == "new":
        browser.cookies.clear()
    socket = json.loads((served.data_dir / "server.json").read_bytes())["socket"]
    async with Redis(unix_socket_path=socket) as redis:  # without a new version, nobody notices
        await redis.hset(keys.room_key(room, "config"), "needs", "identity")
    refused = browser.post(path, headers=key)
    assert (403, "identity_required") == (refused.status_code, refused.json()["code"])
    assert 201 == browser.post(path, json={"claim": claim_of(room)}).status_code


def test_a_room_that_lets_in_once(browser: httpx2.Client, served: Serving) -> None:
    """Who has been inside is told so, by the page and by the API."""
    room = served.new_room(needs="identity", once=True, go_to=f"{SHOP}/concert")
    send(browser, room, claim_of(room))
    assert 303 == browser.post(f"/rooms/{room}/enter").status_code
    browser.post(f"/rooms/{room}/finish")
    answer = send(browser, room, claim_of(room))
    assert f"/rooms/{room}?no=entered" == answer.headers["location"]
    assert "entered" == face(browser, room, "?no=entered")
    refused = browser.post(f"/v1/rooms/{room}/tickets", json={"claim": claim_of(room)})
    assert (403, "entered_before") == (refused.status_code, refused.json()["code"])


@pytest.mark.parametrize("bad", ["used", "expired", "another room"])
def test_an_api_join_with_a_bad_claim(
    browser: httpx2.Client, served: Serving, room: str, bad: str
) -> None:
    """It is refused with 403 `claim_refused`, and nobody joins."""
    claim = {
        "used": claim_of(room),
        "expired": claim_of(room, late_s=46),
        "another room": claim_of(served.new_room()),
    }[bad]
    path = f"/v1/rooms/{room}/tickets"
    if bad == "used":
        assert 201 == browser.post(path, json={"claim": claim}).status_code
    with httpx2.Client(base_url=served.base) as thief:
        refused = thief.post(path, json={"claim": claim})
    assert (403, "claim_refused") == (refused.status_code, refused.json()["code"])
    with served.operator() as operator:  # the public number may be a second old
        stats = operator.get(f"/v1/admin/rooms/{room}/stats").json()
    assert int(bad == "used") == stats["waiting"]


def test_an_account_is_found_by_its_user(
    browser: httpx2.Client, served: Serving, room: str
) -> None:
    """An operator who knows the site's user id finds the place."""
    send(browser, room, claim_of(room, "ann@example.com"))
    with served.operator() as operator:
        found = operator.post("/v1/admin/find", json={"q": "ann@example.com"}).json()
    assert my_id(browser, room) in str(found)
