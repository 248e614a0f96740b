"""The operator page: one room and its people."""

from __future__ import annotations

import re

import httpx

from waitroom.short_codes import code_of


def test_search_by_code(page: httpx.Client, http: httpx.Client, room: str) -> None:
    """A short code that is typed on the room's page leads to its ticket, in whichever state."""
    for _ in range(4):
        joined = http.post(f"/v1/rooms/{room}/tickets").json()
    assert 'name="code"' in page.get(f"/admin/rooms/{room}").text
    asked = {"code": joined["short_code"].lower()}
    shown = page.get(f"/admin/rooms/{room}/tickets", params=asked).text
    (ticket_id,) = re.findall(r"<td><code>([\w-]+)</code>", shown)
    assert joined["short_code"] == code_of(ticket_id)
    assert "<h2>Waiting</h2>" in shown
    for word in ("zzz-zzz", "nonsense"):
        shown = page.get(f"/admin/rooms/{room}/tickets", params={"code": word}).text
        assert "Nobody in this room has this code." in shown
