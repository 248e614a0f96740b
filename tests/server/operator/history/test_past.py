"""A room's past over HTTP: columns for charts, and honest gaps."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import httpx2
import pytest

from tests.server.operator.boards import sample, stats
from tests.support.servers import wait_for
from tests.support.serving import Serving
from waitroom.history import HistoryPoint, point_of, with_rests
from waitroom.models import Policy
from waitroom.server.operator.history import past

OWN = {"span_ms", "woke_ms", "idle"}
COLUMNS = {spec.name for spec in dataclasses.fields(HistoryPoint)} - OWN


def at(room: str, rest: str = "/history") -> str:
    """Return the path of a room's history."""
    return f"/v1/admin/rooms/{room}{rest}"


def sampled(operator: httpx2.Client, http: httpx2.Client, room: str, people: int) -> None:
    """Make people join, and wait until a sample has seen them."""
    for _ in range(people):
        http.post(f"/v1/rooms/{room}/tickets").raise_for_status()

    def seen() -> bool:
        samples = operator.get(at(room, "/series")).json()["samples"]
        return bool(samples) and samples[-1]["joined"] == people

    wait_for(seen, "a sample")


STEPS_MS = {"sample": 5_000, "minute": 60_000, "ten": 600_000}


def test_columns(operator: httpx2.Client, http: httpx2.Client, room: str) -> None:
    """Each step has every column, all of the same length, up to this moment."""
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


def test_the_step_follows_the_span(operator: httpx2.Client, http: httpx2.Client, room: str) -> None:
    """Without a step, the finest one that reaches back far enough is used."""
    sampled(operator, http, room, 1)
    now_ms = operator.get(at(room, "/stats")).json()["now_ms"]
    for hours, step in ((1, "sample"), (24, "minute"), (72, "ten")):
        params = {"since_ms": now_ms - hours * 3_600_000}
        assert step == operator.get(at(room), params=params).json()["step"]


def test_newcomers_are_told(operator: httpx2.Client, http: httpx2.Client, served: Serving) -> None:
    """History has exactly the estimate that waiting people are shown."""
    room = served.new_room(batch=1, every_s=3600, eta="batch")
    sampled(operator, http, room, 3)

    def told() -> bool:
        # Both change when the hour ends, because then the next one is called.
        shown = operator.get(at(room, "/stats")).json()["eta_s"]["likely"]
        column = operator.get(at(room), params={"step": "ten"}).json()["told_s"]
        return bool(column) and column[-1] == shown

    wait_for(told, "the estimate in history")


def test_a_page_gets_the_same(
    page: httpx2.Client, operator: httpx2.Client, http: httpx2.Client, room: str
) -> None:
    """Anybody signed in to the page reads what the API returns; strangers are refused."""
    sampled(operator, http, room, 2)
    now_ms = operator.get(at(room, "/stats")).json()["now_ms"]
    params = {"since_ms": now_ms - 600_000, "until_ms": now_ms, "step": "sample"}
    shown = page.get(f"/admin/rooms/{room}/history", params=params)
    assert operator.get(at(room), params=params).json() == shown.json()
    assert "no-store" == shown.headers["cache-control"]
    assert 401 == http.get(f"/admin/rooms/{room}/history").status_code
    assert 401 == http.get(f"/admin/rooms/{room}/timeline").status_code


def test_a_browser_gets_it_compressed(page: httpx2.Client, room: str) -> None:
    """Columns are long and repetitive; clients without gzip get them uncompressed."""
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
    page: httpx2.Client, operator: httpx2.Client, room: str, params: dict[str, Any]
) -> None:
    """Meaningless input is refused with the name of the field, as JSON for the script too."""
    (field,) = params
    for answer in (
        operator.get(at(room), params=params),
        page.get(f"/admin/rooms/{room}/history", params=params),
    ):
        assert 422 == answer.status_code
        assert field in answer.json()["field"]


def test_unknown_rooms(page: httpx2.Client, operator: httpx2.Client) -> None:
    """A room that does not exist has no history."""
    for answer in (operator.get(at("nowhere")), page.get("/admin/rooms/nowhere/timeline")):
        assert (404, "unknown_room") == (answer.status_code, answer.json()["code"])


def test_a_quiet_room(operator: httpx2.Client, room: str) -> None:
    """A room that nobody has visited has columns without rows."""
    body = operator.get(at(room)).json()
    assert ([], []) == (body["at_ms"], body["gaps"])
    assert ([], []) == (body["waiting"], body["told_s"])


def body_of(points: list[HistoryPoint]) -> past.HistoryBody:
    """Return samples as they are sent, parsed by the model that documents them."""
    text = past.encoded("sample", points, (0, 1), Policy())
    assert set(past.HistoryBody.model_fields) == set(json.loads(text))
    body: past.HistoryBody = past.HistoryBody.model_validate_json(text, strict=True)
    return body


def test_gaps() -> None:
    """A row of nulls marks the start of a gap; a quiet time is not a gap."""
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
