"""The poster and the screen: for hosts, with a code that proves that a guest is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.server.desk import qr
from tests.server.desk.conftest import Shop
from tests.server.desk.forms import form
from tests.support.serving import ADMIN, serving

PAGES = ("poster", "poster.svg", "screen", "screen.svg")


@pytest.fixture
def tablet(shop: Shop) -> Iterator[httpx2.Client]:
    """Return a browser that is signed in to the store's console."""
    with httpx2.Client(base_url=shop.host.base_url, timeout=20) as browser:
        browser.post(f"/desk/{shop.id}/host/sign-in", data={"key": shop.key})
        yield browser


def test_the_code_leads_to_the_join_page(shop: Shop, tablet: httpx2.Client) -> None:
    """A phone reads the printed address from the picture, and the address works."""
    page = tablet.get(f"/desk/{shop.id}/poster")
    address = qr.read(page.text)
    assert f"{str(tablet.base_url).rstrip('/')}/desk/{shop.id}?code={shop.code}" == address
    assert address in page.text
    assert address == qr.read(tablet.get(f"/desk/{shop.id}/poster.svg").text)
    assert "Join the waitlist" in httpx2.get(address).text


@pytest.mark.attack
def test_strangers_see_no_code(shop: Shop, http: httpx2.Client) -> None:
    """Anybody who could open the poster at home would count as on site."""
    for path in PAGES:
        answer = http.get(f"/desk/{shop.id}/{path}")
        assert (303, f"/desk/{shop.id}/host/sign-in") == (
            answer.status_code,
            answer.headers["location"],
        )
    assert 401 == http.get(f"{shop.path}/on-site-code").status_code


@pytest.mark.attack
def test_a_screen_shows_a_code_that_rotates(
    shop: Shop, tablet: httpx2.Client, http: httpx2.Client
) -> None:
    """It opens the line on site; the poster has none, and the old one is worthless."""
    printed = shop.code
    shop.change(on_site="rotating").raise_for_status()
    assert f"/desk/{shop.id}/screen.svg" in tablet.get(f"/desk/{shop.id}/screen").text
    shown = qr.read(tablet.get(f"/desk/{shop.id}/screen.svg").text)
    assert "code=" not in qr.read(tablet.get(f"/desk/{shop.id}/poster").text)
    for code in (printed, shown.partition("code=")[2]):
        assert 303 == http.post(f"/desk/{shop.id}", data=form(code=code)).status_code
    assert ["remote", "on_site"] == [party["source"] for party in shop.line()["parties"]]
    answer = shop.host.get(f"{shop.path}/on-site-code").json()
    assert answer["ends_at"] is not None
    shop.change(on_site="none").raise_for_status()
    assert None is shop.host.get(f"{shop.path}/on-site-code").json()["code"]


@pytest.mark.parametrize("host", ["a" * 4_000, "a b", "x/y", "<b>", "a@b"])
def test_a_host_that_is_none(shop: Shop, tablet: httpx2.Client, host: str) -> None:
    """It would end up in the code, so it is refused first."""
    for path in ("poster", "poster.svg", "screen.svg"):
        answer = tablet.get(
            f"/desk/{shop.id}/{path}",
            headers={"host": host, "authorization": f"Bearer {shop.key}"},
        )
        assert 400 == answer.status_code


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_both_languages(shop: Shop, tablet: httpx2.Client, lang: str) -> None:
    """They show Korean and English whatever the browser asks for, with its language first."""
    for path in ("poster", "screen"):
        text = tablet.get(f"/desk/{shop.id}/{path}", headers={"accept-language": lang}).text
        english, korean = text.index("Scan to join"), text.index("QR 코드를 스캔해")
        assert (english < korean) == (lang == "en")
        assert f'<html lang="{lang}">' in text


def test_svg(shop: Shop, tablet: httpx2.Client) -> None:
    """The code alone is a picture with the quiet zone that the standard asks for."""
    answer = tablet.get(f"/desk/{shop.id}/poster.svg")
    assert "image/svg+xml" == answer.headers["content-type"]
    assert "default-src 'none'" == answer.headers["content-security-policy"]
    assert re.search(r' d="M4 4\.5h7', answer.text)


def test_unknown_store(http: httpx2.Client) -> None:
    """A store that does not exist has no poster."""
    for path in PAGES:
        assert 404 == http.get(f"/desk/nowhere/{path}").status_code


def test_the_public_address(tmp_path: Path) -> None:
    """Behind a proxy the code leads to the address that guests use, not to the proxy's target."""
    with serving(tmp_path, desk=True, public_url="https://wait.example.com/") as served:
        body = {"id": "bar", "title": "Bar", "types": [{"name": "bar", "title": "Bar"}]}
        httpx2.post(f"{served.base}/v1/stores", json=body, headers=ADMIN).raise_for_status()
        page = httpx2.get(f"{served.base}/desk/bar/poster", headers=ADMIN).text
        assert qr.read(page).startswith("https://wait.example.com/desk/bar?code=")
