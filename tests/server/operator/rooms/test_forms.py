"""Rooms created, copied, changed, cleared and removed on the page, with errors at their fields."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from tests.server.operator.forms import token_of
from tests.support.serving import Serving


@contextmanager
def role(served: Serving, operator: httpx2.Client, word: str) -> Iterator[httpx2.Client]:
    """Return a browser of somebody with a role."""
    made = operator.post("/v1/admin/keys", json={"name": word, "role": word}).json()
    with httpx2.Client(base_url=served.base, timeout=60) as client:
        client.post("/admin/sign-in", data={"key": made["key"]})
        yield client


def fields_of(page: str) -> dict[str, str]:
    """Return what a browser would send for an unchanged form."""
    form = {
        name: html.unescape(value)
        for name, value in re.findall(r'<input [^>]*?name="(\w+)"[^>]*? value="([^"]*)"', page)
    }
    areas = re.findall(r'<textarea [^>]*?name="(\w+)"[^>]*>\n?(.*?)</textarea>', page, re.DOTALL)
    form |= {name: html.unescape(value).replace("\n", "\r\n") for name, value in areas}
    for name, options in re.findall(r'<select [^>]*?name="(\w+)"[^>]*>(.*?)</select>', page):
        form[name] = re.findall(r'value="(\w+)" selected', options)[0]
    return form


def policy_of(operator: httpx2.Client, room: str) -> dict[str, object]:
    """Return the policy of a room."""
    policy: dict[str, object] = operator.get(f"/v1/admin/rooms/{room}").json()["policy"]
    return policy


def test_a_room_is_made_of_a_preset(
    page: httpx2.Client, operator: httpx2.Client, room: str
) -> None:
    """The form starts with the preset and its main fields; the rest is in groups."""
    shown = page.get("/admin/new-room", params={"begin": "slots"}).text
    assert shown.index('name="capacity"') < shown.index("<details") < shown.index('name="batch"')
    form = fields_of(shown) | {"name": f"{room}-made", "capacity": "7", "title": "Fünf & <b>"}
    answer = page.post("/admin/new-room", data=form)
    assert (303, f"/admin/rooms/{room}-made") == (
        answer.status_code,
        answer.headers["location"],
    ), answer.text
    policy = policy_of(operator, f"{room}-made")
    assert (7, "service", "Fünf & <b>") == (policy["capacity"], policy["eta"], policy["title"])


def test_a_copy_has_every_setting(page: httpx2.Client, operator: httpx2.Client, room: str) -> None:
    """A copied room differs in nothing but its name."""
    change = {
        "texts": {"ko": {"title": "오로라"}},
        "message": "Two\nlines",
        "opens_at": "2030-03-01T20:00:00.123+09:00",
        "time_zone": "Asia/Seoul",
        "batch": 3,
        "every_s": 0.5,
        "presence_s": None,
    }
    operator.patch(f"/v1/admin/rooms/{room}", json={"policy": change}).raise_for_status()
    shown = page.get("/admin/new-room", params={"copy": room}).text
    form = fields_of(shown)
    assert f"{room}-copy" == form["name"]
    assert 303 == page.post("/admin/new-room", data=form).status_code
    assert policy_of(operator, room) == policy_of(operator, f"{room}-copy")
    assert 404 == page.get("/admin/new-room", params={"copy": "nowhere"}).status_code


@pytest.mark.parametrize(
    ("name", "words"), [("no spaces", "name is not valid"), ("", "name is not valid")]
)
def test_bad_names(page: httpx2.Client, name: str, words: str) -> None:
    """The error is at the name, and all input is kept."""
    form = fields_of(page.get("/admin/new-room").text) | {"name": name, "capacity": "12"}
    answer = page.post("/admin/new-room", data=form)
    assert (422, True) == (answer.status_code, words in answer.text)
    assert "12" == fields_of(answer.text)["capacity"]


def test_a_name_that_is_taken(page: httpx2.Client, room: str) -> None:
    """An existing room is not overwritten."""
    form = fields_of(page.get("/admin/new-room").text) | {"name": room}
    answer = page.post("/admin/new-room", data=form)
    assert (422, True) == (
        answer.status_code,
        "A room with this name already exists" in answer.text,
    )


def test_settings_are_reviewed_and_applied(
    page: httpx2.Client, operator: httpx2.Client, room: str
) -> None:
    """The diff comes first and changes nothing; you can keep editing; then it is applied."""
    url = f"/admin/rooms/{room}/settings"
    form = fields_of(page.get(url).text)
    assert "It is already set to that." in page.post(url, data=form).text
    review = page.post(url, data=form | {"capacity": "1,234", "session_s": ""})
    shown = re.sub(r"<[^>]+>|\s+", " ", review.text)
    assert re.search(r"Capacity\s+\d+\s+→\s*becomes\s+1,234", shown)
    assert re.search(r"Session length\s+\d+ s\s+→\s*becomes\s+no limit", shown)
    assert 1_234 != policy_of(operator, room)["capacity"]

    confirmed = fields_of(review.text)
    assert {"token", "version", "op", "capacity", "session_s"} == confirmed.keys()
    editing = fields_of(page.post(url, data=confirmed | {"step": "edit"}).text)
    assert ("1,234", "") == (editing["capacity"], editing["session_s"])

    answer = page.post(url, data=confirmed | {"step": "apply"})
    assert 303 == answer.status_code
    policy = policy_of(operator, room)
    assert (1_234, None) == (policy["capacity"], policy["session_s"])
    assert "Capacity: " in page.get(answer.headers["location"]).text
    again = page.post(url, data=confirmed | {"step": "apply"})
    assert (409, True) == (again.status_code, "Somebody else changed it first" in again.text)


def test_errors_stand_at_their_fields(
    page: httpx2.Client, operator: httpx2.Client, room: str
) -> None:
    """Several at once, each linked from the top, with the input kept; nothing is changed."""
    url = f"/admin/rooms/{room}/settings"
    before = operator.get(f"/v1/admin/rooms/{room}").json()["version"]
    form = fields_of(page.get(url).text) | {"capacity": "-3", "colour": "red", "title": "Kept"}
    for step in ("", "apply"):
        answer = page.post(url, data=form | {"step": step})
        assert 422 == answer.status_code
        for name in ("capacity", "colour"):
            assert f'href="#f-{name}"' in answer.text
            assert f'id="f-{name}-wrong"' in answer.text
        assert ("-3", "Kept") == tuple(
            fields_of(answer.text)[name] for name in ("capacity", "title")
        )
    assert before == operator.get(f"/v1/admin/rooms/{room}").json()["version"]


@pytest.mark.attack
def test_operators_send_nobody_elsewhere(
    served: Serving, operator: httpx2.Client, room: str
) -> None:
    """Where people go next is neither shown to an operator nor read from their form."""
    url = f"/admin/rooms/{room}/settings"
    with role(served, operator, "operator") as client:
        form = fields_of(client.get(url).text)
        assert form.keys().isdisjoint({"go_to", "help_link", "ended_link"})
        more = {"go_to": "https://evil.example", "capacity": "77", "step": "apply"}
        assert 303 == client.post(url, data=form | more).status_code
    policy = policy_of(operator, room)
    assert (77, None) == (policy["capacity"], policy["go_to"])


@pytest.mark.parametrize("action", ["clear", "drop"])
def test_clear_and_drop_want_the_name(
    page: httpx2.Client, http: httpx2.Client, operator: httpx2.Client, room: str, action: str
) -> None:
    """They say how many are in the room, and act only once its name is typed."""
    for _ in range(3):
        http.post(f"/v1/rooms/{room}/tickets").raise_for_status()
    url = f"/admin/rooms/{room}/{action}"
    asked = page.get(url).text
    stats = operator.get(f"/v1/admin/rooms/{room}/stats").json()
    assert f"{stats['waiting']} waiting, {stats['called']} called" in asked
    form = fields_of(asked)
    for typed in ("", room.upper()):
        refused = page.post(url, data=form | {"confirm": typed})
        assert (422, True) == (refused.status_code, "The name does not match" in refused.text)
    assert 403 == page.post(url, data={"confirm": room}).status_code
    assert 3 == sum(operator.get(f"/v1/admin/rooms/{room}/stats").json()[s] for s in STATES)
    assert 303 == page.post(url, data=form | {"confirm": room}).status_code
    after = operator.get(f"/v1/admin/rooms/{room}/stats")
    if action == "drop":
        assert 404 == after.status_code
    else:
        assert 0 == sum(after.json()[state] for state in STATES)


STATES = ("waiting", "called", "inside")


@pytest.mark.parametrize("word", ["viewer", "operator"])
def test_roles(served: Serving, operator: httpx2.Client, room: str, word: str) -> None:
    """Forbidden actions are not offered, and by address they are refused with the reason."""
    url = f"/admin/rooms/{room}"
    with role(served, operator, word) as client:
        overview, shown = client.get("/admin").text, client.get(url).text
        assert "/admin/new-room" not in overview
        assert (word == "operator") == (f"{url}/settings" in shown)
        barred = ["/admin/new-room", f"{url}/clear", f"{url}/drop"]
        if word == "viewer":
            barred.append(f"{url}/settings")
        else:
            assert "/drop" not in client.get(f"{url}/settings").text
        form = {"token": token_of(shown), "confirm": room, "name": "x", "capacity": "1"}
        for path in barred:
            for refused in (client.get(path), client.post(path, data=form)):
                assert (403, True) == (refused.status_code, "needs a key" in refused.text)
        korean = client.get(barred[-1], params={"lang": "ko"}).text
        assert "권한이 필요합니다" in korean
