"""The console's session at the API: its cookie opens its own store, and only for our own pages."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import httpx2
import pytest

from tests.server.desk.api.test_guests import problem
from tests.server.desk.conftest import Shop, open_shop, shop_on
from tests.server.operator.forms import token_of
from tests.support.clients import live
from tests.support.serving import Serving, serving
from waitroom.server.desk.session import COOKIE


@pytest.fixture
def tablet(shop: Shop) -> Iterator[httpx2.Client]:
    """Return a browser that is signed in to the store's console."""
    with httpx2.Client(base_url=shop.host.base_url, timeout=60) as browser:
        signed = browser.post(f"/desk/{shop.id}/host/sign-in", data={"key": shop.key})
        assert 303 == signed.status_code, signed.text
        yield browser


def test_the_cookie_opens_its_store(shop: Shop, tablet: httpx2.Client) -> None:
    """With it the console reads and acts; the cookie contains no key, and no script can read it."""
    shop.join()
    assert 200 == tablet.get(f"{shop.path}/line").status_code
    called = tablet.post(f"{shop.path}/line/call-next", json={"type": "dine-in"})
    assert "CALLED" == called.json()["party"]["status"]
    (cookie,) = tablet.cookies.jar
    assert (COOKIE + shop.id, True) == (cookie.name, cookie.has_nonstandard_attr("HttpOnly"))
    assert "strict" == str(cookie.get_nonstandard_attr("SameSite")).lower()
    assert shop.key.split("_", 2)[2] not in str(cookie.value)


async def test_the_cookie_opens_its_stream(
    shop: Shop, served: Serving, tablet: httpx2.Client
) -> None:
    """A browser's event stream can send nothing else."""
    (cookie,) = tablet.cookies.jar
    shown = {"Cookie": f"{cookie.name}={cookie.value}"}
    async with live(served.port, f"{shop.path}/line/events", shown) as stream:
        await stream.until("line", parties=[])


@pytest.mark.parametrize(
    "headers", [{"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}]
)
def test_other_sites(shop: Shop, tablet: httpx2.Client, headers: dict[str, str]) -> None:
    """A page of another site cannot act with the cookie of a host who visits it."""
    shop.join()
    body = {"type": "dine-in"}
    answer = tablet.post(f"{shop.path}/line/call-next", json=body, headers=headers)
    assert (403, "forbidden") == problem(answer)
    assert "WAITING" == shop.line()["parties"][0]["status"]


def test_another_stores_cookie(
    shop: Shop, tablet: httpx2.Client, http: httpx2.Client, operator: httpx2.Client
) -> None:
    """Under another store's name the cookie belongs to nobody; so does a changed one."""
    (cookie,) = tablet.cookies.jar
    value = str(cookie.value)
    with open_shop(http, operator) as other:
        shown = {"cookie": f"{COOKIE}{other.id}={value}"}
        assert (401, "unauthorized") == problem(http.get(f"{other.path}/line", headers=shown))
    for wrong in (value[:-1], "x" + value, value.replace("host.", "api.", 1), "", "....", "é"):
        shown_raw = [(b"cookie", f"{COOKIE}{shop.id}={wrong}".encode("latin-1"))]
        assert 401 == http.get(f"{shop.path}/line", headers=shown_raw).status_code


def test_a_revoked_key_ends_its_session(
    shop: Shop, tablet: httpx2.Client, operator: httpx2.Client
) -> None:
    """Within two seconds the cookie opens nothing."""
    operator.delete(f"{shop.path}/hosts/{shop.key.split('_')[1]}").raise_for_status()
    asked = revoked = time.monotonic()
    while tablet.get(f"{shop.path}/line").status_code != 401:
        assert asked < revoked + 3  # time of the request: a slow machine may answer later
        time.sleep(0.05)
        asked = time.monotonic()


def _sign_out(shop: Shop, tablet: httpx2.Client) -> None:
    token = token_of(tablet.get(f"/desk/{shop.id}/host").text)
    signed_out = tablet.post(f"/desk/{shop.id}/host/sign-out", data={"token": token})
    assert 303 == signed_out.status_code


@pytest.mark.attack
async def test_a_copy_of_a_cookie_ends_with_the_sign_out(
    shop: Shop, served: Serving, tablet: httpx2.Client
) -> None:
    """For requests and for open streams, though the copy would have been valid for two weeks."""
    (cookie,) = tablet.cookies.jar
    copied = {"Cookie": f"{cookie.name}={cookie.value}"}
    async with live(served.port, f"{shop.path}/line/events", copied) as stream:
        await stream.until("line", parties=[])
        await asyncio.to_thread(_sign_out, shop, tablet)
        await stream.until("gone", code="unauthorized")
    refused = await asyncio.to_thread(shop.guest.get, f"{shop.path}/line", headers=copied)
    assert (401, "unauthorized") == problem(refused)


def test_bad_host_keys_are_limited(tmp_path_factory: pytest.TempPathFactory) -> None:
    """After ten bad keys an address must wait; a good key from the same address works."""
    folder = tmp_path_factory.mktemp("limited")
    with serving(folder, desk=True, proxies="127.0.0.1") as server, shop_on(server) as shop:

        def ask(key: str, address: str = "192.0.2.1") -> httpx2.Response:
            headers = {"authorization": f"Bearer {key}", "x-forwarded-for": address}
            return shop.guest.get(f"{shop.path}/line", headers=headers)

        bad = "wrh_0123456789_" + "x" * 43
        assert [401] * 10 == [ask(bad).status_code for _ in range(10)]
        assert (429, "too_many_requests") == problem(ask(bad))
        assert 200 == ask(shop.key).status_code
        assert 401 == ask(bad, "192.0.2.2").status_code
