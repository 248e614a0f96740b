"""What the archive tells about a person whose events the backend has forgotten: a real server."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.clock import open_engine
from tests.support.servers import Server, wait_for
from tests.support.serving import ADMIN_KEY, SECRET, clean_env, serving
from waitroom.archive import files
from waitroom.engine import keys

CODE = 24, 40  # where a ticket spells out its id


async def forget(url: str, room: str) -> None:
    """Make the backend forget all of the room's events except the newest."""
    async with open_engine(url) as engine:
        key = keys.room_key(room, "events")
        await engine.backend.client.xtrim(key, maxlen=1, approximate=False)


def archived(folder: Path, room: str) -> set[str]:
    """Return the types of events in the archive."""
    return {event.type for event in files.read(folder, room)}


@pytest.mark.parametrize("reaches", [True, False])
def test_earlier_steps(valkey: Server, tmp_path: Path, reaches: bool) -> None:
    """Page, API and command line show the events if the archive has them, and otherwise the gap."""
    folder = tmp_path / "archive"
    settings: dict[str, Any] = {"redis_url": valkey.url}
    with serving(tmp_path, archive=folder, **settings) as server, server.operator() as operator:
        room = server.new_room(capacity=1, session_s=3600)
        tickets = f"/v1/rooms/{room}/tickets"
        first = operator.post(tickets).json()["ticket"]
        operator.post(f"{tickets}/{first}/enter").raise_for_status()
        operator.delete(f"{tickets}/{first}").raise_for_status()
        second = operator.post(tickets).json()["ticket"]
        operator.post(f"{tickets}/{second}/enter").raise_for_status()
        wanted = {"people.called", "people.entered", "people.ended"}
        wait_for(lambda: wanted <= archived(folder, room), "an archive")
        asyncio.run(forget(valkey.url, room))
        if not reaches:
            for path in files.files(folder, room):
                path.unlink()
        person = first[slice(*CODE)]
        answer = operator.get(f"/v1/admin/rooms/{room}/people/{person}")
        with httpx2.Client(base_url=server.base, timeout=60) as page:
            page.post("/admin/sign-in", data={"key": ADMIN_KEY})
            shown = page.get(f"/admin/rooms/{room}/people/{person}")
        env = clean_env() | {"WAITROOM_REDIS_URL": valkey.url, "WAITROOM_SECRET": SECRET}
        env |= {"WAITROOM_ARCHIVE": str(folder)}
        command = [sys.executable, "-m", "waitroom.cli", "find", second[slice(*CODE)]]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert 0 == done.returncode, done.stdout + done.stderr
        nobody = operator.get(f"/v1/admin/rooms/{room}/people/{'x' * 16}")
    found = done.stdout
    assert (404, "unknown_ticket") == (nobody.status_code, nobody.json()["code"])
    if not reaches:
        assert "is not known" in found
        assert "  called" not in found
        return
    assert 200 == answer.status_code, answer.text
    steps = [(step["kind"], step["reason"]) for step in answer.json()["steps"]]
    assert [("called", None), ("entered", None), ("ended", "left")] == steps
    assert answer.json()["steps_since_ms"] is not None
    way = shown.text.partition('<ol class="way">')[2]
    texts = ("no longer kept", "Called", "Entered", "Gave up the place")
    places = [way.find(text) for text in texts]
    assert sorted(places) == places
    assert -1 not in places
    assert ["called", "entered"] == [line.split()[-1] for line in found.splitlines()[1:3]]
