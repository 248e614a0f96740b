"""The past of a room over HTTP: columns for charts, honest gaps, and marks of what was done."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace
from typing import Any

import httpx
import pytest

from tests.server.operator.boards import sample, stats
from tests.support.clock import open_engine
from tests.support.servers import Server as Backend
from tests.support.servers import wait_for
from tests.support.serving import Serving
from waitroom.engine.audit import Entry
from waitroom.history import HistoryPoint, point_of, with_rests
from waitroom.models import Policy
from waitroom.server.operator import history_api, timeline

OWN = {"span_ms", "woke_ms", "idle"}
COLUMNS = {spec.name for spec in dataclasses.fields(HistoryPoint)} - OWN


def at(room: str, rest: str = "/history") -> str:
    """Return the path of a room's history."""
    return f"/v1/admin/rooms/{room}{rest}"


def sampled(operator: httpx.Client, http: httpx.Client, room: str, people: int) -> None:
    """Let people join, and wait until a sample has seen them."""
    for _ in range(people):
        http.post(f"/v1/rooms/{room}/tickets").raise_for_status()

    def seen() -> bool:
        samples = operator.get(at(room, "/series")).json()["samples"]
        return bool(samples) and samples[-1]["joined"] == people

    wait_for(seen, "a sample")


STEPS_MS = {"sample": 5_000, "minute": 60_000, "ten": 600_000}


def test_columns(operator: httpx.Client, http: httpx.Client, room: str) -> None:
    """Each step has every column, of the same length, up to this moment."""
    sampled(operator, http, room, 4)
    for step, step_ms in STEPS_MS.items():
        answer = operator.get(at(room), params={"step": step})
        assert "no-store" == answer.headers["cache-control"]
        body = answer.json()
        assert (step, step_ms) == (body["step"], body["step_ms"])
        rows = len(body["at_ms"])
        assert rows
        assert COLUMNS <= set(body)
        assert {rows} == {len(body[name]) for name in COLUMNS}
        last = {name: body[name][-1] for name in COLUMNS}
        assert (2, 2, 0, 4) == (last["waiting"], last["called"], last["inside"], last["joined"])
        assert (2, "open", 2) == (last["most_waiting"], last["mode"], last["capacity"])
        assert {"capacity": 2, "per_minute": None, "queue_limit": None} == body["limits"]


def test_the_step_follows_the_span(operator: httpx.Client, http: httpx.Client, room: str) -> None:
    """Without a step, the finest that reaches back far enough is taken."""
    sampled(operator, http, room, 1)
    now_ms = operator.get(at(room, "/stats")).json()["now_ms"]
    for hours, step in ((1, "sample"), (24, "minute"), (72, "ten")):
        params = {"since_ms": now_ms - hours * 3_600_000}
        assert step == operator.get(at(room), params=params).json()["step"]


def test_newcomers_are_told(operator: httpx.Client, http: httpx.Client, served: Serving) -> None:
    """History has the very estimate that people who wait are shown."""
    room = served.new_room(batch=1, every_s=3600, eta="batch")
    sampled(operator, http, room, 3)

    shown = operator.get(at(room, "/stats")).json()["eta_s"]["likely"]

    def told() -> bool:
        column = operator.get(at(room), params={"step": "ten"}).json()["told_s"]
        return bool(column) and column[-1] == shown

    wait_for(told, "the estimate in history")


def test_a_page_gets_the_same(
    page: httpx.Client, operator: httpx.Client, http: httpx.Client, room: str
) -> None:
    """Whoever is signed in to the page reads what the API gives; strangers are refused."""
    sampled(operator, http, room, 2)
    now_ms = operator.get(at(room, "/stats")).json()["now_ms"]
    params = {"since_ms": now_ms - 600_000, "until_ms": now_ms, "step": "sample"}
    shown = page.get(f"/admin/rooms/{room}/history", params=params)
    assert operator.get(at(room), params=params).json() == shown.json()
    assert "no-store" == shown.headers["cache-control"]
    assert 401 == http.get(f"/admin/rooms/{room}/history").status_code
    assert 401 == http.get(f"/admin/rooms/{room}/timeline").status_code


def test_a_browser_gets_it_compressed(page: httpx.Client, room: str) -> None:
    """Columns are long and alike; whoever takes no gzip gets them as they are."""
    for encoding, expected in (("gzip", "gzip"), ("identity", None)):
        answer = page.get(f"/admin/rooms/{room}/history", headers={"accept-encoding": encoding})
        assert expected == answer.headers.get("content-encoding")
        assert "Accept-Encoding" == answer.headers["vary"]
        assert "no-store" == answer.headers["cache-control"]
        assert "sample" == answer.json()["step"] or answer.json()["at_ms"] == []
    secret = page.get(f"/admin/rooms/{room}", headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in secret.headers


@pytest.mark.parametrize("params", [{"step": "hour"}, {"since_ms": -1}, {"until_ms": "now"}])
def test_bad_questions(
    page: httpx.Client, operator: httpx.Client, room: str, params: dict[str, Any]
) -> None:
    """What cannot be meant is refused, with the name of the field, for the script as JSON too."""
    (field,) = params
    for answer in (
        operator.get(at(room), params=params),
        page.get(f"/admin/rooms/{room}/history", params=params),
    ):
        assert 422 == answer.status_code
        assert field in answer.json()["field"]


def test_unknown_rooms(page: httpx.Client, operator: httpx.Client) -> None:
    """A room that is not there has no history."""
    for answer in (operator.get(at("nowhere")), page.get("/admin/rooms/nowhere/timeline")):
        assert (404, "unknown_room") == (answer.status_code, answer.json()["code"])


def test_a_quiet_room(operator: httpx.Client, room: str) -> None:
    """A room that nobody has visited has columns without rows."""
    body = operator.get(at(room)).json()
    assert ([], []) == (body["at_ms"], body["gaps"])
    assert ([], []) == (body["waiting"], body["told_s"])


def body_of(points: list[HistoryPoint]) -> history_api.HistoryBody:
    """Return samples as they are sent, read by the model that documents it."""
    text = history_api.encoded("sample", points, (0, 1), Policy())
    assert set(history_api.HistoryBody.model_fields) == set(json.loads(text))
    return history_api.HistoryBody.model_validate_json(text, strict=True)


def test_gaps() -> None:
    """A row of nulls stands where a gap begins; a quiet time is none."""
    seen = [sample(ago_s, waiting=5) for ago_s in (600, 595, 300)]
    body = body_of([point_of(each, 5_000) for each in seen])
    first, second, last = (each.at_ms for each in seen)
    assert [first, second, second + 5_000, last] == body.at_ms
    assert [5, 5, None, 5] == body.waiting
    assert [(second + 5_000, last)] == [(gap.since_ms, gap.until_ms) for gap in body.gaps]
    quiet = [sample(600), sample(300, woke_ms=seen[2].at_ms - 1_000)]
    points = [*with_rests(map(point_of, quiet), stats())]
    body = body_of(points)
    assert ([0, 0, 0], []) == (body.waiting, body.gaps)


def test_timeline(page: httpx.Client, operator: httpx.Client, room: str) -> None:
    """Every action on the room is a mark with its time, in the page's language, oldest first."""
    operator.patch(at(room, ""), json={"policy": {"capacity": 9}}).raise_for_status()
    operator.patch(at(room, ""), json={"policy": {"mode": "paused"}}).raise_for_status()
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


def test_the_span_of_a_timeline(page: httpx.Client, operator: httpx.Client, room: str) -> None:
    """Only what was done between the two moments is marked; opening and end are marked too."""
    made = page.get(f"/admin/rooms/{room}/timeline").json()["marks"][0]["at_ms"]
    path = f"/admin/rooms/{room}/timeline"
    spans = [(made, made), (made + 1, made + 9), (made - 9, made - 1)]
    counts = [
        len(page.get(path, params={"since_ms": since, "until_ms": until}).json()["marks"])
        for since, until in spans
    ]
    assert [1, 0, 0] == counts
    policy = {"opens_at": "2020-01-01T00:00:00Z", "ends_at": "2020-01-02T00:00:00Z"}
    operator.patch(at(room, ""), json={"policy": policy}).raise_for_status()
    params = {"since_ms": 1_577_836_800_000, "until_ms": 1_577_923_200_000}
    marks = page.get(path, params=params).json()["marks"]
    assert [("room.opened", ""), ("room.ended", "")] == [(m["kind"], m["by"]) for m in marks]
    assert ["The room opened", "The room ended"] == [mark["text"] for mark in marks]


def test_what_happened_by_itself(page: httpx.Client, http: httpx.Client, room: str) -> None:
    """A room that is full is marked, by nobody."""
    for _ in range(3):
        http.post(f"/v1/rooms/{room}/tickets").raise_for_status()

    def marks() -> list[dict[str, Any]]:
        shown = page.get(f"/admin/rooms/{room}/timeline").json()["marks"]
        return [mark for mark in shown if mark["kind"] == "room.limit_reached"]

    wait_for(lambda: bool(marks()), "a mark")
    (mark,) = marks()
    assert ("Capacity reached: 2", "", "") == (mark["text"], mark["by"], mark["href"])


def test_all_of_it(page: httpx.Client, operator: httpx.Client, room: str) -> None:
    """All actions are marked where there are few, from the first on."""
    for n in range(3):
        operator.patch(at(room, ""), json={"policy": {"capacity": n + 10}}).raise_for_status()
    body = page.get(f"/admin/rooms/{room}/timeline", params={"since_ms": 0}).json()
    assert (4, False) == (len(body["marks"]), body["more"])


async def test_the_newest_actions_are_marked(valkey: Backend, room: str) -> None:
    """Of more actions than fit, the newest are returned, also where other rooms have many."""
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
