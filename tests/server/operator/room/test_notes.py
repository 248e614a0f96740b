"""Notes on the timeline: written on the page, shown as an action, never as markup."""

from __future__ import annotations

import html

import httpx2
import pytest

from tests.server.operator.forms import token_of
from tests.support.serving import Serving


def test_a_note_stands_in_the_log(page: httpx2.Client, operator: httpx2.Client, room: str) -> None:
    """It is shown on the room's page and in the audit log, with its text escaped."""
    token = token_of(page.get(f"/admin/rooms/{room}").text)
    form = {"token": token, "text": "  The <b>bank</b>\r\n is slow "}
    answer = page.post(f"/admin/rooms/{room}/notes", data=form)
    assert 303 == answer.status_code
    line = html.escape("Note: The <b>bank</b> is slow")
    for path in (answer.headers["location"], f"/admin/audit?room={room}"):
        assert line in page.get(path).text
    entry = operator.get("/v1/admin/audit", params={"room": room}).json()["entries"][0]
    assert ("note", {"text": "The <b>bank</b> is slow"}) == (entry["action"], entry["detail"])


def test_the_api_takes_notes(operator: httpx2.Client, room: str) -> None:
    """The answer names the entry; a room that does not exist gets none."""
    made = operator.post(f"/v1/admin/rooms/{room}/notes", json={"text": "doors open"})
    assert 201 == made.status_code
    entry = operator.get("/v1/admin/audit", params={"room": room}).json()["entries"][0]
    assert (made.json()["id"], "note") == (entry["id"], entry["action"])
    assert 404 == operator.post("/v1/admin/rooms/nowhere/notes", json={"text": "x"}).status_code


@pytest.mark.parametrize("text", ["", " \r\n ", "x" * 501, "a\x00b", "a\u202eb"])
def test_what_is_no_note(
    page: httpx2.Client, operator: httpx2.Client, room: str, text: str
) -> None:
    """Empty text, too much text, and characters that would change how the log reads are refused."""
    token = token_of(page.get(f"/admin/rooms/{room}").text)
    form = {"token": token, "text": text}
    assert 422 == page.post(f"/admin/rooms/{room}/notes", data=form).status_code
    answer = operator.post(f"/v1/admin/rooms/{room}/notes", json={"text": text})
    assert 422 == answer.status_code


def test_viewers_write_none(served: Serving, operator: httpx2.Client, room: str) -> None:
    """A viewer gets no form, and is refused if they send one; the token is required."""
    made = operator.post("/v1/admin/keys", json={"name": "v", "role": "viewer"}).json()
    with httpx2.Client(base_url=served.base) as client:
        client.post("/admin/sign-in", data={"key": made["key"]})
        shown = client.get(f"/admin/rooms/{room}").text
        assert "/notes" not in shown
        form = {"token": token_of(shown), "text": "x"}
        assert 403 == client.post(f"/admin/rooms/{room}/notes", data=form).status_code


def test_a_form_of_another_site(page: httpx2.Client, room: str) -> None:
    """Without the session's token nothing is written."""
    assert 403 == page.post(f"/admin/rooms/{room}/notes", data={"text": "x"}).status_code
