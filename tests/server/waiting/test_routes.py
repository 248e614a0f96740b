"""The waiting page as the server sends it: its texts, headers, forms and states."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest

from waitroom.estimate.methods import Wait
from waitroom.estimate.reasons import Reason as EtaReason
from waitroom.models import Mode, Policy, Reason
from waitroom.server.http import statics
from waitroom.server.pages.locales import load_locales
from waitroom.server.waiting import faces, page
from waitroom.server.waiting.faces import Face
from waitroom.server.waiting.page import render, script_keys, script_state
from waitroom.server.waiting.view import PageView
from waitroom.server.waiting.words import span, wait_words, words_of
from waitroom.web.browser_mark import mark_of, new_secret

HERE = Path(page.__file__).parents[1]
ENGLISH, KOREAN = words_of("en"), words_of("ko")


def browser(served_base: str, **headers: str) -> httpx2.Client:
    """Return a client that keeps cookies, like a browser."""
    return httpx2.Client(base_url=served_base, headers=headers, timeout=60, follow_redirects=True)


def heading(answer: httpx2.Response) -> str:
    """Return the heading of the state that a page shows."""
    shown = re.search(r'<section data-face="\w+">\s*<h[12][^>]*>([^<]*)', answer.text)
    assert shown is not None, answer.text
    return shown[1]


# Words ----------------------------------------------------------------------------------------


def test_every_key_is_used() -> None:
    """Every text is used."""
    names = (
        "waiting/routes.py",
        "waiting/page.py",
        "waiting/view.py",
        "waiting/words.py",
        "templates/waiting/page.html",
        "static/waiting/page.js",
        "push/messages.py",
        "push/routes.py",
    )
    source = "\n".join((HERE / name).read_text("utf-8") for name in names)
    made = {f"{face}_{part}" for face in Face for part in ("title", "text")}
    made |= {f"{act}_{part}" for act in ("leave", "finish", "defer") for part in ("button", "text")}
    made |= {f"{act}_title" for act in ("leave", "finish", "defer")}
    made |= {"note_paused", "note_closed", *(f"why_{reason}" for reason in EtaReason)}
    unused = {key for key in ENGLISH.words if f'"{key}"' not in source} - made
    assert set() == unused - {"bar"}
    assert "t('bar')" in source


def test_the_script_gets_the_words_that_it_says() -> None:
    """The keys are read from the script, so none can be forgotten."""
    script = (HERE / "static/waiting/page.js").read_text("utf-8")
    keys = set(re.findall(r'say\("([a-z_]+)"', script))
    assert keys <= set(script_keys())
    assert keys <= set(ENGLISH.words)


@pytest.mark.parametrize(
    ("wait", "english", "korean"),
    [
        (None, "working it out…", "계산 중…"),
        (Wait(0, 20, 59), "less than a minute", "1분 이내"),
        (Wait(0, 30, 60), "about a minute", "약 1분"),
        (Wait(20, 60, 170), "up to 3 min", "3분 이내"),
        (Wait(0, 600, 1_800), "up to 30 min", "30분 이내"),
        (Wait(480, 540, 660), "8–11 minutes", "8~11분"),
        (Wait(120, 120, 120), "about 2 minutes", "약 2분"),
        (Wait(3_700, 5_000, 6_900), "1 h – 2 h", "1시간 ~ 2시간"),
        (Wait(4_500, 5_000, 8_000), "1 h 10 min – 2 h 20 min", "1시간 10분 ~ 2시간 20분"),
        (Wait(300, 700, 1_800), "between 5 and 30 minutes", "5분에서 30분 사이"),
        (Wait(240, 900, 2_400), "at least 4 minutes", "최소 4분"),
        (Wait(300, 5_000, 8_000), "at least 5 minutes", "최소 5분"),
        (Wait(6_100, 20_000, 50_000), "1 h 40 min – 14 h", "1시간 40분 ~ 14시간"),
        (Wait(90, 900, 2_400), "working it out…", "계산 중…"),
        (Wait(0, 900, 7_200), "working it out…", "계산 중…"),
    ],
)
def test_a_wait_in_words(wait: Wait | None, english: str, korean: str) -> None:
    """A range of minutes, or tens of minutes if it is long; the wider it is, the less is said."""
    words = wait_words(ENGLISH, wait, 37), wait_words(KOREAN, wait, 37)
    assert (english, korean) == words


def test_any_moment_is_for_the_first_few() -> None:
    """Nobody with 36 people ahead reads that their turn may come any moment."""
    shortly = Wait(0, 3, 20)
    words = [wait_words(ENGLISH, shortly, position) for position in (1, 4, 5)]
    assert ["any moment", "any moment", "less than a minute"] == words


def test_spans() -> None:
    """Short spans in seconds, long ones in days and hours."""
    spans = [span(ENGLISH, s) for s in (-5, 60, 150, 3_660, 86_400, 266_691)]
    assert ["0 s", "60 s", "2 min", "1 h 1 min", "1 d", "3 d 2 h"] == spans


@pytest.mark.parametrize(("left_s", "title"), [(3_600, "Opening soon"), (3_601, "Not open yet")])
def test_soon_means_within_an_hour(left_s: int, title: str) -> None:
    """Heading and window say "soon" only if it is; nothing that cannot tick is a clock."""
    policy = Policy(opens_at=datetime.fromtimestamp(left_s, UTC))
    view = PageView(room="a", face=Face.SOON, now_ms=0, nonce="n", policy=policy, view={})
    assert (title, title, "1 h") == (view.soon, view.headline, view.opens_in)
    page = render(view)
    assert f'<h2 data-x="soon">{title}</h2>' in page
    assert '<p class="number" data-x="opens">1 h</p>' in page


def test_a_wrong_link_is_told_once() -> None:
    """The page for an unknown room has one heading, and its window one title."""
    page = render(PageView(room="a", face=Face.UNKNOWN, now_ms=0, nonce="n"))
    assert ["Line not found"] == re.findall(r"<h[12][^>]*>([^<]*)", page)
    assert "<title>Line not found</title>" in page


def test_inside_is_no_dead_end() -> None:
    """If a room leads nowhere, the page says where to go next."""
    view = PageView(room="a", face=Face.INSIDE, now_ms=0, nonce="n", policy=Policy(), view={})
    assert "Go back to the site or app that sent you here" in render(view)
    leads = replace(view, policy=Policy(go_to="/shop"))
    assert "Go back to the site" not in render(leads)
    assert 'href="/shop"' in render(leads)


# Pages ----------------------------------------------------------------------------------------


def test_every_reason_has_a_face_and_every_face_its_words() -> None:
    """However a place ends, the page has a text for it."""
    assert set(Reason) == set(faces.FACE_OF)
    for face in Face:
        for words in (ENGLISH, KOREAN):
            view = PageView(room="a", face=face, now_ms=0, nonce="n", text=words, policy=Policy())
            ticket = {"state": "waiting", "session_ends_at": None}
            assert words(f"{face}_title") in render(replace(view, ticket=ticket, view={}))


@pytest.mark.parametrize("lang", sorted(load_locales(None)))
def test_every_reason_of_a_moved_wait_has_its_words(lang: str) -> None:
    """In each language that we ship, and the script gets them all."""
    words = load_locales(None)[lang]
    view = PageView(room="a", face=Face.WAITING, now_ms=0, nonce="n", text=words, policy=Policy())
    notes = {replace(view, eta_reason=reason).note for reason in EtaReason}
    assert len(EtaReason) == len(notes)
    assert notes <= set(map(str, script_state(view)["text"].values()))
    if lang != "en":
        assert not notes & {words_of("en")(f"why_{reason}") for reason in EtaReason}


def test_how_long_a_place_is_kept() -> None:
    """Until the turn has passed, for ever, or no longer than presence and `return_s` together."""
    view = PageView(room="a", face=Face.WAITING, now_ms=0, nonce="n", policy=Policy())
    assert "as long as your turn has not passed" in view.kept
    short = Policy(presence_s=60, return_s=240)
    expected = "You may close this page, but come back within 5 min: after that your place is gone."
    assert expected == replace(view, policy=short).kept
    assert "Check back" in replace(view, policy=Policy(presence_s=None, return_s=240)).kept


def test_without_a_script_the_cause_of_another_wait_is_told() -> None:
    """The page itself says why the wait has moved, unless nobody is called at all."""
    view = PageView(
        room="a",
        face=Face.WAITING,
        now_ms=1_000_000,
        nonce="n",
        policy=Policy(),
        position=4,
        waiting=9,
        eta_reason="slower_admission",
        refused="last",
    )
    assert "People are let in more slowly now, so your wait is longer." == view.note
    assert "Nobody is behind you" in replace(view, eta_reason=None).note
    assert "interruption" in replace(view, holding=True).note
    paused = replace(view, policy=Policy(mode=Mode.PAUSED))
    assert "paused" in paused.note
    restoring = replace(paused, restoring=True)
    assert "We are restoring the line" in restoring.note
    assert ("3", "", "") == (restoring.ahead, restoring.place, restoring.behind)


def test_a_look_takes_no_place(http: httpx2.Client, room: str) -> None:
    """Crawlers and prefetching browsers cost nobody anything."""
    for method in ("GET", "HEAD"):
        answer = http.request(method, f"/rooms/{room}")
        assert (200, None) == (answer.status_code, answer.headers.get("set-cookie"))
    stats = http.get(f"/v1/rooms/{room}").json()
    assert 0 == stats["waiting"]


def test_headers(http: httpx2.Client, room: str) -> None:
    """The page runs only its own scripts, contacts nobody else, and is not cached."""
    answer = http.get(f"/rooms/{room}", headers={"accept-language": "ko"})
    policy = dict(
        part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";")
    )
    nonce = re.search(r'<script type="module" src="[^"]+" nonce="([\w-]+)">', answer.text)
    assert nonce is not None
    assert "'none'" == policy["default-src"]
    assert f"'nonce-{nonce[1]}'" == policy["script-src"]
    assert ("'self'", "'none'", "'none'") == (
        policy["form-action"],
        policy["base-uri"],
        policy["frame-ancestors"],
    )
    assert "no-store" == answer.headers["cache-control"]
    assert "nosniff" == answer.headers["x-content-type-options"]
    assert "same-origin" == answer.headers["referrer-policy"]
    assert "ko" == answer.headers["content-language"]
    again = http.get(f"/rooms/{room}")
    assert nonce[1] not in again.text, "a nonce is used once"


def test_the_language_is_kept(http: httpx2.Client, room: str) -> None:
    """A click on another language is kept for later visits."""
    page = http.get(f"/rooms/{room}").text
    for tag, text in load_locales(None).items():
        link = f'<a href="?lang={tag}" lang="{tag}">{text.name}</a>'
        assert (tag != "en") == (link in page)
    assert "대기 순서 받기" == heading(http.get(f"/rooms/{room}?lang=ko"))
    assert "대기 순서 받기" == heading(http.get(f"/rooms/{room}"))
    assert "Take your place" == heading(http.get(f"/rooms/{room}?lang=en"))


def test_forms_do_it_all(served_base: str, room: str) -> None:
    """Join, defer, leave, enter and finish work as plain forms."""
    with (
        browser(served_base) as first,
        browser(served_base) as second,
        browser(served_base) as third,
    ):
        assert "It is your turn" == heading(first.post(f"/rooms/{room}/join"))
        assert "You are inside" == heading(first.post(f"/rooms/{room}/enter"))
        second.post(f"/rooms/{room}/join")
        assert "You are in line" == heading(third.post(f"/rooms/{room}/join"))
        assert "You have left the line" == heading(third.post(f"/rooms/{room}/leave"))
        assert "Take your place" == heading(third.get(f"/rooms/{room}"))
        assert "You are done" == heading(first.post(f"/rooms/{room}/finish"))
        assert "Take your place" == heading(first.get(f"/rooms/{room}"))


def test_who_was_kicked_is_told(served_base: str, operator: httpx2.Client, room: str) -> None:
    """The page says that somebody was removed; they may join again, unless banned."""
    with browser(served_base) as person:

        def kick(**more: bool) -> None:
            ids = [person.cookies[f"waitroom-ticket-{room}"][24:40]]
            body = {"ticket_ids": ids, **more}
            operator.post(f"/v1/admin/rooms/{room}/kick", json=body).raise_for_status()

        person.post(f"/rooms/{room}/join")
        kick()
        shown = person.get(f"/rooms/{room}")
        assert "You were removed from the line" == heading(shown)
        assert f'action="/rooms/{room}/join"' in shown.text
        assert "대기열에서 제외되었습니다" == heading(person.get(f"/rooms/{room}?lang=ko"))
        person.get(f"/rooms/{room}?lang=en")
        assert "It is your turn" == heading(person.post(f"/rooms/{room}/join"))
        kick(ban=True)
        refused = person.post(f"/rooms/{room}/join")
        assert "You cannot join this line" == heading(refused)
        assert f'action="/rooms/{room}/join"' not in refused.text


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_another_site_cannot_send_the_forms(
    http: httpx2.Client, room: str, headers: dict[str, str]
) -> None:
    """A form on another site makes nobody join or leave."""
    answer = http.post(f"/rooms/{room}/join", headers=headers)
    assert (403, "forbidden") == (answer.status_code, answer.json()["code"])


def test_the_last_in_line_has_nobody_to_let_go_first(
    served_base: str, operator: httpx2.Client, room: str
) -> None:
    """The choice is hidden from them, and if they ask anyway the page says why nothing happened."""
    change = {"policy": {"mode": "paused", "max_defers": 1}}
    operator.patch(f"/v1/admin/rooms/{room}", json=change).raise_for_status()
    hidden = '<div data-x="defer" hidden>'
    with browser(served_base) as first, browser(served_base) as second:
        assert hidden in first.post(f"/rooms/{room}/join").text
        asked = first.post(f"/rooms/{room}/defer", data={"places": "2"}).text
        assert "Nobody is behind you, so there is nobody to let go first." in asked
        assert hidden in second.post(f"/rooms/{room}/join").text
        assert hidden not in first.get(f"/rooms/{room}").text


@pytest.mark.parametrize("places", ["", "x", "-1", "0", "1e9", "9" * 500, "\x00", "%F0%28"])
def test_bad_forms(http: httpx2.Client, room: str, places: str) -> None:
    """Nonsense in a form is refused or leads back, and is not an internal error."""
    http.post(f"/rooms/{room}/join")
    answer = http.post(f"/rooms/{room}/defer", content=f"places={places}")
    assert answer.status_code in (303, 400)
    assert 404 == http.post(f"/rooms/{room}/nonsense").status_code


@pytest.mark.parametrize("name", ["no-such", "%0d%0aset-cookie:x=1", "a%00", "x" * 500])
def test_unknown_rooms(http: httpx2.Client, name: str) -> None:
    """A wrong link gets a page with text and 404; its forms lead nowhere new."""
    answer = http.get(f"/rooms/{name}")
    assert (404, "Line not found") == (answer.status_code, heading(answer))
    posted = http.post(f"/rooms/{name}/join")
    assert posted.status_code in (303, 404)
    assert "x" not in posted.cookies


def test_a_spoilt_ticket_is_a_newcomer(http: httpx2.Client, room: str) -> None:
    """A cookie from an earlier secret, or nonsense, does not lock anybody out."""
    answer = http.get(f"/rooms/{room}", headers={"cookie": f"waitroom-ticket-{room}=nonsense"})
    assert "Take your place" == heading(answer)


def test_no_secret_is_in_the_page(served_base: str, room: str) -> None:
    """Ticket and pass stay in cookies that no script can read."""
    with browser(served_base) as visitor:
        visitor.post(f"/rooms/{room}/join")
        page = visitor.post(f"/rooms/{room}/enter")
        for name in (f"waitroom-ticket-{room}", f"waitroom-pass-{room}"):
            assert visitor.cookies[name] not in page.text


def test_static_files(http: httpx2.Client) -> None:
    """The version in a URL lets a browser cache it for a year; paths are never opened."""
    url = statics.url_of("waiting/page.css")
    answer = http.get(url)
    assert "public, max-age=31536000, immutable" == answer.headers["cache-control"]
    assert "text/css; charset=utf-8" == answer.headers["content-type"]
    assert "no-cache" == http.get("/static/waiting/page.css?v=old").headers["cache-control"]
    for name in (
        "..%2fpages.py",
        "%2e%2e/pages.py",
        "nothing.js",
        "waiting/page.css%00",
        "/etc/passwd",
    ):
        assert 404 == http.get(f"/static/{name}").status_code


def test_a_room_leads_to_another_site(served_base: str, operator: httpx2.Client, room: str) -> None:
    """The page allows its form to lead there, and entering does."""
    change = {"policy": {"go_to": "https://shop.example/in?a=1"}}
    operator.patch(f"/v1/admin/rooms/{room}", json=change).raise_for_status()
    with httpx2.Client(base_url=served_base, timeout=60) as client:
        client.post(f"/rooms/{room}/join")
        page = client.get(f"/rooms/{room}")
        assert "form-action 'self' https://shop.example;" in page.headers["content-security-policy"]
        for mark in ("", "x", "x" * 44):  # a gate there sends them back with a good one
            entered = client.post(f"/rooms/{room}/enter", data={"browser": mark})
            assert "https://shop.example/in?a=1" == entered.headers["location"]
        entered = client.post(f"/rooms/{room}/enter", data={"browser": mark_of(new_secret())})
        assert entered.headers["location"].startswith("https://shop.example/in?a=1&waitroom_code=")
        assert "no-referrer" == entered.headers["referrer-policy"]


def test_the_client_is_served(http: httpx2.Client) -> None:
    """Apps load it from a stable address with a short cache time, pages by its version."""
    answer = http.get("/waitroom.js")
    assert "text/javascript; charset=utf-8" == answer.headers["content-type"]
    assert "public, max-age=300" == answer.headers["cache-control"]
    assert "*" == answer.headers["access-control-allow-origin"]
    again = http.get("/waitroom.js", headers={"if-none-match": answer.headers["etag"]})
    assert (304, b"") == (again.status_code, again.content)
    assert 200 == http.head("/waitroom.js").status_code
    kept = http.get(statics.url_of("waitroom.js"))
    assert "public, max-age=31536000, immutable" == kept.headers["cache-control"]


@pytest.mark.parametrize(
    ("name", "path"),
    [("Ticket", "/v1/rooms/{room}/tickets/{ticket}"), ("Room", "/v1/rooms/{room}")],
)
def test_the_client_is_typed(http: httpx2.Client, name: str, path: str) -> None:
    """The client's types name the fields that the API returns, optional ones as such."""
    source = (HERE / "static/waitroom.js").read_text("utf-8")
    typedef = source.split(f"@typedef {{object}} {name}\n")[1].split("*/")[0]
    names = re.findall(r"@property \{.*?\} (\[?\w+)", typedef)
    document = http.get("/openapi.json").json()
    schema = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]
    fields = document["components"]["schemas"][schema["schema"]["$ref"].split("/")[-1]]
    assert set(fields["properties"]) == {field.removeprefix("[") for field in names}
    assert set(fields["required"]) == {field for field in names if not field.startswith("[")}


@pytest.fixture
def served_base(http: httpx2.Client) -> str:
    """Return the address of the running server."""
    return str(http.base_url)
