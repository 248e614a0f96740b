"""The console over HTTP: who gets in, what the list shows, and two hosts at once."""

from __future__ import annotations

import httpx2
import pytest

from tests.server.desk.conftest import Shop, open_shop
from tests.server.desk.forms import hidden, sign_in
from tests.support.serving import ADMIN_KEY


def test_the_door(shop: Shop, http: httpx2.Client, operator: httpx2.Client) -> None:
    """Only a key of this store opens its console, or an API key."""
    door = f"/desk/{shop.id}/host/sign-in"
    stranger = http.get(f"/desk/{shop.id}/host")
    assert (303, door) == (stranger.status_code, stranger.headers["location"])
    assert 401 == http.get(f"/desk/{shop.id}/host?live=1").status_code
    with open_shop(http, operator) as other:
        assert 403 == sign_in(shop, http, other.key).status_code
        assert sign_in(shop, http, "wrh_x_y").status_code in (401, 429)
        answer = sign_in(shop, http)
        assert (303, f"/desk/{shop.id}/host") == (answer.status_code, answer.headers["location"])
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert shop.key.lower() not in cookie
        assert 200 == http.get(f"/desk/{shop.id}/host").status_code
        assert 303 == http.get(f"/desk/{other.id}/host").status_code
        assert 303 == sign_in(other, http, ADMIN_KEY).status_code
        assert 200 == http.get(f"/desk/{other.id}/host").status_code


def test_signing_out(shop: Shop, http: httpx2.Client) -> None:
    """It ends the session in this browser."""
    sign_in(shop, http)
    page = http.get(f"/desk/{shop.id}/host").text
    http.post(f"/desk/{shop.id}/host/sign-out", data={"token": hidden(page, "token")})
    assert 303 == http.get(f"/desk/{shop.id}/host").status_code


def test_a_form_needs_its_token(shop: Shop, http: httpx2.Client) -> None:
    """A session alone is not enough: the form must come from its own page."""
    shop.join()
    sign_in(shop, http)
    data = {"type": "dine-in", "token": "x"}
    assert 403 == http.post(f"/desk/{shop.id}/host/call-next", data=data).status_code
    data["token"] = hidden(http.get(f"/desk/{shop.id}/host").text, "token")
    headers = {"origin": "https://evil.example"}
    refused = http.post(f"/desk/{shop.id}/host/call-next", data=data, headers=headers)
    assert 403 == refused.status_code
    assert 303 == http.post(f"/desk/{shop.id}/host/call-next", data=data).status_code
    assert "CALLED" == shop.line()["parties"][0]["status"]


def test_the_list(shop: Shop, http: httpx2.Client) -> None:
    """Names are escaped and phone numbers masked."""
    shop.join(name="<script>x</script>", phone="010-0000-1234", note="a & b")
    sign_in(shop, http)
    page = http.get(f"/desk/{shop.id}/host").text
    assert "&lt;script&gt;x" in page
    assert "<script>x" not in page
    assert "a &amp; b" in page
    assert "****" in page
    assert "0000-1234" not in page
    assert "00001234" not in page


def test_what_a_host_saw(shop: Shop, http: httpx2.Client) -> None:
    """A form from an older list is refused, and shows who it is now; a repeat is not refused."""
    shop.join(name="Kim")
    sign_in(shop, http)
    page = http.get(f"/desk/{shop.id}/host").text
    (party,) = shop.line()["parties"]
    data = {"token": hidden(page, "token"), "party": party["id"], "revision": party["revision"]}
    call = data | {"do": "call", "op": "one-of-a-kind-" + "x" * 8}
    asks = {"accept": "application/json"}
    for _ in range(3):
        answer = http.post(f"/desk/{shop.id}/host/act", data=call, headers=asks)
        assert (200, "1 Kim called") == (answer.status_code, answer.json()["said"])
    late = http.post(f"/desk/{shop.id}/host/act", data=data | {"do": "cancel"}, headers=asks)
    assert 409 == late.status_code
    assert "1 Kim is now: Called (by front tablet at " in late.json()["said"]
    plain = http.post(f"/desk/{shop.id}/host/act", data=data | {"do": "cancel"})
    assert 409 == plain.status_code
    assert "1 Kim is now: Called" in plain.text


def test_call_next_that_changed(shop: Shop, http: httpx2.Client) -> None:
    """The answer says who is next now, and nobody is called by mistake."""
    for name in ("Kim", "Lee"):
        shop.join(name=name)
    sign_in(shop, http)
    data = {"token": hidden(http.get(f"/desk/{shop.id}/host").text, "token"), "type": "dine-in"}
    first, _ = shop.line()["parties"]
    shop.do("cancel", first["id"])
    asks = {"accept": "application/json"}
    url = f"/desk/{shop.id}/host/call-next"
    answer = http.post(url, data=data | {"expected": str(first["id"])}, headers=asks)
    assert 409 == answer.status_code
    assert "Next is 2 Lee, 2 people. Nobody was called." in answer.json()["said"]
    nobody = http.post(url, data=data | {"fits": "1"}, headers=asks)
    assert (409, "Nobody waiting fits.") == (nobody.status_code, nobody.json()["said"])
    assert ["WAITING"] == [party["status"] for party in shop.line()["parties"]]


def test_a_viewer_only_looks(shop: Shop, http: httpx2.Client, operator: httpx2.Client) -> None:
    """An API key that may not act sees the list without buttons."""
    shop.join(name="Kim")
    key = operator.post("/v1/admin/keys", json={"name": "v", "role": "viewer"}).json()["key"]
    sign_in(shop, http, key)
    page = http.get(f"/desk/{shop.id}/host").text
    assert "Kim" in page
    assert 'name="do"' not in page
    data = {"token": hidden(page, "token"), "type": "dine-in"}
    assert 403 == http.post(f"/desk/{shop.id}/host/call-next", data=data).status_code


def test_a_change_of_the_store_is_audited(
    shop: Shop, http: httpx2.Client, operator: httpx2.Client
) -> None:
    """The audit log says who paused a store on the console, as it does for the API."""
    sign_in(shop, http)
    page = http.get(f"/desk/{shop.id}/host").text
    data = {"token": hidden(page, "token"), "mode": "paused", "reason": "break"}
    assert 303 == http.post(f"/desk/{shop.id}/host/store", data=data).status_code
    entries = operator.get("/v1/admin/audit", params={"limit": 50}).json()["entries"]
    mine = [entry for entry in entries if entry["detail"].get("store") == shop.id]
    changes = [entry for entry in mine if entry["action"] == "store.change"]
    assert [("front tablet", "host")] == [(entry["key_name"], entry["role"]) for entry in changes]
    assert {"old": "open", "new": "paused"} == changes[0]["detail"]["changed"]["mode"]


@pytest.mark.attack
def test_a_sign_in_is_recorded(shop: Shop, http: httpx2.Client, operator: httpx2.Client) -> None:
    """The log of sign-ins says which host signed in, and to which store."""
    sign_in(shop, http)
    entries = operator.get("/v1/admin/audit", params={"log": "sign_ins"}).json()["entries"]
    (entry,) = [entry for entry in entries if entry["detail"].get("store") == shop.id]
    assert ("sign_in", "host", "page") == (entry["action"], entry["role"], entry["way"])
    assert shop.key.split("_")[1] == entry["key_id"]
