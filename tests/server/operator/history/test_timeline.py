"""The timeline of a room: marks of what was done to it and what happened."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx2

from tests.server.operator.calls import at
from tests.support.clock import open_engine
from tests.support.servers import Server as Backend
from tests.support.servers import wait_for
from waitroom.engine.audit import Entry
from waitroom.server.operator.history import timeline


def test_timeline(page: httpx2.Client, operator: httpx2.Client, room: str) -> None:
    """Every action on the room is a mark with its time, in the page's language, oldest first."""
    operator.patch(at(room), json={"policy": {"capacity": 9}}).raise_for_status()
    operator.patch(at(room), json={"policy": {"mode": "paused"}}).raise_for_status()
    body = page.get(f"/admin/rooms/{room}/timeline").json()
    assert not body["more"]
    kinds = [mark["kind"] for mark in body["marks"]]
    assert ["room.create", "room.change", "room.change"] == kinds
    last = body["marks"][-1]
    assert "Mode: Open → Paused" == last["text"]
    assert last["by"]
    log = operator.get("/v1/admin/audit", params={"room": room}).json()["entries"]
    assert [entry["at_ms"] for entry in reversed(log)] == [mark["at_ms"] for mark in body["marks"]]
    assert "Open → Paused" in page.get(last["href"]).text
    korean = page.get(f"/admin/rooms/{room}/timeline", headers={"accept-language": "ko"}).json()
    assert "일시 중지" in korean["marks"][-1]["text"]


def test_the_span_of_a_timeline(page: httpx2.Client, operator: httpx2.Client, room: str) -> None:
    """Only actions between the two moments are marked; opening and end are marked too."""
    made = page.get(f"/admin/rooms/{room}/timeline").json()["marks"][0]["at_ms"]
    path = f"/admin/rooms/{room}/timeline"
    spans = [(made, made), (made + 1, made + 9), (made - 9, made - 1)]
    counts = [
        len(page.get(path, params={"since_ms": since, "until_ms": until}).json()["marks"])
        for since, until in spans
    ]
    assert [1, 0, 0] == counts
    policy = {"opens_at": "2020-01-01T00:00:00Z", "ends_at": "2020-01-02T00:00:00Z"}
    operator.patch(at(room), json={"policy": policy}).raise_for_status()
    params = {"since_ms": 1_577_836_800_000, "until_ms": 1_577_923_200_000}
    marks = page.get(path, params=params).json()["marks"]
    assert [("room.opened", ""), ("room.ended", "")] == [(m["kind"], m["by"]) for m in marks]
    assert ["The room opened", "The room ended"] == [mark["text"] for mark in marks]


def test_what_happened_by_itself(page: httpx2.Client, http: httpx2.Client, room: str) -> None:
    """A full room is marked, with nobody as the author."""
    for _ in range(3):
        http.post(f"/v1/rooms/{room}/tickets").raise_for_status()

    def marks() -> list[dict[str, Any]]:
        shown = page.get(f"/admin/rooms/{room}/timeline").json()["marks"]
        return [mark for mark in shown if mark["kind"] == "room.limit_reached"]

    wait_for(lambda: bool(marks()), "a mark")
    (mark,) = marks()
    assert ("Capacity reached: 2", "", "") == (mark["text"], mark["by"], mark["href"])


def test_all_of_it(page: httpx2.Client, operator: httpx2.Client, room: str) -> None:
    """If there are few actions all are marked, from the first on."""
    for n in range(3):
        operator.patch(at(room), json={"policy": {"capacity": n + 10}}).raise_for_status()
    body = page.get(f"/admin/rooms/{room}/timeline", params={"since_ms": 0}).json()
    assert (4, False) == (len(body["marks"]), body["more"])


async def test_the_newest_actions_are_marked(valkey: Backend, room: str) -> None:
    """If more actions exist than fit, the newest are returned, even if other rooms have many."""
    async with open_engine(valkey.url) as engine:
        name = f"{room}-marks"
        ids = []
        for n in range(timeline.MOST_MARKS + 3):
            entry = Entry(key_id="k", key_name="k", role="admin", action="a", room=name)
            ids.append(await engine.audit.append(entry))
            await engine.audit.append(replace(entry, room=f"{name}-{n}"))
        entries, more = await timeline._entries(engine.audit, name, 0, 10**13)
        assert more
        assert ids[:-501:-1] == [entry.id for entry in entries]
        after_ms = entries[9].at_ms
        some, _ = await timeline._entries(engine.audit, name, after_ms, 10**13)
        assert {entry.id for entry in some} >= {entry.id for entry in entries[:10]}
        assert all(entry.at_ms >= after_ms for entry in some)
