"""Live events of the desk: guests and hosts are told in time; streams are limited and drained."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import httpx2

from tests.server.desk.conftest import NAME, PHONE, Shop, shop_on
from tests.support.clients import ask, live, metric, request, scrape
from tests.support.serving import SOON_AWAY, Serving, serving


def bearer(shop: Shop) -> dict[str, str]:
    """Return the header with the store's key."""
    return {"Authorization": f"Bearer {shop.key}"}


async def test_a_guest_is_told(shop: Shop, served: Serving) -> None:
    """At once where they are, then that they moved or were called, and also about an undo."""
    first, second = (shop.join()["token"] for _ in range(2))
    paths = [f"{shop.path}/parties/{token}/events" for token in (first, second)]
    async with (
        live(served.port, paths[0]) as first_stream,
        live(served.port, paths[1]) as second_stream,
    ):
        assert (200, "text/event-stream") == (
            first_stream.status,
            dict(first_stream.headers)["content-type"],
        )
        await first_stream.until("place", status="WAITING", position=1)
        event = await second_stream.until("place", status="WAITING", position=2)
        assert shop.place(second).keys() == event.data.keys()
        party = shop.do("call-next", type="dine-in").json()["party"]["id"]
        await first_stream.until("place", status="CALLED", position=0)
        await second_stream.until("place", status="WAITING", position=1)
        shop.do("no-show", party)
        await first_stream.until("place", status="NO_SHOW")
        shop.do("undo", party)
        await first_stream.until("place", status="CALLED")


async def test_guests_hear_of_the_store(shop: Shop, served: Serving) -> None:
    """When it pauses, people who wait are told so, and why."""
    token = shop.join()["token"]
    async with live(served.port, f"{shop.path}/parties/{token}/events") as stream:
        await stream.until("store", mode="open")
        shop.change(mode="paused", reason="break")
        await stream.until("store", mode="paused", reason="break", accepts=False)


async def test_hosts_are_told(shop: Shop, served: Serving) -> None:
    """The line at once, and after every change by guests or other hosts; phones are masked."""
    shop.join(name=NAME, phone=PHONE)
    path = f"{shop.path}/line/events"
    async with (
        live(served.port, path, bearer(shop)) as first_stream,
        live(served.port, path, bearer(shop)) as second_stream,
    ):
        first = (await first_stream.until("line")).data
        assert [(1, "010-****-5678")] == [
            (party["number"], party["phone"]) for party in first["parties"]
        ]
        assert set(shop.line()) == set(first)
        await second_stream.until("line")
        waits, called = (1, "WAITING"), (1, "CALLED")
        for deed, wanted in (
            (lambda: shop.join(), ([waits, (2, "WAITING")], [], "open")),
            (
                lambda: shop.do("call-next", type="dine-in"),
                ([called, (2, "WAITING")], [], "open"),
            ),
            (lambda: shop.change(mode="paused"), ([called, (2, "WAITING")], [], "paused")),
            (
                lambda: shop.do("seat", first["parties"][0]["id"]),
                ([(2, "WAITING")], [(1, "SEATED")], "paused"),
            ),
        ):
            deed()
            for stream in (first_stream, second_stream):
                # The same line may come twice, for somebody else who began to listen.
                while shown((await stream.until("line")).data) != wanted:
                    pass


def shown(line: Any) -> tuple[list[tuple[int, str]], list[tuple[int, str]], str]:
    """Return who waits, who was here, and whether the store is open."""
    here, gone = (
        [(party["number"], party["status"]) for party in line[name]]
        for name in ("parties", "recent")
    )
    return here, gone, line["store"]["mode"]


async def test_a_revoked_key_ends_its_stream(
    shop: Shop, served: Serving, operator: httpx2.Client
) -> None:
    """A host whose key was revoked learns nothing more about the line."""
    answer = await asyncio.to_thread(operator.post, f"{shop.path}/hosts", json={"name": "second"})
    made = answer.json()
    shown = {"Authorization": f"Bearer {made['key']}"}
    async with live(served.port, f"{shop.path}/line/events", shown) as stream:
        await stream.until("line")
        await asyncio.to_thread(operator.delete, f"{shop.path}/hosts/{made['id']}")
        await stream.until("gone", status=401)
        assert await stream.next() is None


async def test_refusals(shop: Shop, served: Serving) -> None:
    """Strangers and wrong tokens get a problem, and no stream stays counted."""
    before = metric(scrape(served.port), "waitroom_streams_open")
    for path, status in (("line/events", 401), ("parties/x/events", 404)):
        reply = ask(served.port, request("GET", f"{shop.path}/{path}"))
        assert status == reply.status
        assert reply.code
    reply = ask(served.port, request("GET", "/v1/stores/nobody-made-it/line/events", bearer(shop)))
    assert 403 == reply.status
    assert before == metric(scrape(served.port), "waitroom_streams_open")


async def test_limits_drain_and_away(tmp_path: Path) -> None:
    """Too many streams are refused. While Redis is away guests are told that their place is kept,
    and hosts keep working from the record. At the end both are sent to another server.
    """
    with (
        serving(tmp_path, desk=True, streams_per_address=3, drain_s=1, **SOON_AWAY) as server,
        shop_on(server) as shop,
    ):
        token = shop.join()["token"]
        guest, host = f"{shop.path}/parties/{token}/events", f"{shop.path}/line/events"
        async with (
            live(server.port, guest) as first,
            live(server.port, guest) as second,
            live(server.port, host, bearer(shop)) as third,
        ):
            await first.until("place", position=1)
            await third.until("line")
            refused = await asyncio.to_thread(ask, server.port, request("GET", guest))
            assert (429, "too_many_requests") == (refused.status, refused.code)
            with server.without_backend():
                await first.until("away", code="backend_unavailable")
                await third.until("away", code="backend_unavailable")
                await _hosts_work(shop, token)
                event = await third.until("line", parties=[])
                assert ["SEATED"] == [party["status"] for party in event.data["recent"]]
            await first.until("place", status="SEATED")
            server.process.send_signal(signal.SIGTERM)
            for stream in (first, second, third):
                await stream.until("reconnect")
                assert await stream.next() is None
        assert 0 == server.process.wait(60)
        assert "Traceback" not in server.said()


async def _hosts_work(shop: Shop, token: str) -> None:
    """Call and seat while Redis does not answer: the record is written, places are not told."""

    def work() -> None:
        (party,) = shop.line()["parties"]
        called = shop.do("call-next", type="dine-in")
        assert (200, "CALLED") == (called.status_code, called.json()["party"]["status"])
        place = shop.guest.get(f"{shop.path}/parties/{token}")
        assert (503, "backend_unavailable") == (place.status_code, place.json()["code"])
        assert 404 == shop.guest.get(f"{shop.path}/parties/x").status_code
        view = shop.guest.get(shop.path).json()
        assert (True, [(0, 1), (0, 0)]) == (
            view["accepts"],
            [(line["waiting"], line["called"]) for line in view["lines"]],
        )
        assert 200 == shop.do("seat", party["id"]).status_code

    await asyncio.to_thread(work)
