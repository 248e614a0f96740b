"""The guest's pages over HTTP: forms, headers, languages, and what strangers may not do."""

from __future__ import annotations

import re

import httpx2
import pytest

from tests.server.desk.conftest import Shop, open_shop
from tests.server.desk.forms import form, hidden, joined, sign_in

PLACE = re.compile(r"/desk/[^/]+/p/[^/?]+$")


def test_join_and_see_the_place(shop: Shop, http: httpx2.Client) -> None:
    """A form takes a place and leads to its page, which shows the number and the wait."""
    shop.join()
    page = http.get(f"/desk/{shop.id}?code={shop.code}").text
    assert "1 party waiting" in page
    location = joined(shop, http, name="Kim")
    assert PLACE.match(location)
    place = http.get(location).text
    assert "1 party ahead" in place
    assert "of 2 parties waiting" in place
    assert "about 30 min" in place
    (_, party) = shop.line()["parties"]
    assert ("Kim", 2, "on_site") == (party["name"], party["size"], party["source"])


def test_from_elsewhere(shop: Shop, http: httpx2.Client) -> None:
    """Anybody who did not come by the poster is not at the store yet."""
    assert 303 == http.post(f"/desk/{shop.id}", data=form()).status_code
    assert "remote" == shop.line()["parties"][0]["source"]


@pytest.mark.attack
def test_nobody_is_at_the_store_because_they_say_so(shop: Shop, http: httpx2.Client) -> None:
    """Neither the old address nor a made-up code makes a guest count as on site."""
    assert "code" not in http.get(f"/desk/{shop.id}?here=1").text
    for claim in ({"here": "1"}, {"code": "1"}, {"code": shop.code[:-1]}, {"code": "é" * 20}):
        assert 303 == http.post(f"/desk/{shop.id}", data=form(**claim)).status_code
    assert {"remote"} == {party["source"] for party in shop.line()["parties"]}


@pytest.mark.attack
def test_one_address_cannot_bury_a_store(http: httpx2.Client, operator: httpx2.Client) -> None:
    """After the store's limit the form says so; a host can still add somebody who is there."""
    with open_shop(http, operator, joins_per_hour=2) as shop:
        for _ in range(2):
            assert 303 == http.post(f"/desk/{shop.id}", data=form()).status_code
        refused = http.post(f"/desk/{shop.id}", data=form())
        assert (429, True) == (refused.status_code, "from this network" in refused.text)
        walk_in = shop.host.post(f"{shop.path}/line", json={"type": "dine-in", "size": 2})
        assert 201 == walk_in.status_code
        assert 3 == len(shop.numbers())


@pytest.mark.attack
def test_a_number_has_one_place(shop: Shop, http: httpx2.Client) -> None:
    """The second form is refused at its field, and reveals nothing about the first party."""
    joined(shop, http, name="Kim Bo", phone="010-1234-5678")
    refused = http.post(f"/desk/{shop.id}", data=form(phone="+82 10 1234 5678"))
    assert 409 == refused.status_code
    assert 'id="phone-wrong"' in refused.text
    for secret in ("Kim Bo", "set-cookie", "/p/"):  # no token holds a blank by chance
        assert secret not in refused.text.split("<form", 1)[1]
    assert "set-cookie" not in refused.headers
    assert [1] == shop.numbers()


def test_numbers_of_the_country(shop: Shop, http: httpx2.Client, operator: httpx2.Client) -> None:
    """Forms for guests and hosts show the local number format; the list uses it too."""
    operator.patch(shop.path, json={"country": "US"}).raise_for_status()
    assert 'placeholder="(201) 555-0123"' in http.get(f"/desk/{shop.id}").text
    refused = http.post(f"/desk/{shop.id}", data=form(phone="010-1234-5678"))
    assert (422, True) == (refused.status_code, "such as (201) 555-0123" in refused.text)
    joined(shop, http, name="Kim", phone="(415) 555-0100")
    assert ["(***) ***-0100"] == [party["phone"] for party in shop.line()["parties"]]
    sign_in(shop, http)
    console = http.get(f"/desk/{shop.id}/host").text
    assert (True, True) == ('placeholder="(201) 555-0123"' in console, "(***) ***-0100" in console)


def test_a_form_sent_twice_is_one_party(shop: Shop, http: httpx2.Client) -> None:
    """An impatient second tap gets the same place."""
    op = hidden(http.get(f"/desk/{shop.id}").text, "op")
    places = {joined(shop, http, op=op) for _ in range(3)}
    assert 1 == len(places)
    assert [1] == shop.numbers()


def test_what_is_wrong_is_said_at_its_field(shop: Shop, http: httpx2.Client) -> None:
    """All wrong fields are shown at once, with the input kept, and nothing is written."""
    wrong = form(size="500", phone="12", name="<b>Kim</b>", note="n" * 201)
    answer = http.post(f"/desk/{shop.id}", data=wrong)
    assert 422 == answer.status_code
    for field in ("size", "phone", "note"):
        assert f'id="{field}-wrong"' in answer.text
    assert 'id="name-wrong"' not in answer.text
    assert 'value="500"' in answer.text
    assert 'value="&lt;b&gt;Kim&lt;/b&gt;"' in answer.text
    assert [] == shop.numbers()


@pytest.mark.parametrize("size", ["", "0", "-1", "2.5", "many", "9" * 400, "²"])
def test_a_size_that_is_none(shop: Shop, http: httpx2.Client, size: str) -> None:
    """A party of nobody is refused at its field."""
    answer = http.post(f"/desk/{shop.id}", data=form(size=size))
    assert 422 == answer.status_code
    assert 'id="size-wrong"' in answer.text


def test_why_nobody_can_join(http: httpx2.Client, operator: httpx2.Client) -> None:
    """Each state has its text, with the reason that the hosts give."""
    full = [{"name": "bar", "title": "Bar", "queue_limit": 0}]
    with open_shop(http, operator, types=full) as shop:
        assert 'data-shut="full"' in http.get(f"/desk/{shop.id}").text
        answer = http.post(f"/desk/{shop.id}", data={"type": "bar", "size": "2"})
        assert 429 == answer.status_code
        for mode in ("paused", "closed"):
            shop.change(mode=mode, reason="Oven <broken>").raise_for_status()
            page = http.get(f"/desk/{shop.id}").text
            assert f'data-shut="{mode}"' in page
            assert "Oven &lt;broken&gt;" in page
            assert '<form method="post"' not in page
            refused = http.post(f"/desk/{shop.id}", data={"type": "bar", "size": "2"})
            assert 403 == refused.status_code
    with open_shop(http, operator, remote=False) as shop:
        assert 'data-shut="onsite"' in http.get(f"/desk/{shop.id}").text
        assert "data-shut" not in http.get(f"/desk/{shop.id}?code={shop.code}").text
        assert 403 == http.post(f"/desk/{shop.id}", data=form()).status_code
        assert 303 == http.post(f"/desk/{shop.id}", data=form(code=shop.code)).status_code


def test_who_has_a_place_is_led_to_it(shop: Shop, http: httpx2.Client) -> None:
    """The join page knows its guest; once the place is over it does not."""
    location = joined(shop, http)
    assert f'href="{location}"' in http.get(f"/desk/{shop.id}").text
    http.post(f"{location}/cancel")
    assert location not in http.get(f"/desk/{shop.id}").text


def test_defer_and_cancel(shop: Shop, http: httpx2.Client) -> None:
    """Both are forms that lead back to the page, as often as the store allows."""
    location = joined(shop, http)
    alone = http.post(f"{location}/defer", data={"places": "1"})
    assert "Nobody is behind you" in http.get(alone.headers["location"]).text
    for _ in range(4):
        shop.join()
    for message in ("Done: you have let others go first", "Done: you", "as often as this store"):
        answer = http.post(f"{location}/defer", data={"places": "1"})
        assert message in http.get(answer.headers["location"]).text
    assert [2, 3, 1, 4, 5] == shop.numbers()
    http.post(f"{location}/cancel")
    page = http.get(location).text
    assert "Your place is cancelled" in page
    assert "Join again" in page
    again = http.post(f"{location}/cancel")
    assert "said=problem_moved" in again.headers["location"]
    assert [2, 3, 4, 5] == shop.numbers()


@pytest.mark.parametrize("places", ["", "0", "11", "-1", "x", "9999"])
def test_a_defer_of_nonsense(shop: Shop, http: httpx2.Client, places: str) -> None:
    """It is refused on a page."""
    location = joined(shop, http)
    answer = http.post(f"{location}/defer", data={"places": places})
    assert 422 == answer.status_code
    assert "That did not work" in answer.text


def test_erase(shop: Shop, http: httpx2.Client) -> None:
    """At the end a guest can delete what they told."""
    location = joined(shop, http, name="Kim Bo", phone="010-0000-0000")
    assert "Erase my data" not in http.get(location).text
    http.post(f"{location}/cancel")
    assert "Erase my data" in http.get(location).text
    answer = http.post(f"{location}/erase")
    page = http.get(answer.headers["location"]).text
    assert "are erased" in page
    assert "Kim Bo" not in page
    party = shop.line(status="CANCELLED")["parties"][0]
    assert (None, None) == (party["name"], party["phone"])


@pytest.mark.parametrize("token", ["x", "dine-in.x", "dine-in." + "A" * 120, "%00", "a" * 900])
def test_a_foreign_ticket(shop: Shop, http: httpx2.Client, token: str) -> None:
    """An address that is nobody's place says so, in both languages."""
    for lang, message in (
        ("en", "Place not found"),
        ("ko", "대기 정보를 찾을 수 없습니다"),
    ):
        answer = http.get(f"/desk/{shop.id}/p/{token}", headers={"accept-language": lang})
        assert 404 == answer.status_code
        assert message in answer.text
    assert 404 == http.post(f"/desk/{shop.id}/p/{token}/cancel").status_code


def test_the_ticket_of_another_store(
    shop: Shop, http: httpx2.Client, operator: httpx2.Client
) -> None:
    """A place belongs to one store only."""
    with open_shop(http, operator) as other:
        token = joined(shop, http).rpartition("/")[2]
        assert 404 == http.get(f"/desk/{other.id}/p/{token}").status_code
        assert 404 == http.get("/desk/nowhere").status_code


def test_another_site_cannot_send_forms(shop: Shop, http: httpx2.Client) -> None:
    """Browsers say where a form comes from, and ours come from here."""
    location = joined(shop, http)
    headers = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
    for path in (f"/desk/{shop.id}", f"{location}/cancel", f"/desk/{shop.id}/host/sign-in"):
        assert 403 == http.post(path, data=form(), headers=headers).status_code
    assert [1] == shop.numbers()


def test_headers(shop: Shop, http: httpx2.Client) -> None:
    """Pages run only their own scripts, are not cached, and reveal their address to nobody."""
    sign_in(shop, http)
    location = joined(shop, http)
    base = f"/desk/{shop.id}"
    for path in (base, location, f"{base}/poster", f"{base}/host", f"{base}/host/sign-in"):
        answer = http.get(path)
        headers = answer.headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'nonce-")
        assert "unsafe" not in policy
        assert "no-store" == headers["cache-control"]
        assert "same-origin" == headers["referrer-policy"]
        assert "nosniff" == headers["x-content-type-options"]
        nonce = re.search(r"nonce-([\w-]+)", policy)
        assert nonce is not None
        for script in re.findall(r"<script(?![^>]*application/json)[^>]*>", answer.text):
            assert f'nonce="{nonce[1]}"' in script
        assert not re.search(r'\s(?:style|on\w+)="', answer.text)
        assert not re.search(r'(?:src|href)="https?:', answer.text)


def test_the_language(shop: Shop, http: httpx2.Client) -> None:
    """The browser's language, unless another one was clicked."""
    korean = {"accept-language": "ko-KR,ko;q=0.9"}
    assert "대기 등록" in http.get(f"/desk/{shop.id}", headers=korean).text
    chosen = http.get(f"/desk/{shop.id}?lang=en", headers=korean)
    assert "Join the waitlist" in chosen.text
    assert "Join the waitlist" in http.get(f"/desk/{shop.id}", headers=korean).text
