"""`GET /v1/admin/events`: what happens, as a stream that resumes where it ended."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from tests.support.serving import Serving
from waitroom.engine import Engine, keys
from waitroom.engine.outbox import START, number_of
from waitroom.events.relay import Listeners, Relay
from waitroom.models import Policy
from waitroom.moments import from_ms, written
from waitroom.server.counters.worker import Counters
from waitroom.server.http.event_stream import OpenStreams
from waitroom.server.operator.history import events as events_api


@pytest.fixture
def bare_room() -> str:
    """Return the name of a room that no server has."""
    return f"t-{secrets.token_hex(6)}"


@dataclass
class Sent:
    """One event as received."""

    id: str
    kind: str
    data: dict[str, Any]


@contextmanager
def following(operator: httpx2.Client, last_id: str = "", **query: str) -> Iterator[Iterator[Sent]]:
    """Open a stream, and yield its events."""
    headers = {"Last-Event-ID": last_id} if last_id else {}
    with operator.stream("GET", "/v1/admin/events", params=query, headers=headers) as answer:
        assert 200 == answer.status_code
        assert "text/event-stream" == answer.headers["content-type"]
        yield _events(answer)


def _events(answer: httpx2.Response) -> Iterator[Sent]:
    fields: dict[str, str] = {}
    for line in answer.iter_lines():
        name, _, value = line.partition(": ")
        if line:
            fields[name] = value
        elif "data" in fields:
            yield Sent(fields["id"], fields["event"], json.loads(fields["data"]))
            fields = {}


def change(operator: httpx2.Client, room: str, **policy: Any) -> None:
    """Change a room."""
    assert 200 == operator.patch(f"/v1/admin/rooms/{room}", json={"policy": policy}).status_code


def test_it_follows_and_resumes(operator: httpx2.Client, room: str, served: Serving) -> None:
    """Events come in order; a client that reconnects with the last id gets what it missed, once."""
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


def test_it_resumes_where_nothing_had_happened(operator: httpx2.Client, room: str) -> None:
    """A stream opens with its position, so that what happens after a cut before any event comes."""
    with operator.stream("GET", "/v1/admin/events", params={"room": room}) as answer:
        position = next(line for line in answer.iter_lines() if line.startswith("id: "))
    assert f"id: {room}@{START}" == position
    change(operator, room, mode="paused")
    with following(operator, position.removeprefix("id: "), room=room) as events:
        assert "room.paused" == next(events).kind


async def test_the_position_needs_no_backend() -> None:
    """A stream says where it is as soon as it opens, even if the backend does not answer then."""
    sent, gone = asyncio.Queue[MutableMapping[str, Any]](), asyncio.Event()

    async def receive() -> dict[str, Any]:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def hang(*_: object) -> None:
        await asyncio.Event().wait()

    server: Any = SimpleNamespace(
        operator_streams=set(),
        open_streams=OpenStreams(1, 1, Counters()),
        engine=SimpleNamespace(outbox=SimpleNamespace(hear=hang, newest=hang)),
    )
    answer = events_api._Answer(server, stream_at("a-room", START))
    serving = asyncio.create_task(answer({}, receive, sent.put))
    async with asyncio.timeout(30):
        _, _, position = [await sent.get() for _ in range(3)]  # after the headers and `retry`
    gone.set()
    await serving
    assert b"id: a-room@0-0\n: \n\n" == position["body"]


def test_types_and_people(operator: httpx2.Client, room: str, served: Serving) -> None:
    """Only the requested types arrive; events about people are sent because somebody listens."""
    with (
        served.operator() as other,
        httpx2.Client(base_url=served.base, timeout=60) as visitor,
        following(operator, room=room, types="people.called") as events,
    ):
        change(other, room, message="Soon")
        joined = visitor.post(f"/v1/rooms/{room}/tickets")
        assert 201 == joined.status_code
        event = next(events)
    assert "people.called" == event.kind
    (person,) = event.data["data"]["people"]
    assert {"id", "at_ms", "place_us"} == set(person)


def test_several_rooms(operator: httpx2.Client, room: str, served: Serving) -> None:
    """An id encodes a position in every room, so that nothing is lost in any of them."""
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
    for name in (room, second):
        kinds = [event.kind for event in later if event.data["room"] == name]
        assert ["room.resumed", "room.changed"] == kinds


async def test_a_gap(engine: Engine, bare_room: str) -> None:
    """For a position whose next events are gone, the answer is a gap, then what is there."""
    await engine.create(bare_room, Policy())
    for capacity in range(5, 9):
        await engine.configure(bare_room, capacity=capacity)
    await Relay(engine, Listeners(engine)).relay(bare_room)
    first, *_, last = await engine.outbox.read(bare_room, START)
    outbox = keys.room_key(bare_room, "outbox")
    await engine.backend.client.xtrim(outbox, maxlen=1, approximate=False)

    async def come_back(position: str) -> list[dict[str, Any]]:
        stream = stream_at(bare_room, position)
        await events_api.feed_once(engine.outbox, stream)
        documents = re.findall(r"^data: (.*)$", stream.take().decode(), re.MULTILINE)
        return [json.loads(document) for document in documents]

    def moment(position: str) -> str:
        return written(from_ms(int(position.partition("-")[0])))

    gap, kept = await come_back(first.id)
    assert ("gap", "room.changed", last.id) == (gap["type"], kept["type"], kept["id"])
    assert {"since": moment(first.id), "until": moment(last.id)} == gap["data"]
    assert (moment(last.id), last.number - 1) == (gap["at"], number_of(gap["id"]))
    assert [] == await come_back(last.id)
    gap, _ = await come_back(START)
    assert {"since": None, "until": moment(last.id)} == gap["data"]
    await engine.backend.client.xtrim(outbox, maxlen=0, approximate=False)
    (gap,) = await come_back(first.id)
    assert ("gap", last.id, moment(last.id)) == (gap["type"], gap["id"], gap["data"]["until"])


def stream_at(room: str, position: str) -> events_api.OperatorStream:
    """Return a stream of all types of events, at a position in a room."""
    return events_api.OperatorStream(
        address="", positions={room: position}, types=frozenset(), check=_nobody
    )


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
    operator: httpx2.Client, room: str, query: dict[str, str], headers: dict[str, str], status: int
) -> None:
    """Bad words, ids, rooms and keys are refused before a stream begins."""
    answer = operator.get("/v1/admin/events", params={"room": room} | query, headers=headers)
    assert status == answer.status_code
