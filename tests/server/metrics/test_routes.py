"""Metrics: cheap to count, summed over workers, never going back, all of them documented."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import secrets
import signal
import time
from pathlib import Path

import httpx2
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_open
from prometheus_client.parser import text_string_to_metric_families as parse_text

from tests.support.clock import Clock, crowd, open_engine
from tests.support.servers import LONGEST_S, wait_for
from tests.support.servers import Server as Backend
from tests.support.serving import Serving, serving
from waitroom.engine import COUNTERS
from waitroom.models import preset
from waitroom.moments import from_ms
from waitroom.server.counters.shared import WRITE_EVERY_S, SharedCounters, Sum, folder_of
from waitroom.server.counters.worker import ITEMS, LATENCY_S, MOST_LABELS, Counters
from waitroom.server.metrics import families
from waitroom.server.metrics.families import METRICS, Facts, RoomFigures, render

DOCS = Path(__file__).parents[3] / "docs"
ROUTE = "GET /v1/rooms/{room}"


def headings(page: str) -> list[str]:
    """Return the second-level headings of a docs page."""
    text = (DOCS / page).read_text("utf-8")
    return re.findall(r"^## `(.+)`$", text, re.M)


async def summed(counters: Counters, folder: Path) -> Sum:
    """Return what a scrape of this one worker would sum."""
    async with SharedCounters(folder, counters) as shared:
        return await shared.read()


def values(text: str, name: str) -> dict[tuple[str, ...], float]:
    """Return the samples of a name, by their label values in the order of the label names."""
    return {
        tuple(sample.labels.values()): sample.value
        for family in parse_text(text)
        for sample in family.samples
        if sample.name == name
    }


# Counting ------------------------------------------------------------------------------------


async def test_what_is_counted_is_shown(tmp_path: Path) -> None:
    """Requests by route and status, times by route, calls by verb: count, sum and buckets."""
    counters = Counters()
    counters.request(ROUTE, 200, 0.002)
    counters.request(ROUTE, 200, 0.3)
    counters.request(ROUTE, 503, 100)
    counters.backend_call("poll", 0.004, 128)
    counters.limited("streams")
    counters.streams_open = 7
    text = render(Facts(sum=await summed(counters, tmp_path)), "")[0].decode()
    assert {(ROUTE, "200"): 2, (ROUTE, "503"): 1} == values(text, "waitroom_requests_total")
    assert {(ROUTE,): 3} == values(text, "waitroom_request_seconds_count")
    assert {(ROUTE,): 100.302} == values(text, "waitroom_request_seconds_sum")
    buckets = values(text, "waitroom_request_seconds_bucket")
    assert 1 == buckets["0.0025", ROUTE]
    assert 2 == buckets["0.5", ROUTE] == buckets["10.0", ROUTE]
    assert 3 == buckets["+Inf", ROUTE]
    assert len(LATENCY_S) + 1 == len(buckets)
    assert {("poll",): 128} == values(text, "waitroom_backend_call_items_sum")
    assert 1 == values(text, "waitroom_backend_call_items_bucket")["200.0", "poll"]
    assert len(ITEMS) + 1 == len(values(text, "waitroom_backend_call_items_bucket"))
    assert {("streams",): 1} == values(text, "waitroom_limited_total")
    assert {(): 7} == values(text, "waitroom_streams_open")


async def test_labels_are_bounded(tmp_path: Path) -> None:
    """Even if a caller's input became labels by mistake, their number would stay small."""
    counters = Counters()
    for n in range(10 * MOST_LABELS):
        counters.request(f"GET /{n}", 200, 0.1)
        counters.backend_call(f"verb{n}", 0.1, 1)
        counters.limited(f"limit{n}")
    total = await summed(counters, tmp_path)
    assert MOST_LABELS + 1 == len(total.numbers["requests"])
    assert MOST_LABELS + 1 == len(total.numbers["calls"]) == len(total.numbers["items"])
    assert MOST_LABELS + 1 == len(total.numbers["limited"])
    text = render(Facts(sum=total), "")[0].decode()
    assert 10 * MOST_LABELS == sum(values(text, "waitroom_requests_total").values())


# Rooms and formats ---------------------------------------------------------------------------


async def test_rooms_are_shown(valkey: Backend, clock: Clock, tmp_path: Path) -> None:
    """People by state, counters, hold and the estimate of a real room."""
    room = f"t-{secrets.token_hex(6)}"
    async with open_engine(valkey.url, clock) as engine:
        await engine.create(room, preset("slots", capacity=2))
        people = await crowd(engine, room, 5)
        await engine.enter(room, people[0].ticket)
        stats = await engine.stats(room)
    facts = Facts(
        sum=await summed(Counters(), tmp_path),
        rooms=[RoomFigures(stats, (60, 90, 120))],
        rooms_in_all=3,
    )
    text = render(facts, "")[0].decode()
    figures = {
        name: values(text, f"waitroom_room_{name}")[(room,)]
        for name in ("waiting", "called", "inside", "joins_total", "calls_total", "entries_total")
    }
    expected = {"waiting": 3, "called": 1, "inside": 1}
    assert expected | {"joins_total": 5, "calls_total": 2, "entries_total": 1} == figures
    waits = values(text, "waitroom_room_estimated_wait_seconds")
    assert {("low", room): 60, ("likely", room): 90, ("high", room): 120} == waits
    assert {(): 2} == values(text, "waitroom_rooms_left_out")
    for person in people:
        assert person.id not in text


def test_every_counter_of_a_room_is_shown() -> None:
    """A counter that is added to the engine must get a metric."""
    assert set(COUNTERS) == set(families._COUNTERS)


async def test_both_formats_are_well_formed(valkey: Backend, clock: Clock, tmp_path: Path) -> None:
    """The text format and OpenMetrics parse, and contain every metric of the table."""
    room = f"t-{secrets.token_hex(6)}"
    async with open_engine(valkey.url, clock) as engine:
        policy = preset("batch", capacity=9, opens_at=from_ms(1_900_000_000_000))
        await engine.create(room, policy)
        stats = await engine.stats(room)
    counters = Counters()
    counters.request(ROUTE, 200, 0.1)
    counters.backend_call("poll", 0.1, 1)
    counters.limited("joins")
    facts = Facts(
        sum=await summed(counters, tmp_path), rooms=[RoomFigures(stats, (1, 2, 3), policy)]
    )
    text, plain = render(facts, "*/*")
    opened, open_type = render(facts, "application/openmetrics-text; version=1.0.0")
    assert plain.startswith("text/plain; version=0.0.4")
    assert open_type.startswith("application/openmetrics-text; version=1.0.0")
    names = {family.name for family in METRICS}
    assert names == {family.name for family in parse_open(opened.decode())}  # type: ignore[no-untyped-call]
    assert {family.shown for family in METRICS} == {
        f"{family.name}_total" if family.type == "counter" else family.name
        for family in parse_text(text.decode())
    }


# Docs ----------------------------------------------------------------------------------------


def test_every_metric_has_its_heading() -> None:
    """docs/metrics.md explains each metric once, and none that does not exist."""
    assert sorted(family.shown for family in METRICS) == sorted(headings("metrics.md"))


def test_names_follow_the_conventions() -> None:
    """Our prefix or the standard one for processes, base units, and `_total` only for counters."""
    for family in METRICS:
        assert re.fullmatch(r"(waitroom|process)_[a-z_]+", family.name)
        assert not family.name.endswith(("_total", "_ms", "_seconds_count"))
        assert not family.about.endswith(".")


# As served -----------------------------------------------------------------------------------


def test_a_scrape_shows_rooms_and_requests(tmp_path: Path) -> None:
    """Whichever of three workers is asked, the answer includes what all of them did."""
    name, people = "concert", 30
    with serving(tmp_path, workers=3) as server:
        deadline = time.monotonic() + LONGEST_S
        server.new_room(name, capacity=2)
        tickets = []
        for _ in range(people):  # one connection each, so that every worker gets some
            answer = httpx2.post(f"{server.base}/v1/rooms/{name}/tickets")
            assert 201 == answer.status_code
            tickets.append(answer.json()["ticket"])
        wait_for(lambda: {(): 3} == _scraped(server, "waitroom_workers"), "all workers")
        for _ in range(5):
            text = _until(server, ("POST /v1/rooms/{room}/tickets", "201"), people)
            assert {(): 3} == values(text, "waitroom_workers")
        # A room's numbers come from the worker's board, which is renewed once a second.
        while values(text, "waitroom_room_joins_total") != {(name,): people}:
            assert time.monotonic() < deadline, text
            text = httpx2.get(f"{server.base}/metrics").text
        assert {(name,): people - 2} == values(text, "waitroom_room_waiting")
        assert {(): 3} == values(text, "waitroom_workers_wanted")
        assert {(): 1} == values(text, "waitroom_backend_up")
        assert {(name,): 2} == values(text, "waitroom_room_capacity")
        waits = values(text, "waitroom_room_estimated_wait_seconds")
        assert set(waits) <= {(bound, name) for bound in ("low", "likely", "high")}
        assert values(text, "waitroom_backend_call_seconds_count")[("join",)] >= 1
        assert not [ticket for ticket in tickets if ticket[24:40] in text]


def _until(server: Serving, labels: tuple[str, ...], wanted: float) -> str:
    """Scrape until this many requests are counted: other workers write once a second."""
    deadline = time.monotonic() + LONGEST_S
    while True:
        text = httpx2.get(f"{server.base}/metrics").text
        if values(text, "waitroom_requests_total").get(labels) == wanted:
            return text
        assert time.monotonic() < deadline, text
        time.sleep(0.05)


def test_killed_workers_take_no_counts_along(tmp_path: Path) -> None:
    """A worker is killed, the parent starts another, and no counter has gone back."""
    with serving(tmp_path, workers=2) as server:
        for _ in range(20):
            httpx2.get(f"{server.base}/v1/rooms/nobody")
        # A kill loses the counts of the last second, which a busy worker may write late.
        wait_for(lambda: _written(server, "GET /v1/rooms/{room} 404") == 20, "the counts on disk")
        time.sleep(2 * WRITE_EVERY_S)
        before = sum(_scraped(server, "waitroom_requests_total").values())
        assert before >= 20
        os.kill(server.workers[0], signal.SIGKILL)
        deadline = time.monotonic() + 60
        while {(): 2} != _scraped(server, "waitroom_workers"):
            assert before <= sum(_scraped(server, "waitroom_requests_total").values())
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert before <= sum(_scraped(server, "waitroom_requests_total").values())


def _written(server: Serving, label: str) -> int:
    """Return how many requests the files of all workers have."""
    total = 0
    for path in folder_of(server.data_dir, server.port).glob("*-*.json"):
        with contextlib.suppress(FileNotFoundError):  # the next one takes its place
            row = json.loads(path.read_bytes())["requests"].get(label, [0])
            total += int(sum(row[:-1]))
    return total


def _scraped(server: Serving, name: str) -> dict[tuple[str, ...], float]:
    for _ in range(20):  # the kernel may give the connection to the dead worker
        with contextlib.suppress(httpx2.TransportError):
            return values(httpx2.get(f"{server.base}/metrics").text, name)
    raise AssertionError("nobody answers")


async def test_scraping_hard_costs_little(served: Serving) -> None:
    """Concurrent scrapes share one query per room, and all are answered."""
    async with httpx2.AsyncClient(base_url=served.base, timeout=120) as client:
        answers = await asyncio.gather(*(client.get("/metrics") for _ in range(40)))
        assert {200} == {answer.status_code for answer in answers}
        before = _stats_calls(answers[-1].text)
        await asyncio.gather(*(client.get("/metrics") for _ in range(40)))
        await asyncio.sleep(1)
        after = _stats_calls((await client.get("/metrics")).text)
        rooms = values(answers[-1].text, "waitroom_rooms")[()]
    assert after - before < 30 * max(rooms, 2)  # unshared, each of the 41 would query every room


def _stats_calls(text: str) -> float:
    return values(text, "waitroom_backend_call_seconds_count").get(("stats",), 0)


def test_openmetrics_is_given_to_who_asks(http: httpx2.Client, room: str) -> None:
    """Prometheus asks for OpenMetrics, and gets it well formed."""

    def shows_the_room() -> bool:
        """Scrape; with the rooms of all tests, a busy server may give up on their numbers."""
        accept = {"accept": "application/openmetrics-text;version=1.0.0"}
        answer = http.get("/metrics", headers=accept)
        assert answer.headers["content-type"].startswith("application/openmetrics-text")
        families = {family.name: family for family in parse_open(answer.text)}  # type: ignore[no-untyped-call]
        waiting = families["waitroom_room_waiting"].samples
        return room in {sample.labels["room"] for sample in waiting}

    wait_for(shows_the_room, "a scrape with the room")
