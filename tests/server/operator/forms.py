"""Forms of the operator page, filled in without a browser."""

from __future__ import annotations

import re

import httpx2


def token_of(html: str) -> str:
    """Return the token in the forms of a page."""
    match = re.search(r'name="token" value="([0-9a-f]+)"', html)
    assert match is not None
    return match[1]


def do(page: httpx2.Client, room: str, **wish: str) -> httpx2.Response:
    """Preview a lever and confirm it, as the page does."""
    shown = page.get(f"/admin/rooms/{room}/confirm", params=wish)
    assert 200 == shown.status_code, shown.text
    fields = dict(re.findall(r'<input type="hidden" name="([\w.-]+)" value="([^"]*)"', shown.text))
    return page.post(f"/admin/rooms/{room}/do", data=fields)
