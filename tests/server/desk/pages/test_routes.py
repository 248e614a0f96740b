"""The desk's pages over HTTP: words, headers, forms, sessions, and what strangers may not do."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

import httpx
import pytest

import waitroom.server
from tests.server.desk.conftest import Shop, open_shop
from tests.support.serving import ADMIN_KEY, AS_PROMISED_S, serving
from waitroom.desk.models import Range
from waitroom.server.desk import text as say
from waitroom.server.desk.pages import place as page_place
from waitroom.server.desk.text import words_of
from waitroom.server.pages.text import LANGUAGES

HERE = Path(waitroom.server.__file__).parent
ENGLISH, KOREAN = words_of("en"), words_of("ko")
PLACE = re.compile(r"/desk/[^/]+/p/[^/?]+$")


def form(**fields: str) -> dict[str, str]:
    """Return a filled-in form."""
    return {"type": "dine-in", "size": "2", "here": "1", **fields}


def joined(shop: Shop, http: httpx.Client, **fields: str) -> str:
    """Join by the form, and return the address of the place."""
    answer = http.post(f"/desk/{shop.id}", data=form(**fields))
    assert 303 == answer.status_code, answer.text
    return str(answer.headers["location"])


def hidden(html: str, name: str) -> str:
    """Return the value of a hidden field."""
    found = re.search(rf'name="{name}" value="([^"]*)"', html)
    assert found is not None
    return found[1]


def sign_in(shop: Shop, http: httpx.Client, key: str | None = None) -> httpx.Response:
    """Sign in to the console."""
    return http.post(f"/desk/{shop.id}/host/sign-in", data={"key": key or shop.key})


# Words ----------------------------------------------------------------------------------------


def fields(text: str) -> set[str]:
    """Return what is filled into a sentence."""
    return set(re.findall(r"\{(\w+)\}", text))


def test_every_key_is_in_every_language() -> None:
    """No page can come upon a word that a language lacks, or one with other values in it."""
    assert ENGLISH.words.keys() == KOREAN.words.keys()
    # Korean has no plural, so its "one" may or may not say the number.
    for key, words in ENGLISH.words.items():
        assert fields(words) | {"n"} == fields(KOREAN.words[key]) | {"n"}, key


def test_files_are_sorted() -> None:
    """A locale file is in order, so that a translation is easy to compare."""
    for lang in LANGUAGES:
        keys = list(json.loads((HERE / f"locales/desk/{lang}.json").read_text("utf-8")))
        assert sorted(keys) == keys


def test_every_key_is_used() -> None:
    """No word is carried along that nothing says."""
    files = [
        *HERE.glob("desk/**/*.py"),
        *HERE.glob("templates/desk/*"),
        *HERE.glob("static/desk/*.js"),
    ]
    source = "\n".join(path.read_text("utf-8") for path in files)
    families = tuple(re.findall(r"""\(?f?["'](\w+_)(?:\{|["'] ~)""", source))
    faces = r"(closed|paused|full|late|onsite|seated|cancelled|no_show|away)_(title|text)"

    def used(key: str) -> bool:
        said = re.search(rf"""["'.]{key.removesuffix("_one")}\b""", source)
        return bool(said or key.startswith(families) or re.fullmatch(faces, key))

    assert [] == [key for key in ENGLISH.words if not used(key)]


def test_the_script_gets_the_words_that_it_says() -> None:
    """The keys are read out of the script, so none can be forgotten."""
    script = (HERE / "static/desk/place.js").read_text("utf-8")
    said = set(re.findall(r'(?:say|some)\("([a-z_]+)"', script))
    assert said
    assert said <= set(page_place.client_keys())
    assert said <= set(ENGLISH.words)


def test_no_script_writes_html() -> None:
    """Names come from strangers: scripts write text, and never HTML that they put together."""
    for path in HERE.glob("static/desk/*.js"):
        script = path.read_text("utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write", script)


@pytest.mark.parametrize(
    ("minutes", "english", "korean"),
    [
        (None, "working it out…", "계산 중…"),
        (0, "any moment", "곧 입장"),
        (15, "about 15 min", "약 15분"),
        (19, "about 19 min", "약 19분"),
        (22, "about 20 min", "약 20분"),
        (43, "about 45 min", "약 45분"),
        (60, "about 1 h", "약 1시간"),
        (118, "about 2 h", "약 2시간"),
        (124, "about 2 h", "약 2시간"),
        (155, "about 2 h 40 min", "약 2시간 40분"),
    ],
)
def test_waits(minutes: int | None, english: str, korean: str) -> None:
    """A wait is said without false precision."""
    assert (english, korean) == (say.wait(ENGLISH, minutes), say.wait(KOREAN, minutes))


@pytest.mark.parametrize(
    ("low", "high", "english", "korean"),
    [
        (8, 11, "8–11 min", "8~11분"),
        (41, 53, "40–55 min", "40~55분"),
        (0, 4, "up to 4 min", "4분 이내"),
        (0, 0, "up to 1 min", "1분 이내"),
        (7, 7, "about 7 min", "약 7분"),
        (95, 133, "1 h 30 min – 2 h 20 min", "1시간 30분 ~ 2시간 20분"),
    ],
)
def test_ranges(low: int, high: int, english: str, korean: str) -> None:
    """A range is rounded outwards, so that it stays true."""
    found = Range(low, (low + high) // 2, high)
    assert (english, korean) == (say.within(ENGLISH, found), say.within(KOREAN, found))


# Guests ---------------------------------------------------------------------------------------


def test_join_and_see_the_place(shop: Shop, http: httpx.Client) -> None:
    """A form takes a place and leads to its page, which has the number and the wait."""
    shop.join()
    page = http.get(f"/desk/{shop.id}?here=1").text
    assert "1 party waiting" in page
    location = joined(shop, http, name="Kim")
    assert PLACE.match(location)
    place = http.get(location).text
    assert "1 party ahead" in place
    assert "of 2 parties waiting" in place
    assert "about 30 min" in place
    (_, party) = shop.line()["parties"]
    assert ("Kim", 2, "on_site") == (party["name"], party["size"], party["source"])


def test_from_elsewhere(shop: Shop, http: httpx.Client) -> None:
    """Who did not come by the poster is not at the store yet."""
    data = {"type": "dine-in", "size": "2"}
    assert 303 == http.post(f"/desk/{shop.id}", data=data).status_code
    assert "remote" == shop.line()["parties"][0]["source"]


def test_a_form_sent_twice_is_one_party(shop: Shop, http: httpx.Client) -> None:
    """An impatient second tap gets the same place."""
    op = hidden(http.get(f"/desk/{shop.id}").text, "op")
    places = {joined(shop, http, op=op) for _ in range(3)}
    assert 1 == len(places)
    assert [1] == shop.numbers()


def test_what_is_wrong_is_said_at_its_field(shop: Shop, http: httpx.Client) -> None:
    """All wrong fields at once, with what was filled in, and nothing written."""
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
def test_a_size_that_is_none(shop: Shop, http: httpx.Client, size: str) -> None:
    """A party of nobody is refused at its field."""
    answer = http.post(f"/desk/{shop.id}", data=form(size=size))
    assert 422 == answer.status_code
    assert 'id="size-wrong"' in answer.text


def test_why_nobody_can_join(http: httpx.Client, operator: httpx.Client) -> None:
    """Each state has its words, and the reason that the hosts give."""
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
        assert "data-shut" not in http.get(f"/desk/{shop.id}?here=1").text
        assert 403 == http.post(f"/desk/{shop.id}", data=form(here="")).status_code


def test_who_has_a_place_is_led_to_it(shop: Shop, http: httpx.Client) -> None:
    """The join page knows its guest; once the place is over it does not."""
    location = joined(shop, http)
    assert f'href="{location}"' in http.get(f"/desk/{shop.id}").text
    http.post(f"{location}/cancel")
    assert location not in http.get(f"/desk/{shop.id}").text


def test_defer_and_cancel(shop: Shop, http: httpx.Client) -> None:
    """Both are forms that lead back to the page, as often as the store allows."""
    location = joined(shop, http)
    alone = http.post(f"{location}/defer", data={"places": "1"})
    assert "Nobody is behind you" in http.get(alone.headers["location"]).text
    for _ in range(4):
        shop.join()
    for said in ("Done: you have let others go first", "Done: you", "as often as this store"):
        answer = http.post(f"{location}/defer", data={"places": "1"})
        assert said in http.get(answer.headers["location"]).text
    assert [2, 3, 1, 4, 5] == shop.numbers()
    http.post(f"{location}/cancel")
    page = http.get(location).text
    assert "Your place is cancelled" in page
    assert "Join again" in page
    again = http.post(f"{location}/cancel")
    assert "said=problem_moved" in again.headers["location"]
    assert [2, 3, 4, 5] == shop.numbers()


@pytest.mark.parametrize("places", ["", "0", "11", "-1", "x", "9999"])
def test_a_defer_of_nonsense(shop: Shop, http: httpx.Client, places: str) -> None:
    """It is refused on a page."""
    location = joined(shop, http)
    answer = http.post(f"{location}/defer", data={"places": places})
    assert 422 == answer.status_code
    assert "That did not work" in answer.text


def test_erase(shop: Shop, http: httpx.Client) -> None:
    """At the end a guest can take back what they told."""
    location = joined(shop, http, name="Kim", phone="010-0000-0000")
    assert "Erase my data" not in http.get(location).text
    http.post(f"{location}/cancel")
    assert "Erase my data" in http.get(location).text
    answer = http.post(f"{location}/erase")
    page = http.get(answer.headers["location"]).text
    assert "are erased" in page
    assert "Kim" not in page
    party = shop.line(status="CANCELLED")["parties"][0]
    assert (None, None) == (party["name"], party["phone"])


@pytest.mark.parametrize("token", ["x", "dine-in.x", "dine-in." + "A" * 120, "%00", "a" * 900])
def test_a_foreign_ticket(shop: Shop, http: httpx.Client, token: str) -> None:
    """An address that is nobody's place says so, in both languages."""
    for lang, said in (("en", "Nothing to wait for here"), ("ko", "대기 정보를 찾을 수 없습니다")):
        answer = http.get(f"/desk/{shop.id}/p/{token}", headers={"accept-language": lang})
        assert 404 == answer.status_code
        assert said in answer.text
    assert 404 == http.post(f"/desk/{shop.id}/p/{token}/cancel").status_code


def test_the_ticket_of_another_store(
    shop: Shop, http: httpx.Client, operator: httpx.Client
) -> None:
    """A place is of one store only."""
    with open_shop(http, operator) as other:
        token = joined(shop, http).rpartition("/")[2]
        assert 404 == http.get(f"/desk/{other.id}/p/{token}").status_code
        assert 404 == http.get("/desk/nowhere").status_code


def test_another_site_cannot_send_forms(shop: Shop, http: httpx.Client) -> None:
    """Browsers say where a form comes from, and ours come from here."""
    location = joined(shop, http)
    headers = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
    for path in (f"/desk/{shop.id}", f"{location}/cancel", f"/desk/{shop.id}/host/sign-in"):
        assert 403 == http.post(path, data=form(), headers=headers).status_code
    assert [1] == shop.numbers()


def test_headers(shop: Shop, http: httpx.Client) -> None:
    """Pages run only what they bring, are kept by nobody, and tell nobody their address."""
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


def test_the_language(shop: Shop, http: httpx.Client) -> None:
    """The browser's language, unless another one was clicked."""
    korean = {"accept-language": "ko-KR,ko;q=0.9"}
    assert "대기 등록" in http.get(f"/desk/{shop.id}", headers=korean).text
    chosen = http.get(f"/desk/{shop.id}?lang=en", headers=korean)
    assert "Join the waitlist" in chosen.text
    assert "Join the waitlist" in http.get(f"/desk/{shop.id}", headers=korean).text


# Hosts ----------------------------------------------------------------------------------------


def test_the_door(shop: Shop, http: httpx.Client, operator: httpx.Client) -> None:
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


def test_signing_out(shop: Shop, http: httpx.Client) -> None:
    """It ends the session in this browser."""
    sign_in(shop, http)
    page = http.get(f"/desk/{shop.id}/host").text
    http.post(f"/desk/{shop.id}/host/sign-out", data={"token": hidden(page, "token")})
    assert 303 == http.get(f"/desk/{shop.id}/host").status_code


def test_a_form_needs_its_token(shop: Shop, http: httpx.Client) -> None:
    """A session alone does nothing: the form must be of its page."""
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


def test_the_list(shop: Shop, http: httpx.Client) -> None:
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


def test_what_a_host_saw(shop: Shop, http: httpx.Client) -> None:
    """A form of an older list is refused, with who it is now; a repeat of the same one is not."""
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


def test_call_next_that_changed(shop: Shop, http: httpx.Client) -> None:
    """Who is next now is said, and nobody is called by mistake."""
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
    assert ["WAITING"] == [one["status"] for one in shop.line()["parties"]]


def test_a_viewer_only_looks(shop: Shop, http: httpx.Client, operator: httpx.Client) -> None:
    """An API key that may not act sees the list without buttons."""
    shop.join(name="Kim")
    key = operator.post("/v1/admin/keys", json={"name": "v", "role": "viewer"}).json()["key"]
    sign_in(shop, http, key)
    page = http.get(f"/desk/{shop.id}/host").text
    assert "Kim" in page
    assert 'name="do"' not in page
    data = {"token": hidden(page, "token"), "type": "dine-in"}
    assert 403 == http.post(f"/desk/{shop.id}/host/call-next", data=data).status_code


def test_while_redis_is_away(tmp_path: Path) -> None:
    """Guests join and see their number, hosts work on; what is not known is not made up."""
    with (
        serving(tmp_path, desk=True, answer_within_s=AS_PROMISED_S) as one,
        httpx.Client(base_url=one.base, timeout=20) as http,
        httpx.Client(base_url=one.base, timeout=20) as admin,
    ):
        admin.headers["authorization"] = f"Bearer {ADMIN_KEY}"
        with open_shop(http, admin) as shop:
            location = joined(shop, http, name="Kim")
            sign_in(shop, http)
            store = json.loads((one.data_dir / "server.json").read_text())["server_pid"]
            os.kill(store, signal.SIGSTOP)
            try:
                _everybody_goes_on(shop, http, location)
            finally:
                os.kill(store, signal.SIGCONT)
            assert "Traceback" not in one.said()


def _everybody_goes_on(shop: Shop, http: httpx.Client, location: str) -> None:
    place = http.get(location)
    assert 503 == place.status_code
    assert "One moment, please" in place.text
    assert "Waiting number <b>1</b>" in place.text
    assert "1 party waiting" in http.get(f"/desk/{shop.id}").text
    joined(shop, http, name="Lee")
    page = http.get(f"/desk/{shop.id}/host")
    assert 200 == page.status_code
    data = {"token": hidden(page.text, "token"), "type": "dine-in"}
    asks = {"accept": "application/json"}
    answer = http.post(f"/desk/{shop.id}/host/call-next", data=data, headers=asks)
    assert (200, "1 Kim called") == (answer.status_code, answer.json()["said"])
    assert "2 Lee" in http.get(f"/desk/{shop.id}/host").text
