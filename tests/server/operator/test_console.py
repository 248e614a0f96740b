"""The operator page without a browser: who gets in, what forms need, what its parts work out."""

from __future__ import annotations

import re
import string
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from tests.support.serving import ADMIN_KEY, Serving
from waitroom.engine.audit import Entry
from waitroom.errors import InvalidInput, InvalidPolicy
from waitroom.models import Eta, Mode, Policy, Sample, Stats, preset
from waitroom.server.operator import chart
from waitroom.server.operator import preview as previews
from waitroom.server.operator import words as say
from waitroom.server.operator.preview import Lever, Wish
from waitroom.server.operator.room_view import calls_per_minute, signs, view
from waitroom.server.pages.text import LANGUAGES, load_text
from waitroom.server.rooms.board import Board

NOW_MS = 1_800_000_000_000


@pytest.fixture
def page(served: Serving) -> Iterator[httpx.Client]:
    """Return a browser, as far as cookies go, of somebody who is signed in as an admin."""
    with httpx.Client(base_url=served.base, timeout=10) as client:
        answer = client.post("/admin/sign-in", data={"key": ADMIN_KEY})
        assert (303, "/admin") == (answer.status_code, answer.headers["location"])
        yield client


def token_of(html: str) -> str:
    """Return the token that the forms of a page carry."""
    found = re.search(r'name="token" value="([0-9a-f]+)"', html)
    assert found is not None
    return found[1]


def do(page: httpx.Client, room: str, **wish: str) -> httpx.Response:
    """Preview a lever and confirm it, as the page does."""
    shown = page.get(f"/admin/rooms/{room}/confirm", params=wish)
    assert 200 == shown.status_code, shown.text
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', shown.text))
    return page.post(f"/admin/rooms/{room}/do", data=fields)


@pytest.mark.parametrize("path", ["", "/rooms/x", "/rooms/x/tickets", "/audit", "/rooms/x/confirm"])
def test_strangers_are_asked_to_sign_in(http: httpx.Client, path: str) -> None:
    """Nothing is shown without a session; a script that refreshes is told by its status."""
    answer = http.get(f"/admin{path}")
    assert (303, "/admin/sign-in") == (answer.status_code, answer.headers["location"])
    assert 401 == http.get(f"/admin{path}?live=1").status_code


def test_the_cookie(served: Serving) -> None:
    """It is for this host's operator page alone, no script reads it, no other site sends it."""
    with httpx.Client(base_url=served.base) as client:
        cookie = client.post("/admin/sign-in", data={"key": ADMIN_KEY}).headers["set-cookie"]
    assert cookie.startswith("waitroom-admin=api.settings.")
    for word in ("HttpOnly", "Max-Age=43200", "Path=/admin", "SameSite=strict"):
        assert word in cookie
    assert ADMIN_KEY not in cookie
    assert "Secure" not in cookie  # plain http: a browser would throw it away


@pytest.mark.parametrize(
    "change", [lambda c: c[:-1] + "x", lambda _: "", lambda c: c + "a", lambda _: "a.b.c.d.e"]
)
def test_forged_cookies(served: Serving, page: httpx.Client, change: Callable[[str], str]) -> None:
    """A cookie that we did not sign is no session."""
    forged = change(page.cookies["waitroom-admin"])
    with httpx.Client(base_url=served.base, cookies={"waitroom-admin": forged}) as client:
        assert 303 == client.get("/admin").status_code


def test_bad_keys(http: httpx.Client) -> None:
    """A wrong key gets the form again, with the reason, and no cookie."""
    answer = http.post("/admin/sign-in", data={"key": "wr_no"})
    assert (401, False) == (answer.status_code, "set-cookie" in answer.headers)
    assert "This key is not known" in answer.text


def test_a_session_ends_with_its_key(served: Serving, operator: httpx.Client) -> None:
    """Revoking a key signs out whoever signed in with it, within two seconds."""
    made = operator.post("/v1/admin/keys", json={"name": "temp", "role": "viewer"}).json()
    with httpx.Client(base_url=served.base) as client:
        client.post("/admin/sign-in", data={"key": made["key"]})
        assert 200 == client.get("/admin").status_code
        operator.delete(f"/v1/admin/keys/{made['id']}").raise_for_status()
        deadline = time.monotonic() + 2.5
        while client.get("/admin").status_code != 303:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_signing_out(page: httpx.Client) -> None:
    """Signing out removes the cookie; without the token nobody is signed out."""
    assert 403 == page.post("/admin/sign-out").status_code
    token = token_of(page.get("/admin").text)
    answer = page.post("/admin/sign-out", data={"token": token})
    assert 303 == answer.status_code
    assert "Max-Age=0" in answer.headers["set-cookie"]


def test_forms_of_other_sites(page: httpx.Client, room: str) -> None:
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


def test_a_viewer_may_only_look(served: Serving, operator: httpx.Client, room: str) -> None:
    """A viewer sees no levers, and cannot use them."""
    made = operator.post("/v1/admin/keys", json={"name": "v", "role": "viewer"}).json()
    with httpx.Client(base_url=served.base) as client:
        client.post("/admin/sign-in", data={"key": made["key"]})
        shown = client.get(f"/admin/rooms/{room}").text
        assert "Your key may look" in shown
        assert "/confirm" not in shown
        form = {"do": "mode", "mode": "paused", "token": token_of(shown)}
        assert 403 == client.post(f"/admin/rooms/{room}/do", data=form).status_code


def test_headers(page: httpx.Client, room: str) -> None:
    """Every page has a policy that allows our own script and style only, by a fresh nonce."""
    nonces = set()
    for path in ("", f"/rooms/{room}", "/audit", "/rooms/none", f"/rooms/{room}/tickets"):
        answer = page.get(f"/admin{path}")
        policy = answer.headers["content-security-policy"]
        (nonce,) = set(re.findall(r"'nonce-([\w-]+)'", policy))
        assert f'nonce="{nonce}"' in answer.text
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert " style=" not in answer.text
        assert not re.search(r"<[^>]+ on\w+=", answer.text)
        assert "no-store" == answer.headers["cache-control"]
        nonces.add(nonce)
    assert 5 == len(nonces)


def test_pause_and_undo(page: httpx.Client, operator: httpx.Client, room: str) -> None:
    """A confirmed change acts, says what it did, and can be undone while it is the last one."""
    answer = do(page, room, do="mode", mode="paused")
    assert 303 == answer.status_code
    assert "paused" == operator.get(f"/v1/admin/rooms/{room}").json()["policy"]["mode"]
    shown = page.get(answer.headers["location"]).text
    assert "Mode: Open → Paused" in shown
    entry = re.search(r'name="entry" value="([\d-]+)"', shown)
    assert entry is not None
    form = {"entry": entry[1], "token": token_of(shown)}
    assert 303 == page.post(f"/admin/rooms/{room}/undo", data=form).status_code
    assert "open" == operator.get(f"/v1/admin/rooms/{room}").json()["policy"]["mode"]
    again = page.post(f"/admin/rooms/{room}/undo", data=form)
    assert (409, True) == (again.status_code, "Somebody else was faster" in again.text)


def test_a_change_in_between(page: httpx.Client, operator: httpx.Client, room: str) -> None:
    """If somebody changes the room between preview and confirmation, nothing is overwritten."""
    token = token_of(page.get("/admin").text)
    operator.patch(f"/v1/admin/rooms/{room}", json={"policy": {"capacity": 9}}).raise_for_status()
    form = {"do": "capacity", "capacity": "5", "version": "1", "token": token}
    answer = page.post(f"/admin/rooms/{room}/do", data=form)
    assert (409, True) == (answer.status_code, "Somebody else was faster" in answer.text)


def test_admit(page: httpx.Client, http: httpx.Client, operator: httpx.Client, room: str) -> None:
    """Calling people says first for how many there is room, and a double click calls once."""
    for _ in range(6):
        http.post(f"/v1/rooms/{room}/tickets").raise_for_status()
    shown = page.get(f"/admin/rooms/{room}/confirm?do=admit&count=3").text
    assert "There is room for 0 of them now" in shown
    shown = page.get(f"/admin/rooms/{room}/confirm?do=admit&count=3&force=1").text
    assert "the others go above the capacity" in shown
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', shown))
    for _ in range(2):
        assert 303 == page.post(f"/admin/rooms/{room}/do", data=fields).status_code
    assert 5 == operator.get(f"/v1/admin/rooms/{room}/stats").json()["called"]
    log = page.get(f"/admin/audit?room={room}").text
    assert "Called 3 of 3 asked for" in log


def test_call_and_remove_one(page: httpx.Client, http: httpx.Client, room: str) -> None:
    """A ticket of the list can be called or removed, each confirmed."""
    for _ in range(4):
        http.post(f"/v1/rooms/{room}/tickets").raise_for_status()
    listed = page.get(f"/admin/rooms/{room}/tickets?state=waiting").text
    first, second = re.findall(r"<td><code>([\w-]+)</code>", listed)
    assert 303 == do(page, room, do="kick", ticket=first).status_code
    assert 303 == do(page, room, do="call", ticket=second, force="1").status_code
    assert second in page.get(f"/admin/rooms/{room}/tickets?state=called").text
    assert "Nobody at the moment" in page.get(f"/admin/rooms/{room}/tickets").text


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("do=capacity&capacity=0", 422),
        ("do=capacity&capacity=many", 422),
        ("do=pace&batch=5", 422),
        ("do=mode&mode=shut", 422),
        ("do=admit&count=-1", 422),
        ("do=nothing", 422),
        ("", 422),
    ],
)
def test_bad_wishes(page: httpx.Client, room: str, query: str, status: int) -> None:
    """What cannot be done is told on a page, with a way back."""
    answer = page.get(f"/admin/rooms/{room}/confirm?{query}")
    assert (status, True) == (answer.status_code, f"Back to {room}" in answer.text)


@pytest.mark.parametrize("name", ["no-such-room", "a b", "%3Cscript%3E", "..%2f.."])
def test_rooms_that_are_not_there(page: httpx.Client, name: str) -> None:
    """An unknown room is a page with its status, and its name runs no script."""
    answer = page.get(f"/admin/rooms/{name}")
    assert 404 == answer.status_code
    assert "<script>" not in answer.text


def test_hostile_titles(page: httpx.Client, operator: httpx.Client, room: str) -> None:
    """Texts of a room are shown as text."""
    title = '"><script>alert(1)</script>'
    operator.patch(f"/v1/admin/rooms/{room}", json={"policy": {"title": title}}).raise_for_status()
    for path in ("", f"/rooms/{room}", f"/rooms/{room}/tickets", "/audit"):
        text = page.get(f"/admin{path}").text
        assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_languages(page: httpx.Client) -> None:
    """The browser's language decides, until another one is chosen; the choice is kept."""
    assert '<html lang="ko">' in page.get("/admin", headers={"accept-language": "ko-KR"}).text
    chosen = page.get("/admin?lang=ko")
    assert "waitroom-admin-language=ko" in chosen.headers["set-cookie"]
    assert '<html lang="ko">' in page.get("/admin", headers={"accept-language": "en"}).text


def test_both_languages_have_every_word() -> None:
    """Each text is there in both, with the same values to fill in."""
    words = {lang: load_text("operator", lang).words for lang in LANGUAGES}
    assert set(words["en"]) == set(words["ko"])
    for key in words["en"]:
        names = [
            {name for _, name, _, _ in string.Formatter().parse(words[lang][key]) if name}
            for lang in LANGUAGES
        ]
        assert names[0] == names[1], key


# What the page works out ------------------------------------------------------------------------


def stats(waiting: int = 600, called: int = 5, inside: int = 45) -> Stats:
    """Return a room at a glance."""
    names = (
        *("joined", "restored", "called_total", "entered", "finished", "left", "kicked"),
        *("expired", "no_show", "abandoned", "deferred"),
    )
    counters = dict.fromkeys(names, 0) | {"called_total": 500}
    return Stats("r", Mode.OPEN, 1, 1, waiting, called, inside, 0, None, 0, counters, NOW_MS)


def sample(ago_s: float, **numbers: int) -> Sample:
    """Return a sample of some seconds ago."""
    zero = dict.fromkeys(
        (
            *("waiting", "called", "inside", "joined", "called_total", "entered", "finished"),
            *("left", "kicked", "expired", "no_show", "abandoned"),
        ),
        0,
    )
    return Sample(at_ms=NOW_MS - round(ago_s * 1000), **(zero | numbers))


def board(policy: Policy, now: Stats | None = None, samples: tuple[Sample, ...] = ()) -> Board:
    """Return a board of a room."""
    made = Board("r", policy, now or stats(), deque(samples))
    made.renew(policy, now or stats())
    return made


SLOTS = preset("slots", session_s=300)


@pytest.mark.parametrize("eta", [Eta.SERVICE, Eta.OBSERVED])
def test_twice_the_capacity_halves_the_wait(eta: Eta) -> None:
    """The preview follows the limits, not the pace of the past."""
    found = previews.preview(board(SLOTS.change(eta=eta)), Wish(Lever.CAPACITY, {"capacity": 100}))
    assert {"capacity": (50, 100)} == found.changed
    assert found.before_s is not None
    assert found.after_s is not None
    assert 0.35 <= found.after_s / found.before_s <= 0.6


def test_half_the_pace_doubles_the_wait() -> None:
    """So does the pace, in both directions."""
    paced = board(preset("batch", batch=100, every_s=10), stats(10_000, 0, 0))
    found = previews.preview(paced, Wish(Lever.PACE, {"batch": 50, "every_s": 10}))
    assert (1000, 2000) == (found.before_s, found.after_s)
    found = previews.preview(paced, Wish(Lever.PACE, {"batch": 400, "every_s": 10}))
    assert (1000, 250) == (found.before_s, found.after_s)


def test_a_limit_that_is_not_the_tightest() -> None:
    """Raising what does not limit changes nothing, and the preview says so."""
    policy = preset("per-minute", max_entries=60, per_s=60, batch=10, every_s=10)
    found = previews.preview(
        board(policy, stats(600, 0, 0)), Wish(Lever.PACE, {"batch": 100, "every_s": 10})
    )
    assert found.same


def test_lowering_below_those_inside() -> None:
    """It says how many are above, and that nobody is sent away."""
    found = previews.preview(board(SLOTS), Wish(Lever.CAPACITY, {"capacity": 20}))
    assert (("note_over", 30),) == found.notes
    assert found.before_s is not None
    assert found.after_s is not None
    assert found.after_s > 1.5 * found.before_s


def test_pausing_has_no_estimate() -> None:
    """Nobody can say how long a pause takes; what it means is told in words."""
    found = previews.preview(board(SLOTS), Wish(Lever.MODE, {"mode": "paused"}))
    assert (None, (("note_paused", 0),)) == (found.after_s, found.notes)
    paused = board(SLOTS.change(mode=Mode.PAUSED))
    found = previews.preview(paused, Wish(Lever.MODE, {"mode": "open"}))
    assert found.before_s is None
    assert found.after_s is not None


def test_admitting_moves_the_last_one_up() -> None:
    """The last in line waits as long as somebody so many places further in front."""
    room = board(SLOTS, stats(600, 0, 20))
    found = previews.preview(room, Wish(Lever.ADMIT, {}, count=30))
    assert found.after_s == float(room.wait(570).likely)  # type: ignore[union-attr]
    assert () == found.notes
    found = previews.preview(room, Wish(Lever.ADMIT, {}, count=1000))
    assert (("note_fewer", 600), ("note_room", 30)) == found.notes
    paused = board(SLOTS.change(mode=Mode.PAUSED))
    assert "note_refused" == previews.preview(paused, Wish(Lever.ADMIT, {}, 5)).notes[0][0]


@pytest.mark.parametrize("text", ["-5", "1e3", "0x10", "٣", "1.2.3", "5;", "9" * 13])
def test_numbers_that_are_none(text: str) -> None:
    """What a form holds is read strictly."""
    with pytest.raises(InvalidPolicy):
        previews.read({"do": "capacity", "capacity": text})
    with pytest.raises(InvalidInput):
        previews.read({"do": "admit", "count": text})


def test_numbers_as_people_type_them() -> None:
    """Separators are fine, and nothing means no limit."""
    assert {"capacity": 1200} == previews.read({"do": "capacity", "capacity": " 1,200 "}).changes
    assert {"batch": None, "every_s": None} == previews.read({"do": "pace"}).changes
    assert {"every_s": 2.5} == {
        name: value
        for name, value in previews.read({"do": "pace", "every_s": "2.5"}).changes.items()
        if value
    }


def test_signs() -> None:
    """An operator is told what limits are passed, why nobody is called, and if numbers are old."""
    over = board(SLOTS.change(mode=Mode.PAUSED), stats(called=10))
    assert ["sign_over", "sign_paused"] == [sign.key for sign in signs(over, False)]
    assert (5, "warn") == (signs(over, False)[0].number, view(over, False).level)
    assert ("sign_away", "bad") == (signs(over, True)[0].key, view(over, True).level)
    fine = board(SLOTS)
    assert ([], "ok") == (signs(fine, False), view(fine, False).level)
    fine.fresh_at -= 60
    assert ["sign_stale"] == [sign.key for sign in signs(fine, False)]
    held = board(SLOTS, replace(stats(), hold_until_ms=NOW_MS + 1000))
    assert ["sign_hold"] == [sign.key for sign in signs(held, False)]


def test_calls_per_minute() -> None:
    """The pace of now is that of the last minute, also when samples are younger."""
    samples = [sample(90, called_total=100), sample(61, called_total=380), sample(5)]
    assert 118 == calls_per_minute(samples, stats())
    assert 120 == calls_per_minute([sample(30, called_total=440)], stats())
    assert 0 == calls_per_minute([], stats())
    assert 0 == calls_per_minute([sample(60, called_total=900)], stats())  # counters began anew


def test_charts() -> None:
    """Lines stand on round scales, are broken where nothing was measured, and stay in the frame."""
    samples = [sample(3_600 - 5 * n, waiting=n, inside=3, called_total=n) for n in range(300)]
    samples += [
        sample(1_200 - 5 * n, waiting=700, inside=3, called_total=300 + n) for n in range(240)
    ]
    points = chart.points(samples)
    assert len(points) <= 182
    waiting, places, pace = chart.charts(points, NOW_MS)
    assert (800, 4, 20) == (waiting.top, places.top, pace.top)
    (line,) = waiting.lines
    assert 2 == line.path.count("M")
    assert (700, 700) == (line.now, line.highest)
    xs = [float(x) for x in re.findall(r"[ML]([\d.-]+)", line.path)]
    assert sorted(xs) == xs
    assert 0 <= xs[0] <= xs[-1] <= 600
    assert 13 >= len(chart.rows(points))
    assert 0 == len(chart.charts([], NOW_MS)[0].lines[0].path)


@pytest.mark.parametrize(
    ("highest", "top"),
    [(0, 4), (4, 4), (5, 5), (7, 8), (11, 20), (101, 200), (999, 1000), (10, 10)],
)
def test_scales(highest: int, top: int) -> None:
    """The top of a scale is round and holds the highest value."""
    assert top == chart.nice(highest)


@pytest.mark.parametrize(
    ("seconds", "english", "korean"),
    [
        (None, "no estimate", "예상 없음"),
        (10, "under a minute", "1분 미만"),
        (60, "about 1 min", "약 1분"),
        (725, "about 12 min", "약 12분"),
        (3_600, "about 1 h", "약 1시간"),
        (5_700, "about 1 h 35 min", "약 1시간 35분"),
    ],
)
def test_waits_in_words(seconds: float | None, english: str, korean: str) -> None:
    """A wait is said without false precision."""
    assert english == say.about(load_text("operator", "en"), seconds)
    assert korean == say.about(load_text("operator", "ko"), seconds)


def test_deeds_in_words() -> None:
    """Every action that we log has words of its own, in both languages."""
    details: dict[str, dict[str, Any]] = {
        "room.create": {"policy": {}},
        "room.drop": {"held": {}},
        "room.clear": {"cleared": 5},
        "room.change": {"changed": {"capacity": {"old": 5, "new": None}}},
        "admit": {"count": 5, "called": 3, "force": False},
        "call": {"ticket": "abc", "force": False},
        "kick": {"asked": 2, "kicked": 1, "tickets": ["a", "b"]},
        "key.create": {"id": "a", "name": "b", "role": "viewer"},
        "key.revoke": {"id": "a", "name": "b"},
        "key.rotate": {"name": "20300101.pem"},
        "key.prune": {"names": ["20300101.pem"]},
        "store.create": {"store": "s", "title": "S"},
        "store.change": {"store": "s", "changed": {"mode": {"old": "open", "new": "paused"}}},
        "host.create": {"store": "s", "id": "a", "name": "b"},
        "host.revoke": {"store": "s", "id": "a", "name": "b"},
        "desk.rebuild": {"store": None, "lines": 2, "settled": 1, "removed": 0},
        "sign_in": {},
    }
    for action, detail in details.items():
        entry = Entry(key_id="k", key_name="n", role="admin", action=action, detail=detail)
        for lang in LANGUAGES:
            (line,) = say.told(load_text("operator", lang), entry)
            assert line not in (action, "")
            assert "None" not in line
    aged = {"asked": 2, "kicked": 2, "state": "waiting", "older_than_s": 60.0}
    whole = {"asked": 2, "kicked": 2, "state": "inside", "older_than_s": None}
    for detail, words in ((aged, "how long"), (whole, "of the state “Inside”")):
        entry = Entry(key_id="k", key_name="n", role="admin", action="kick", detail=detail)
        assert words in say.told(load_text("operator", "en"), entry)[0]
    unknown = Entry(key_id="k", key_name="n", role="admin", action="later", detail={})
    assert ["later"] == say.told(load_text("operator", "en"), unknown)


@pytest.mark.parametrize(
    ("role", "way", "address", "shown"),
    [
        ("admin", "api", "192.0.2.7", "admin · API · 192.0.2.7"),
        ("host", "page", "192.0.2.7", "host · page · 192.0.2.7"),
        ("admin", "cli", "desk-1", "command line · desk-1"),
        ("admin", "config", "", "configuration file"),
        ("viewer", "", "192.0.2.7", "viewer · 192.0.2.7"),
        ("later", "later", "", "later · later"),
    ],
)
def test_who_and_from_where(role: str, way: str, address: str, shown: str) -> None:
    """The log says which way somebody came, also of entries of other versions."""
    entry = Entry(key_id="k", key_name="n", role=role, way=way, action="admit", address=address)
    assert shown == say.origin(load_text("operator", "en"), entry)
