"""The waiting page for browsers that can solve nothing: it ripens, then it has a place."""

from __future__ import annotations

import re
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from tests.server.tickets.test_challenges import Door, coded
from tests.support.in_process import serving_here
from tests.support.servers import Server as Backend
from waitroom.models import Challenge, Mode, Needs, Policy
from waitroom.server.challenges import price
from waitroom.server.challenges.price import RIPENING
from waitroom.server.http.rate_limits import Buckets

COOKIE = "waitroom-ripe-"
PLACE = re.compile(r'data-face="waiting"(?! hidden)')


@pytest.fixture
async def paid(valkey: Backend, tmp_path: Path) -> AsyncIterator[Door]:
    """Serve a room with `challenge = work` to a browser without a script."""
    async with (
        serving_here(valkey.url, tmp_path, proxies="127.0.0.1") as at,
        httpx2.AsyncClient(base_url=at[1], timeout=30, follow_redirects=True) as http,
    ):
        room = f"t-{secrets.token_hex(6)}"
        await at[0].engine.create(room, Policy(mode=Mode.PAUSED, challenge=Challenge.WORK))
        yield Door(at[0], http, room)


def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages be ripe at once."""
    monkeypatch.setattr(price, "RIPE_S", (0, 0))


async def test_a_page_ripens(paid: Door) -> None:
    """A click begins it; until it is ripe nobody has a place, and the page reloads by itself."""
    path = f"/rooms/{paid.room}"
    asked = await paid.http.get(path)
    assert "Without JavaScript it takes a little longer" in asked.text
    ripening = await paid.http.post(f"{path}/join")
    assert 'data-face="ripening"' in ripening.text
    left = re.search(r"Your place comes in (\d+) s", ripening.text)
    assert left is not None
    assert 0 < int(left[1]) <= 15  # a busy machine may take some of it
    refresh = ripening.headers["refresh"]
    assert int(left[1]) + 1 == int(refresh), "also with a script, but without crypto"
    assert 'data-face="ripening"' in (await paid.http.get(path)).text
    assert 0 == (await paid.server.engine.stats(paid.room)).waiting
    assert 1 == paid.counted()["ripening"]


async def test_a_ripe_page_has_a_place(paid: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next look takes it, once; the address that the visitor came from is kept."""
    at_once(monkeypatch)
    form = {"return": "/tickets?seat=7"}
    placed = await paid.http.post(f"/rooms/{paid.room}/join", data=form)
    assert PLACE.search(placed.text)
    assert "return=%2Ftickets%3Fseat%3D7" in str(placed.url)
    for _ in range(2):
        assert PLACE.search((await paid.http.get(f"/rooms/{paid.room}")).text)
    assert 1 == (await paid.server.engine.stats(paid.room)).waiting
    assert not [name for name in paid.http.cookies if name.startswith(COOKIE)]


async def test_a_room_that_refuses_meanwhile(paid: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that is ripe when the room is closed says so, and takes its place when it reopens."""
    at_once(monkeypatch)
    await paid.server.engine.configure(paid.room, mode=Mode.CLOSED)
    await paid.server.boards.get(paid.room)
    await paid.server.boards.renew(paid.room)
    closed = await paid.http.post(f"/rooms/{paid.room}/join")
    assert 'data-face="closed"' in closed.text
    await paid.server.engine.configure(paid.room, mode=Mode.PAUSED)
    await paid.server.boards.renew(paid.room)
    assert PLACE.search((await paid.http.get(f"/rooms/{paid.room}")).text)


@pytest.mark.attack
async def test_a_page_with_a_code_for_many_ripens(
    paid: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The browser keeps the code with its mark, which counts for its own key alone."""
    engine, path = paid.server.engine, f"/rooms/{paid.room}"
    await engine.configure(paid.room, needs=Needs.CODE)
    code = await coded(paid, 5)
    page = (await paid.http.get(path)).text
    (key,) = re.findall(r'name="key" value="([^"]+)"', page)
    form = {"code": code, "key": key}
    assert 'data-face="ripening"' in (await paid.http.post(f"{path}/join", data=form)).text
    assert 0 == (await engine.stats(paid.room)).waiting
    at_once(monkeypatch)
    paid.http.cookies.delete(COOKIE + paid.room)
    await paid.http.post(f"{path}/join", data=form, follow_redirects=False)
    (mark,) = [value for name, value in paid.http.cookies.items() if name.startswith(COOKIE)]
    stolen = "/".join([*mark.split("/")[:2], "x" * 22])
    async with httpx2.AsyncClient(base_url=paid.http.base_url) as thief:
        thief.cookies.set(COOKIE + paid.room, stolen)
        assert not PLACE.search((await thief.get(path)).text)
    assert PLACE.search((await paid.http.get(path)).text)
    (batch,) = await engine.batches(paid.room)
    assert (1, 1) == ((await engine.stats(paid.room)).waiting, batch.used)


@pytest.mark.attack
async def test_few_pages_of_an_address_ripen(paid: Door) -> None:
    """After the limit of its address, or of the network around it, a visitor is told to wait."""
    paid.server.challenges.ripens = Buckets(2, clock=lambda: 0.0)
    paid.server.challenges.ripens_around = Buckets(3, clock=lambda: 0.0)
    path = f"/rooms/{paid.room}/join"

    async def begun(address: str) -> bool:
        paid.http.cookies.clear()
        page = await paid.http.post(path, headers={"x-forwarded-for": address})
        assert ('data-face="ripening"' in page.text) != ("try again in a minute" in page.text)
        return 'data-face="ripening"' in page.text

    addresses = ["192.0.2.1"] * 3 + ["192.0.2.2"] * 2 + ["198.51.100.1"]
    assert [True, True, False, True, False, True] == [await begun(each) for each in addresses]
    assert 0 == paid.scripts()


@pytest.mark.attack
async def test_servers_count_the_places_together(
    paid: Door, valkey: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another worker or server lets pages ripen, but gives no more places than one alone.

    A page that is ripe too early ripens on, as long as it takes, and keeps its mark.
    """
    at_once(monkeypatch)
    async with (
        serving_here(valkey.url, tmp_path / "other", proxies="127.0.0.1") as at,
        httpx2.AsyncClient(base_url=at[1], timeout=30, follow_redirects=True) as http,
    ):
        placed = []
        for turn in range(2 * RIPENING.own):
            asked = (paid.http, http)[turn % 2]
            asked.cookies.clear()
            page = await asked.post(f"/rooms/{paid.room}/join")
            placed.append(bool(PLACE.search(page.text)))
            if not placed[-1]:
                assert 'data-face="ripening"' in page.text
                assert 1 <= int(page.headers["refresh"]) <= 60 / RIPENING.own + 1
                assert [name for name in asked.cookies if name.startswith(COOKIE)]
    assert [True] * RIPENING.own == placed[: RIPENING.own]
    assert not all(placed)
    assert sum(placed) == (await paid.server.engine.stats(paid.room)).waiting


@pytest.mark.attack
async def test_a_mark_counts_where_it_was_made(paid: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sent from another address it gives no place, and nothing is asked of Redis for one."""
    at_once(monkeypatch)
    asked = await paid.http.post(f"/rooms/{paid.room}/join", follow_redirects=False)
    assert [name for name in asked.cookies if name.startswith(COOKIE)]
    elsewhere = {"x-forwarded-for": "198.51.100.1"}
    stolen = await paid.http.get(f"/rooms/{paid.room}", headers=elsewhere)
    assert 'data-face="join"' in stolen.text
    assert 0 == paid.scripts()


async def test_a_look_takes_no_place(paid: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever never sent the form gets none by reading, and HEAD takes none at all."""
    at_once(monkeypatch)
    await paid.http.get(f"/rooms/{paid.room}")
    await paid.http.post(f"/rooms/{paid.room}/join", follow_redirects=False)
    await paid.http.head(f"/rooms/{paid.room}")
    assert 0 == (await paid.server.engine.stats(paid.room)).waiting
