"""A sale played in real time: the report agrees with its visitors, figure by figure."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.serving import SECRET, Serving, clean_env, serving
from waitroom.client import Client, Ticket
from waitroom.errors import SessionOver, TurnPassed
from waitroom.models import State
from waitroom.report.waits import part

PEOPLE = 120
POLL_S = 0.5
REPORTED_WITHIN_S = 180
CLOCK_S = 0.1  # the report uses the server's clock, a visitor that of a process
POLICY: dict[str, Any] = {
    "mode": "paused",
    "capacity": 12,
    "batch": 12,
    "every_s": 1,
    "session_s": 4,
    "enter_within_s": 4,
    "presence_s": None,
}
HABITS = {3: "no_show", 5: "left", 8: "expired"}


@dataclass
class Seen:
    """What visitors saw: how many did what, and the bounds between which each of them waited."""

    counts: Counter[str] = field(default_factory=Counter)
    shortest_s: list[float] = field(default_factory=list)
    longest_s: list[float] = field(default_factory=list)


@dataclass
class Visitor:
    """Joins, polls until the turn, and behaves as told: comes, leaves, stays too long."""

    client: Client
    room: str
    seen: Seen
    habit: str

    async def join(self) -> None:
        """Take a place in a room that calls nobody yet; some leave again."""
        self.asked = time.monotonic()
        self.view: Ticket = await self.client.join(self.room)
        self.joined = time.monotonic()
        self.seen.counts["joined"] += 1
        if self.habit == "left":
            await self.client.leave(self.view)
            self.seen.counts["left"] += 1

    async def visit(self) -> None:
        """Wait for the turn, take it, and stay to the end."""
        if self.habit == "left":
            return
        counts, waiting_at = self.seen.counts, self.joined
        try:
            while self.view.state is State.WAITING:
                await asyncio.sleep(POLL_S)
                asked = time.monotonic()
                self.view = await self.client.status(self.view)
                waiting_at = asked if self.view.state is State.WAITING else waiting_at
        except TurnPassed:  # this process was stalled for a whole turn
            self.habit = "no_show"
        # They were called after the last answer "waiting", and before the first different one.
        self.seen.shortest_s.append(waiting_at - self.joined)
        self.seen.longest_s.append(time.monotonic() - self.asked)
        counts["called_total"] += 1
        counts[await self._end()] += 1

    async def _end(self) -> str:
        """Return how the visit ends."""
        if self.habit == "no_show":
            return "no_show"
        try:
            self.view = await self.client.enter(self.view)
        except TurnPassed:
            return "no_show"
        self.seen.counts["entered"] += 1
        try:
            if self.habit != "expired":
                await self.client.finish(self.view)
        except SessionOver:
            return "expired"
        return self.habit


async def play(server: Serving, room: str) -> Seen:
    """Play the sale: people join, the room opens, and everybody gets their turn."""
    seen = Seen()
    async with Client(server.base) as client:
        habits = [HABITS.get(number % 20, "finished") for number in range(PEOPLE)]
        visitors = [Visitor(client, room, seen, habit) for habit in habits]
        await asyncio.gather(*(visitor.join() for visitor in visitors))
        with server.operator() as operator:
            path = f"/v1/admin/rooms/{room}"
            operator.post(f"{path}/notes", json={"text": "doors open"}).raise_for_status()
            operator.patch(path, json={"policy": {"mode": "open"}}).raise_for_status()
        await asyncio.gather(*(visitor.visit() for visitor in visitors))
    return seen


def report(server: Serving, room: str, archive: Path) -> dict[str, Any]:
    """Return the output of `waitroom report`, run as another process beside the server."""
    env = clean_env() | {
        "WAITROOM_DATA_DIR": str(server.data_dir),
        "WAITROOM_SECRET": SECRET,
        "WAITROOM_ARCHIVE": str(archive),
    }
    command = [sys.executable, "-m", "waitroom.cli", "report", room, "--since", "1h", "--json"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def whole_report(server: Serving, room: str, archive: Path, seen: Seen) -> dict[str, Any]:
    """Return the report once everybody is gone and the archive is written, or time runs out."""
    deadline = time.monotonic() + REPORTED_WITHIN_S
    while True:
        figures = report(server, room, archive)
        people = {name: count for name, count in figures["people"].items() if count}
        is_whole = figures["complete"] and people == dict(seen.counts)
        if is_whole or time.monotonic() > deadline:
            return figures


def test_the_report_agrees_with_what_visitors_saw(tmp_path: Path) -> None:
    """Counts are exact, waits lie within each visitor's bounds, promises hold."""
    archive = tmp_path / "archive"
    with serving(tmp_path, archive=archive) as server:
        room = server.new_room(**POLICY)
        seen = asyncio.run(play(server, room))
        figures = whole_report(server, room, archive, seen)
    assert [] == figures["missing"], server.said()
    people = {name: count for name, count in figures["people"].items() if count}
    assert dict(seen.counts) == people
    waits = figures["wait_s"]
    assert seen.counts["called_total"] == waits["called"]
    for name, share in (("median", 0.5), ("p90", 0.9), ("longest", 1.0)):
        low, high = (part(sorted(bounds), share) for bounds in (seen.shortest_s, seen.longest_s))
        assert low - CLOCK_S <= waits[name] <= high + CLOCK_S, name
    arrivals = figures["by_arrival"]
    assert waits["called"] == sum(group["people"] for group in arrivals)
    assert waits["longest"] == max(group["longest_s"] for group in arrivals)
    for group in arrivals:
        assert group["median_s"] <= group["p90_s"] <= group["longest_s"], group
    assert POLICY["capacity"] < figures["most_waiting"] <= PEOPLE
    verdicts = {promise["name"]: promise["verdict"] for promise in figures["promises"]}
    assert "not tested" == verdicts.pop("rolling limit")
    assert {"PASS"} == set(verdicts.values()), figures["promises"]
    assert 0 < figures["most_called_and_inside"] <= 12
    actions = [action["action"] for action in figures["actions"]]
    assert ["room.create", "note", "room.change"] == actions
