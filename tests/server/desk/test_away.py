"""The desk's pages while Redis is away."""

from __future__ import annotations

from pathlib import Path

import httpx2

from tests.server.desk.conftest import Shop, shop_on
from tests.server.desk.forms import hidden, joined, sign_in
from tests.support.serving import SOON_AWAY, serving


def test_while_redis_is_away(tmp_path: Path) -> None:
    """Guests join and see their number, hosts keep working; unknown facts are not invented."""
    with (
        serving(tmp_path, desk=True, **SOON_AWAY) as server,
        shop_on(server) as shop,
    ):
        location = joined(shop, shop.guest, name="Kim")
        sign_in(shop, shop.guest)
        with server.without_backend():
            _everybody_goes_on(shop, shop.guest, location)
        assert "Traceback" not in server.said()


def _everybody_goes_on(shop: Shop, http: httpx2.Client, location: str) -> None:
    place = http.get(location)
    assert 503 == place.status_code
    assert "One moment, please" in place.text
    assert "Waiting number <b>1</b>" in place.text
    assert "1 party waiting" in http.get(f"/desk/{shop.id}").text
    joined(shop, http, name="Lee")
    page = http.get(f"/desk/{shop.id}/host")
    assert 200 == page.status_code
    data = {"token": hidden(page.text, "token"), "type": "dine-in"}
    asks = {"accept": "application/json"}
    answer = http.post(f"/desk/{shop.id}/host/call-next", data=data, headers=asks)
    assert (200, "1 Kim called") == (answer.status_code, answer.json()["said"])
    assert "2 Lee" in http.get(f"/desk/{shop.id}/host").text
