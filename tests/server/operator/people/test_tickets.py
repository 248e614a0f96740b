"""The operator page: one room and its people."""

from __future__ import annotations

import httpx2


def test_people_lead_to_their_pages(page: httpx2.Client, http: httpx2.Client, room: str) -> None:
    """The list of waiting people links each of them by the short code."""
    for _ in range(4):
        joined = http.post(f"/v1/rooms/{room}/tickets").json()
    shown = page.get(f"/admin/rooms/{room}/tickets").text
    ticket_id = joined["ticket"][24:40]
    assert f'/people/{ticket_id}">{joined["short_code"]}</a>' in shown
