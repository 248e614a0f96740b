"""The page of one person, and the search that leads to it."""

from __future__ import annotations

import re
from typing import Any

import httpx2
import pytest

from tests.support.serving import Serving

HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')


def join(http: httpx2.Client, room: str, people: int) -> list[dict[str, Any]]:
    """Make people join; their tickets contain their ids."""
    views = [http.post(f"/v1/rooms/{room}/tickets").json() for _ in range(people)]
    return [view | {"id": view["ticket"][24:40]} for view in views]


def at(room: str, person: dict[str, Any]) -> str:
    """Return the address of somebody's page."""
    return f"/admin/rooms/{room}/people/{person['id']}"


def press(page: httpx2.Client, url: str) -> str:
    """Open a lever on the page, confirm it, and return where it leads."""
    confirmed = dict(HIDDEN.findall(page.get(url.replace("&amp;", "&")).text))
    room = url.split("/")[3]
    answer = page.post(f"/admin/rooms/{room}/do", data=confirmed)
    assert 303 == answer.status_code, answer.text
    return answer.headers["location"]


def find(page: httpx2.Client, words: str) -> httpx2.Response:
    """Send the search field of a page."""
    token = dict(HIDDEN.findall(page.get("/admin").text))["token"]
    return page.post("/admin/find", data={"q": words, "token": token})


@pytest.mark.attack
def test_nobody_looked_for_is_in_an_address(page: httpx2.Client, operator: httpx2.Client) -> None:
    """An account is looked for in a body; an address with one shows the empty search, or nothing.

    Another site's form finds nobody.
    """
    shown = page.get("/admin/find", params={"q": "ann@example.com"})
    assert (200, False) == (shown.status_code, "ann@example.com" in shown.text)
    assert 405 == operator.get("/v1/admin/find", params={"q": "ann@example.com"}).status_code
    assert shown.text.count('method="post" action="/admin/find"') == shown.text.count('name="q"')
    asked = {"q": "ann@example.com"}
    assert 403 == page.post("/admin/find", data=asked).status_code
    foreign = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
    token = dict(HIDDEN.findall(shown.text))["token"]
    refused = page.post("/admin/find", data=asked | {"token": token}, headers=foreign)
    assert 403 == refused.status_code


def test_found_by_code(
    page: httpx2.Client, http: httpx2.Client, operator: httpx2.Client, room: str
) -> None:
    """A single match leads straight to the person; their page says where and why they wait."""
    operator.patch(f"/v1/admin/rooms/{room}", json={"policy": {"mode": "paused"}})
    _, person, _ = join(http, room, 3)
    for words in (person["short_code"].lower(), person["ticket"], person["id"]):
        answer = find(page, words)
        assert (303, at(room, person)) == (answer.status_code, answer.headers["location"])
    shown = page.get(at(room, person)).text
    for text in (
        "Why they are still waiting",
        "The room is paused",
        "One person is ahead",
        "Joined",
    ):
        assert text in shown
    nobody = find(page, "nobody@example.com").text
    assert "No match in any room" in nobody
    assert 404 == page.get(f"/admin/rooms/{room}/people/{'A' * 16}").status_code


def test_removed_and_given_back(
    page: httpx2.Client, http: httpx2.Client, operator: httpx2.Client, room: str
) -> None:
    """Each lever asks first and leads back to the person, whose history says who did what."""
    operator.patch(f"/v1/admin/rooms/{room}", json={"policy": {"mode": "paused"}})
    _, person, _ = join(http, room, 3)
    confirm = f"/admin/rooms/{room}/confirm?person=1&ticket={person['id']}&do="
    assert press(page, f"{confirm}kick").startswith(at(room, person))
    shown = page.get(at(room, person)).text
    assert "Removed by an operator" in shown
    assert "Give the place back" in shown
    press(page, f"{confirm}reinstate")
    shown = page.get(at(room, person)).text
    assert "Got the place back" in shown
    view = http.get(f"/v1/rooms/{room}/tickets/{person['ticket']}").json()
    assert ("waiting", 2) == (view["state"], view["position"])


@pytest.mark.attack
def test_a_viewer_sees_no_levers(
    served: Serving, operator: httpx2.Client, http: httpx2.Client, room: str
) -> None:
    """They find people and read, and their page offers no actions."""
    made = operator.post("/v1/admin/keys", json={"name": "v", "role": "viewer"}).json()
    operator.patch(f"/v1/admin/rooms/{room}", json={"policy": {"mode": "paused"}})
    _, person = join(http, room, 2)
    with httpx2.Client(base_url=served.base) as viewer:
        viewer.post("/admin/sign-in", data={"key": made["key"]})
        shown = viewer.get(at(room, person)).text
        assert person["short_code"] in shown
        assert "/confirm" not in shown
        url = f"/admin/rooms/{room}/confirm?person=1&ticket={person['id']}&do=reinstate"
        assert 403 == viewer.get(url).status_code


@pytest.mark.attack
def test_before_a_draw_no_order_is_told(
    page: httpx2.Client, http: httpx2.Client, operator: httpx2.Client, room: str
) -> None:
    """Neither position nor time of arrival, which would reveal a drawn place."""
    policy = {"opens_at": "2099-01-01T00:00:00Z", "before_open": "draw"}
    operator.patch(f"/v1/admin/rooms/{room}", json={"policy": policy}).raise_for_status()
    person, *_ = join(http, room, 3)
    shown = page.get(at(room, person)).text
    assert "Places are being drawn" in shown
    assert "ahead" not in shown
    assert "Joined the line" not in shown
    match = operator.post("/v1/admin/find", json={"q": person["id"]}).json()["matches"][0]
    assert (None, None) == (match["position"], match["since_ms"])
