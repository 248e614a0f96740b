"""What the seed documents asked for, as a site sees it: over HTTP, from a real `waitroom serve`."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from tests.support.servers import wait_for
from tests.support.serving import Serving
from waitroom.server.http.answers import moment


@dataclass(frozen=True, slots=True)
class Site:
    """Two clients of one server: somebody who waits, and an operator."""

    visitor: httpx2.Client
    operator: httpx2.Client

    def make(self, preset: str | None = None, **policy: object) -> str:
        """Make a room and return its name."""
        name = f"seed-{secrets.token_hex(6)}"
        body = {"name": name, "preset": preset, "policy": policy}
        answer = self.operator.post("/v1/admin/rooms", json=body)
        assert 201 == answer.status_code, answer.text
        return name

    def join(self, room: str, **wish: object) -> dict[str, Any]:
        """Join, and return the view."""
        answer = self.visitor.post(f"/v1/rooms/{room}/tickets", json=wish)
        assert answer.status_code in (200, 201), answer.text
        ticket: dict[str, Any] = answer.json()
        return ticket

    def status(self, view: dict[str, Any]) -> httpx2.Response:
        """Ask where a ticket is."""
        return self.visitor.get(f"/v1/rooms/{view['room']}/tickets/{view['ticket']}")

    def act(self, view: dict[str, Any], verb: str) -> httpx2.Response:
        """Enter, finish and the like."""
        return self.visitor.post(f"/v1/rooms/{view['room']}/tickets/{view['ticket']}/{verb}")

    def operate(self, room: str, verb: str, **body: object) -> dict[str, Any]:
        """Do what an operator does."""
        answer = self.operator.post(f"/v1/admin/rooms/{room}/{verb}", json=body)
        assert 200 == answer.status_code, answer.text
        result: dict[str, Any] = answer.json()
        return result

    def change(self, room: str, **policy: object) -> None:
        """Change a policy, live."""
        answer = self.operator.patch(f"/v1/admin/rooms/{room}", json={"policy": policy})
        assert 200 == answer.status_code, answer.text

    def tickets(self, room: str, state: str) -> list[dict[str, Any]]:
        """Return what an operator sees in a list."""
        answer = self.operator.get(f"/v1/admin/rooms/{room}/tickets", params={"state": state})
        listed: list[dict[str, Any]] = answer.json()["tickets"]
        return listed


@pytest.fixture(scope="module")
def site(served: Serving) -> Iterator[Site]:
    """Return people at the running server."""
    with httpx2.Client(base_url=served.base, timeout=20) as visitor, served.operator() as operator:
        yield Site(visitor, operator)


@pytest.mark.seed("000-02")
@pytest.mark.seed("000-03")
def test_join_and_position(site: Site) -> None:
    """000-02, 000-03: a join returns the place; a forged ticket is refused, not guessed."""
    room = site.make("batch", mode="paused")
    first, second = site.join(room), site.join(room)
    assert (1, 2) == (first["position"], second["position"])
    assert 1 == site.status(first).json()["position"]
    forged = first | {"ticket": first["ticket"].swapcase()}
    assert (404, "invalid_ticket") == (
        site.status(forged).status_code,
        site.status(forged).json()["code"],
    )


@pytest.mark.seed("000-05")
def test_leaving(site: Site) -> None:
    """000-05: anybody who leaves is in no list, and everybody behind moves up."""
    room = site.make("batch", mode="paused")
    first, second = site.join(room), site.join(room)
    answer = site.visitor.delete(f"/v1/rooms/{room}/tickets/{first['ticket']}")
    assert 204 == answer.status_code
    assert (410, "left") == (site.status(first).status_code, site.status(first).json()["reason"])
    assert 1 == site.status(second).json()["position"]


@pytest.mark.seed("000-11")
def test_wait_by_batch(site: Site) -> None:
    """000-11: wait = ceil(position / M) × N, with a range around it."""
    room = site.make("batch", batch=2, every_s=30, capacity=1)
    inside = site.join(room, enter=True)
    assert "inside" == inside["state"]
    views = [site.join(room) for _ in range(5)]
    waits = [site.status(view).json()["eta_s"] for view in views]
    assert [30, 30, 60, 60, 90] == [wait["likely"] for wait in waits]
    assert all(wait["low"] <= wait["likely"] <= wait["high"] for wait in waits)


@pytest.mark.seed("001-02")
@pytest.mark.seed("001-03")
def test_one_person_one_place(site: Site) -> None:
    """001-02, 001-03: registering again costs no place, and nobody can name somebody else."""
    room = site.make("manual")
    path = f"/v1/rooms/{room}/tickets"
    first = site.operator.post(path, json={"visitor": "user-7"})
    site.join(room)
    again = site.operator.post(path, json={"visitor": "user-7"})
    assert (201, 200) == (first.status_code, again.status_code)
    assert (1, first.json()["ticket"]) == (again.json()["position"], again.json()["ticket"])
    assert 401 == site.visitor.post(path, json={"visitor": "user-7"}).status_code


@pytest.mark.seed("001-04")
@pytest.mark.seed("001-05")
@pytest.mark.seed("001-06")
def test_rank_allow_and_is_allowed(site: Site) -> None:
    """001-04, 001-05, 001-06: a rank, `allow(count)`, whether somebody is allowed; empty is not."""
    room = site.make("manual")
    views = [site.join(room) for _ in range(3)]
    assert [1, 2, 3] == [site.status(view).json()["position"] for view in views]
    assert 2 == site.operate(room, "admit", count=2)["called"]
    inside = site.act(views[0], "enter").json()

    def allowed(text: str) -> int:
        headers = {"authorization": f"Bearer {text}"} if text else {}
        return site.visitor.get("/v1/check", params={"room": room}, headers=headers).status_code

    assert [204, 401, 401] == [allowed(t) for t in (inside["pass"], views[2]["ticket"], "")]
    assert 204 == site.act(views[0], "finish").status_code
    assert 401 == allowed(inside["pass"])


@pytest.mark.seed("001-07")
@pytest.mark.seed("001-11")
def test_limits_change_live(site: Site) -> None:
    """001-07, 001-11: how many proceed, and how many may wait, can change while people wait."""
    room = site.make(capacity=1, queue_limit=2)
    views = [site.join(room) for _ in range(3)]
    assert ["called", "waiting", "waiting"] == [view["state"] for view in views]
    full = site.visitor.post(f"/v1/rooms/{room}/tickets")
    assert (429, "room_full") == (full.status_code, full.json()["code"])
    site.change(room, capacity=2, queue_limit=1_000_000)
    assert 201 == site.visitor.post(f"/v1/rooms/{room}/tickets").status_code
    wait_for(lambda: site.status(views[1]).json()["state"] == "called", "a call")


@pytest.mark.seed("001-09")
def test_wait_from_the_observed_speed(site: Site) -> None:
    """001-09: the wait is predicted from how fast people get in, and comes true in its range."""
    room = site.make(batch=2, every_s=1, eta="observed", session_s=60)
    views = [site.join(room) for _ in range(24)]
    last = views[-1]
    time.sleep(3)  # some people must be called before a speed can be observed
    wait, asked = site.status(last).json()["eta_s"], time.monotonic()
    assert wait["low"] <= wait["likely"] <= wait["high"]
    wait_for(lambda: site.status(last).json()["state"] == "called", "a call")
    took_s = time.monotonic() - asked
    assert wait["low"] - 2 <= took_s <= wait["high"] + 10, (wait, took_s)


@pytest.mark.seed("001-10")
def test_find_and_remove_by_age(site: Site) -> None:
    """001-10: an operator finds and removes people who came within a time span."""
    room = site.make("manual")
    old = site.join(room)
    time.sleep(3.2)
    new = site.join(room)
    # The newcomer is that old only if the machine stalls for three seconds.
    assert 1 == site.operate(room, "kick", older_than_s=3)["kicked"]
    assert (410, 200) == (site.status(old).status_code, site.status(new).status_code)


@pytest.mark.seed("002-01")
@pytest.mark.seed("002-02")
@pytest.mark.seed("002-03")
@pytest.mark.seed("002-05")
def test_slots(site: Site) -> None:
    """002-01, 002-02, 002-03, 002-05: at once below the limit, in order above it; listed."""
    room = site.make("slots", capacity=2)
    views = [site.join(room, enter=True) for _ in range(4)]
    assert ["inside", "inside", "waiting", "waiting"] == [view["state"] for view in views]
    listed = site.tickets(room, "inside")
    assert 2 == len(listed)
    assert all(ticket["until_ms"] > time.time() * 1000 + 500_000 for ticket in listed)
    assert [1, 2] == [site.status(view).json()["position"] for view in views[2:]]
    site.act(views[0], "finish")
    assert ["called", "waiting"] == [site.status(view).json()["state"] for view in views[2:]]


@pytest.mark.seed("004-01")
@pytest.mark.seed("004-02")
def test_one_call(site: Site) -> None:
    """004-01, 004-02: one call joins, and enters while the minute has room."""
    room = site.make("per-minute", max_entries=2, batch=1)
    views = [site.join(room, enter=True) for _ in range(3)]
    assert ["inside", "inside", "waiting"] == [view["state"] for view in views]
    assert views[0]["pass"]


@pytest.mark.seed("004-04")
def test_wait_by_rate(site: Site) -> None:
    """004-04: wait = position / (threshold / minute), at least 3 s."""
    room = site.make("per-minute", mode="open", max_entries=12, batch=1, capacity=1)
    site.join(room, enter=True)
    views = [site.join(room) for _ in range(4)]
    assert [5, 10, 15, 20] == [site.status(view).json()["eta_s"]["likely"] for view in views]
    fast = site.make("per-minute", max_entries=6_000, batch=1, capacity=1)
    site.join(fast, enter=True)
    assert 3 == site.status(site.join(fast)).json()["eta_s"]["likely"]


@pytest.mark.seed("004-07")
def test_poll_period_grows(site: Site) -> None:
    """004-07: people in front ask every 3 s, people far back less often, up to 30 s apart."""
    room = site.make("per-minute", max_entries=60, batch=6, capacity=1, presence_s=150)
    site.join(room, enter=True)
    views = [site.join(room) for _ in range(200)]

    def pause_ms(view: dict[str, Any]) -> int:
        return int(site.status(view).json()["poll_after_ms"])

    # A server that stalls asks everybody for longer pauses, until a moment later.
    wait_for(lambda: 2_700 <= pause_ms(views[0]) <= 3_600, "a pause of three seconds")
    assert 1.5 * 3_300 < pause_ms(views[-1]) <= 30_000


@pytest.mark.seed("004-08")
def test_zone_states(site: Site) -> None:
    """004-08: a blocked zone refuses, and before its time everybody passes."""
    closed = site.make("per-minute", mode="closed")
    answer = site.visitor.post(f"/v1/rooms/{closed}/tickets")
    assert (403, "room_closed") == (answer.status_code, answer.json()["code"])
    soon_ms = int(time.time() * 1000) + 60_000
    early = site.make(capacity=1, opens_at=moment(soon_ms), before_open="pass")
    assert ["inside"] * 3 == [site.join(early, enter=True)["state"] for _ in range(3)]
