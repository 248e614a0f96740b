"""The poster: its code leads to the join page, also behind a proxy."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from tests.server.desk import qr
from tests.server.desk.conftest import Shop
from tests.support.serving import ADMIN, serving


def test_the_code_leads_to_the_join_page(shop: Shop, http: httpx.Client) -> None:
    """What a phone reads out of the picture is the address that is printed, and it answers."""
    page = http.get(f"/desk/{shop.id}/poster")
    address = qr.read(page.text)
    assert f"{http.base_url}/desk/{shop.id}?here=1" == address
    assert address in page.text
    assert address == qr.read(http.get(f"/desk/{shop.id}/poster.svg").text)
    assert "Join the waitlist" in httpx.get(address).text


@pytest.mark.parametrize("host", ["a" * 4_000, "a b", "x/y", "<b>", "a@b"])
def test_a_host_that_is_none(shop: Shop, http: httpx.Client, host: str) -> None:
    """It would go into the code, and is refused before that."""
    for path in ("poster", "poster.svg"):
        answer = http.get(f"/desk/{shop.id}/{path}", headers={"host": host})
        assert 400 == answer.status_code


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_both_languages(shop: Shop, http: httpx.Client, lang: str) -> None:
    """It speaks Korean and English whatever the browser asks for, that one first."""
    text = http.get(f"/desk/{shop.id}/poster", headers={"accept-language": lang}).text
    english, korean = text.index("Scan to join"), text.index("QR 코드를 스캔해")
    assert (english < korean) == (lang == "en")
    assert f'<html lang="{lang}">' in text


def test_svg(shop: Shop, http: httpx.Client) -> None:
    """The code alone is a picture with the quiet zone that the standard asks for."""
    answer = http.get(f"/desk/{shop.id}/poster.svg")
    assert "image/svg+xml" == answer.headers["content-type"]
    assert "default-src 'none'" == answer.headers["content-security-policy"]
    assert re.search(r' d="M4 4\.5h7', answer.text)


def test_unknown_store(http: httpx.Client) -> None:
    """A store that is not there has no poster."""
    for path in ("poster", "poster.svg"):
        assert 404 == http.get(f"/desk/nowhere/{path}").status_code


def test_the_public_address(tmp_path: Path) -> None:
    """Behind a proxy the code leads to where guests reach us, not to where the proxy does."""
    with serving(tmp_path, desk=True, public_url="https://wait.example.com/") as served:
        body = {"id": "bar", "title": "Bar", "types": [{"name": "bar", "title": "Bar"}]}
        httpx.post(f"{served.base}/v1/stores", json=body, headers=ADMIN).raise_for_status()
        page = httpx.get(f"{served.base}/desk/bar/poster").text
        assert "https://wait.example.com/desk/bar?here=1" == qr.read(page)
