"""The levers of the operator page: previewed, confirmed, logged and undone."""

from __future__ import annotations

import html
import re

import httpx2
import pytest

from tests.server.operator.forms import do, token_of
from tests.support.serving import Serving


def test_pause_and_undo(page: httpx2.Client, operator: httpx2.Client, room: str) -> None:
    """A confirmed change takes effect, says what it did, and can be undone while it is the last."""
    answer = do(page, room, do="mode", mode="paused")
    assert 303 == answer.status_code
    assert "paused" == operator.get(f"/v1/admin/rooms/{room}").json()["policy"]["mode"]
    shown = page.get(answer.headers["location"]).text
    assert "Mode: Open → Paused" in shown
    assert 303 == undo(page, room, shown).status_code
    assert "open" == operator.get(f"/v1/admin/rooms/{room}").json()["policy"]["mode"]
    again = undo(page, room, shown)
    assert (409, True) == (again.status_code, "Somebody else changed it first" in again.text)


def undo(page: httpx2.Client, room: str, shown: str) -> httpx2.Response:
    """Press the undo button of a page."""
    entry = re.search(r'name="entry" value="([\d-]+)"', shown)
    assert entry is not None
    form = {"entry": entry[1], "token": token_of(shown)}
    return page.post(f"/admin/rooms/{room}/undo", data=form)


def test_undo_from_everywhere(
    page: httpx2.Client, served: Serving, operator: httpx2.Client, room: str
) -> None:
    """A change made elsewhere can be undone from the room's page, its live part or the log."""
    operator.patch(f"/v1/admin/rooms/{room}", json={"policy": {"capacity": 9}}).raise_for_status()
    operator.post(f"/v1/admin/rooms/{room}/admit", json={"count": 1}).raise_for_status()
    places = (f"/admin/rooms/{room}", f"/admin/rooms/{room}?live=1", f"/admin/audit?room={room}")
    for number, path in enumerate(places):
        shown = page.get(path).text
        assert 1 == shown.count('name="entry"'), path
        assert 303 == undo(page, room, shown).status_code
        policy = operator.get(f"/v1/admin/rooms/{room}").json()["policy"]
        assert (2, 9)[number % 2] == policy["capacity"]
    shown = page.get(f"/admin/rooms/{room}").text
    assert "Undone · Capacity: 9 → 2" in shown
    made = operator.post("/v1/admin/keys", json={"name": "v", "role": "viewer"}).json()
    with httpx2.Client(base_url=served.base, timeout=60) as viewer:
        viewer.post("/admin/sign-in", data={"key": made["key"]})
        for path in places:
            shown = viewer.get(path).text
            assert (True, False) == ("Capacity: 9 → 2" in shown, 'name="entry"' in shown), path


def test_a_room_that_ended_by_its_time_is_opened(
    page: httpx2.Client, operator: httpx2.Client, room: str
) -> None:
    """The page says that it ended; opening it removes the end time, which can be undone."""
    policy = {"ends_at": "2020-01-01T00:00:00Z"}
    operator.patch(f"/v1/admin/rooms/{room}", json={"policy": policy}).raise_for_status()
    shown = page.get(f"/admin/rooms/{room}").text
    assert '<span class="chip ended">Ended</span>' in shown
    assert '<input type="hidden" name="ends_at" value="">' in shown
    answer = do(page, room, do="mode", mode="open", ends_at="")
    assert 303 == answer.status_code
    shown = page.get(answer.headers["location"]).text
    assert "End: 2020-01-01T00:00:00.000Z → " in shown
    assert 'name="entry"' in shown
    assert None is operator.get(f"/v1/admin/rooms/{room}").json()["policy"]["ends_at"]


def test_a_change_in_between(page: httpx2.Client, operator: httpx2.Client, room: str) -> None:
    """If somebody changes the room between preview and confirmation, nothing is overwritten."""
    token = token_of(page.get("/admin").text)
    operator.patch(f"/v1/admin/rooms/{room}", json={"policy": {"capacity": 9}}).raise_for_status()
    form = {"do": "capacity", "capacity": "5", "version": "1", "token": token}
    answer = page.post(f"/admin/rooms/{room}/do", data=form)
    assert (409, True) == (answer.status_code, "Somebody else changed it first" in answer.text)


def test_admit(
    page: httpx2.Client, http: httpx2.Client, operator: httpx2.Client, room: str
) -> None:
    """Calling people first says how many there is room for, and a double click calls once."""
    for _ in range(6):
        http.post(f"/v1/rooms/{room}/tickets").raise_for_status()
    shown = page.get(f"/admin/rooms/{room}/confirm?do=admit&count=3").text
    assert "There is no room for anybody now" in shown
    shown = page.get(f"/admin/rooms/{room}/confirm?do=admit&count=3&force=1").text
    assert "3 people are then called or inside above the capacity of 2" in shown
    fields = dict(re.findall(r'<input type="hidden" name="([\w.-]+)" value="([^"]*)"', shown))
    for _ in range(2):
        assert 303 == page.post(f"/admin/rooms/{room}/do", data=fields).status_code
    assert 5 == operator.get(f"/v1/admin/rooms/{room}/stats").json()["called"]
    log = page.get(f"/admin/audit?room={room}").text
    assert "Called 3 of 3 requested" in log


def test_call_and_remove_one(page: httpx2.Client, http: httpx2.Client, room: str) -> None:
    """A ticket in the list can be called or removed, each after a confirmation."""
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
def test_bad_wishes(page: httpx2.Client, room: str, query: str, status: int) -> None:
    """An impossible action is explained on a page, with a way back."""
    answer = page.get(f"/admin/rooms/{room}/confirm?{query}")
    assert (status, True) == (answer.status_code, f"Back to {room}" in answer.text)


def test_a_message_to_everyone(page: httpx2.Client, operator: httpx2.Client, room: str) -> None:
    """It is previewed as its readers see it, sent, reverted by undo, and removed."""
    draft = page.get(f"/admin/rooms/{room}", params={"draft": "delay"}).text
    assert "We are running about 10 minutes late." in draft
    form = {"do": "message", "token": token_of(draft), "message": " Late.\r\n<b>Sorry</b> "}
    assert 403 == page.post(f"/admin/rooms/{room}/confirm", data=form | {"token": ""}).status_code
    shown = page.post(f"/admin/rooms/{room}/confirm", data=form).text
    assert "</b> · Late.\n&lt;b&gt;Sorry&lt;/b&gt;</p>" in shown
    assert operator.get(f"/v1/admin/rooms/{room}").json()["policy"]["message"] is None

    answer = confirmed(page, room, form)
    policy = operator.get(f"/v1/admin/rooms/{room}").json()
    assert ("Late.\n<b>Sorry</b>", True) == (
        policy["policy"]["message"],
        policy["message_at_ms"] is not None,
    )
    shown = page.get(answer.headers["location"]).text
    assert "Message: none → Late." in shown
    assert "Remove this message" in page.get(f"/admin/rooms/{room}?live=1&drawn=0").text
    confirmed(page, room, form | {"remove": "1"})
    assert operator.get(f"/v1/admin/rooms/{room}").json()["policy"]["message"] is None
    too_long = page.post(f"/admin/rooms/{room}/confirm", data=form | {"message": "x" * 1_001})
    assert (422, True) == (too_long.status_code, f"Back to {room}" in too_long.text)


def confirmed(page: httpx2.Client, room: str, form: dict[str, str]) -> httpx2.Response:
    """Preview a text and confirm it."""
    shown = page.post(f"/admin/rooms/{room}/confirm", data=form).text
    pairs = re.findall(r'<input type="hidden" name="([\w.-]+)" value="([^"]*)"', shown)
    fields = {name: html.unescape(value) for name, value in pairs}
    answer = page.post(f"/admin/rooms/{room}/do", data=fields)
    assert 303 == answer.status_code, answer.text
    return answer


def test_a_message_replaces_those_of_languages(
    page: httpx2.Client, operator: httpx2.Client, room: str
) -> None:
    """The preview says so, and an undo restores them."""
    change = {"policy": {"message": "Welcome", "texts": {"ko": {"message": "안녕하세요"}}}}
    operator.patch(f"/v1/admin/rooms/{room}", json=change).raise_for_status()
    form = {"do": "message", "token": token_of(page.get("/admin").text), "message": "Late"}
    shown = page.post(f"/admin/rooms/{room}/confirm", data=form).text
    assert "It also replaces the messages for individual languages." in shown
    answer = confirmed(page, room, form)
    assert operator.get(f"/v1/admin/rooms/{room}").json()["policy"]["texts"] is None
    shown = page.get(answer.headers["location"]).text
    assert "Texts by language: {" in shown
    assert 303 == undo(page, room, shown).status_code
    policy = operator.get(f"/v1/admin/rooms/{room}").json()["policy"]
    assert change["policy"] == {"message": policy["message"], "texts": policy["texts"]}


def test_a_long_message_comes_back_whole(
    page: httpx2.Client, operator: httpx2.Client, room: str
) -> None:
    """Undo restores every character."""
    long = "가" * 1_000
    operator.patch(f"/v1/admin/rooms/{room}", json={"policy": {"message": long}}).raise_for_status()
    form = {"do": "message", "token": token_of(page.get("/admin").text), "message": "Late"}
    shown = page.get(confirmed(page, room, form).headers["location"]).text
    assert 303 == undo(page, room, shown).status_code
    assert long == operator.get(f"/v1/admin/rooms/{room}").json()["policy"]["message"]
