"""`GET /v1/admin/events`: what happens, as a stream that goes on where it ended."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.support.serving import Serving
from waitroom.engine import Engine, keys
from waitroom.engine.outbox import START
from waitroom.events.relay import Listeners, Relay
from waitroom.models import Policy
from waitroom.server.operator import events_api


@pytest.fixture
def bare_room() -> str:
    """Name a room that no server has."""
    return f"t-{secrets.token_hex(6)}"


@dataclass
class Sent:
    """One event as it came."""

    id: str
    kind: str
    data: dict[str, Any]


@contextmanager
def following(operator: httpx.Client, last_id: str = "", **query: str) -> Iterator[Iterator[Sent]]:
    """Open a stream, and yield its events."""
    headers = {"Last-Event-ID": last_id} if last_id else {}
    with operator.stream("GET", "/v1/admin/events", params=query, headers=headers) as answer:
        assert 200 == answer.status_code
        assert "text/event-stream" == answer.headers["content-type"]
        yield _events(answer)


def _events(answer: httpx.Response) -> Iterator[Sent]:
    fields: dict[str, str] = {}
    for line in answer.iter_lines():
        name, _, value = line.partition(": ")
        if line:
            fields[name] = value
        elif "data" in fields:
            yield Sent(fields["id"], fields["event"], json.loads(fields["data"]))
            fields = {}


def change(operator: httpx.Client, room: str, **policy: Any) -> None:
    """Change a room."""
    assert 200 == operator.patch(f"/v1/admin/rooms/{room}", json={"policy": policy}).status_code


def test_it_follows_and_resumes(operator: httpx.Client, room: str, served: Serving) -> None:
    """Events come in order; who comes back with the last id gets what they missed, once."""
    with served.operator() as other, following(operator, room=room) as events:
        change(other, room, mode="paused")
        first = next(events)
        assert ("room.paused", room) == (first.kind, first.data["room"])
        assert first.id == f"{room}@{first.data['id']}"
        assert "room.changed" == next(events).kind
    change(operator, room, message="Soon")
    change(operator, room, mode="open")
    with following(operator, first.id, room=room) as events:
        kinds = [next(events).kind for _ in range(5)]
    assert ["room.changed", "room.message", "room.changed", "room.resumed", "room.changed"] == kinds


def test_types_and_people(operator: httpx.Client, room: str, served: Serving) -> None:
    """Only the types that were asked for come; people are told because somebody listens."""
    with (
        served.operator() as other,
        httpx.Client(base_url=served.base, timeout=60) as visitor,
        following(operator, room=room, types="people.called") as events,
    ):
        change(other, room, message="Soon")
        joined = visitor.post(f"/v1/rooms/{room}/tickets")
        assert 201 == joined.status_code
        event = next(events)
    assert "people.called" == event.kind
    (person,) = event.data["data"]["people"]
    assert {"id", "at_ms", "place_us"} == set(person)


def test_several_rooms(operator: httpx.Client, room: str, served: Serving) -> None:
    """An id names a position in every room, so that nothing is lost in any of them."""
    second = served.new_room()
    rooms = f"{room},{second}"
    with served.operator() as other, following(operator, room=rooms) as events:
        for name in (room, second):
            change(other, name, mode="paused")
        seen = [next(events) for _ in range(4)]
    assert {room, second} == {event.data["room"] for event in seen}
    assert {room, second} == {part.partition("@")[0] for part in seen[-1].id.split(",")}
    for name in (room, second):
        change(operator, name, mode="open")
    with following(operator, seen[-1].id, room=rooms) as events:
        later = [next(events) for _ in range(4)]
    assert ["room.changed", "room.resumed"] * 1 == sorted({event.kind for event in later})


async def test_a_gap(engine: Engine, bare_room: str) -> None:
    """A position whose next events are gone is answered with a gap, then with what is there."""
    await engine.create(bare_room, Policy())
    for capacity in range(5, 9):
        await engine.configure(bare_room, capacity=capacity)
    await Relay(engine, Listeners(engine)).relay(bare_room)
    first, *_, last = await engine.outbox.read(bare_room, START)
    outbox = keys.room_key(bare_room, "outbox")
    await engine.backend.client.xtrim(outbox, maxlen=1, approximate=False)

    async def come_back(position: str) -> list[str]:
        stream = events_api.OperatorStream(
            address="", positions={bare_room: position}, types=frozenset(), check=_nobody
        )
        await events_api.feed_once(engine.outbox, stream)
        return re.findall(r"^event: (.*)$", stream.take().decode(), re.MULTILINE)

    assert ["gap", "room.changed"] == await come_back(first.id)
    assert [] == await come_back(last.id)
    await engine.backend.client.xtrim(outbox, maxlen=0, approximate=False)
    assert ["gap"] == await come_back(first.id)


async def _nobody() -> None:
    pass


@pytest.mark.parametrize(
    ("query", "headers", "status"),
    [
        ({"types": "room.party"}, {}, 422),
        ({}, {"Last-Event-ID": "yesterday"}, 422),
        ({"room": "no-such-room"}, {}, 404),
        ({}, {"Authorization": "Bearer wr_0000000000_nothing"}, 401),
    ],
)
def test_refusals(
    operator: httpx.Client, room: str, query: dict[str, str], headers: dict[str, str], status: int
) -> None:
    """Wrong words, ids, rooms and keys are refused before a stream begins."""
    answer = operator.get("/v1/admin/events", params={"room": room} | query, headers=headers)
    assert status == answer.status_code
