"""A crowd books through the real gate: never too many at once, everybody served, in order."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

from examples.concert.crowd import Habits, Person, Shared
from examples.concert.store import Store
from examples.concert.tables import Reservation
from sqlalchemy import select

from tests.examples.serving import concert
from tests.support.counts import count
from tests.support.figures import say
from tests.support.serving import SECRET, Serving
from waitroom.engine import Engine
from waitroom.tickets import KeyRing

EAGER = Habits(think_s=(0.1, 0.5), buys=1.0, leaves_free=0)
PERSON = b"x-person"
ENDS = ("/orders/", "/goodbye")


class Watch:
    """Sits between gate and site: knows who is there, from their first request until they are done.

    A visitor is done when the site begins to answer their last request. The gate tells Waitroom
    afterwards, so a place that is reassigned too early would show up here.
    """

    def __init__(self) -> None:
        self.app: Any = None
        self.here: set[int] = set()
        self.most = 0
        self.people: dict[str, int] = {}

    def before(self, app: Any) -> Watch:
        """Take the place in front of the site."""
        self.app = app
        return self

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Look at a request, and pass it on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        good_pass = scope["waitroom"].good_pass
        assert good_pass is not None, f"{scope['path']} was reached without a pass"
        self.here.add(good_pass.sid)
        self.most = max(self.most, len(self.here))
        number = next(int(value) for name, value in scope["headers"] if name == PERSON)
        assert number == self.people.setdefault(good_pass.ticket_id, number)

        async def answer(message: Any) -> None:
            begins = message["type"] == "http.response.start" and message["status"] < 400
            if begins and scope["path"].startswith(ENDS):
                self.here.discard(good_pass.sid)
            await send(message)

        await self.app(scope, receive, answer)


async def called_in_order(server: Serving, room: str) -> list[str]:
    """Return the ids of all who were called, in the order of the calls."""
    ring = KeyRing.from_text(SECRET)
    async with await Engine.connect(None, server.data_dir, ring) as engine:
        page = await engine.events(room, "0-0", limit=10_000)
    return [ticket_id for event in page.events if event.kind == "called" for ticket_id in event.ids]


async def test_a_crowd_at_the_concert(served: Serving, tmp_path: Path) -> None:
    """Many people, few places: the site never sees more than fit, and all buy in order."""
    people, places = count("gated_visitors"), count("gated_places")
    room = served.new_room(mode="manual", capacity=places, session_s=600)
    watch, transport = Watch(), Shared()
    with concert(tmp_path, served.base, room, watch.before) as site:
        crowd = [Person(site, transport, EAGER) for _ in range(people)]
        for number, person in enumerate(crowd):  # one after another, so that the order is known
            person.http.headers["x-person"] = str(number)
            answer = await person.http.get("/api/concerts")
            assert (429, number + 1) == (answer.status_code, answer.json()["position"])
        assert {} == watch.people
        with served.operator() as operator:
            body = {"policy": {"mode": "open"}}
            operator.patch(f"/v1/admin/rooms/{room}", json=body).raise_for_status()
        outcomes = Counter(await asyncio.gather(*(person.visit() for person in crowd)))
    await transport.close()
    most = watch.most
    say(f"{people} people, {places} places: at most {most} at the site at once; {dict(outcomes)}")
    assert {"bought": people} == outcomes
    assert people == len(set(sold_seats(tmp_path / "concert.db")))
    assert places // 2 < most <= places, "the places were used, and no more than these"
    assert list(range(people)) == [
        watch.people[ticket_id] for ticket_id in await called_in_order(served, room)
    ]


def sold_seats(database: Path) -> list[int]:
    """Return the seats that were paid for."""
    store = Store(database)
    try:
        with store.reading() as db:
            paid = Reservation.paid_at_ms.is_not(None)
            return list(db.scalars(select(Reservation.seat_id).where(paid)))
    finally:
        store.close()
