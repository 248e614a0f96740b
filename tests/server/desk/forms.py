"""What the tests of the desk's pages share: filled-in forms, and a host's session."""

from __future__ import annotations

import re

import httpx2

from tests.server.desk.conftest import Shop


def form(**fields: str) -> dict[str, str]:
    """Return a filled-in form."""
    return {"type": "dine-in", "size": "2", **fields}


def joined(shop: Shop, http: httpx2.Client, **fields: str) -> str:
    """Join with the form, and return the address of the place."""
    answer = http.post(f"/desk/{shop.id}", data={"code": shop.code, **form(**fields)})
    assert 303 == answer.status_code, answer.text
    return str(answer.headers["location"])


def hidden(html: str, name: str) -> str:
    """Return the value of a hidden field."""
    match = re.search(rf'name="{name}" value="([^"]*)"', html)
    assert match is not None
    return match[1]


def sign_in(shop: Shop, http: httpx2.Client, key: str | None = None) -> httpx2.Response:
    """Sign in to the console."""
    return http.post(f"/desk/{shop.id}/host/sign-in", data={"key": key or shop.key})
