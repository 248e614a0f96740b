"""`waitroom serve --demo`: a room with a small crowd in it, so that there is something to see.

The crowd behaves like real visitors: it joins, polls, enters, stays and finishes through the
engine, in a thread of the parent process. The server knows nothing of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import random
import secrets
import threading
from typing import Final

import typer

from waitroom.credentials.secret import load_secret
from waitroom.engine import Engine
from waitroom.errors import RoomExists, WaitroomError
from waitroom.models import Policy, State
from waitroom.server.process import parent
from waitroom.server.process.greeting import base_url
from waitroom.settings import Settings

log = logging.getLogger("waitroom.demo")

ROOM: Final = "demo"
POLICY: Final = Policy(
    capacity=30,
    batch=3,
    every_s=2,
    session_s=45,
    enter_within_s=60,
    max_defers=3,
    title="Waitroom demo on-sale",
    message="Many people want tickets right now. You are in line; we let people in in order.",
    ready="Have your card ready: you have 45 seconds inside.",
    colour="#3155c6",
)
LINE: Final = 40
"""How many of the crowd wait at a time: a newcomer is let in after about half a minute."""


def serve_demo(settings: Settings) -> None:
    """Run the server with a demonstration."""
    key = settings.admin_key or f"wr_demo_{secrets.token_urlsafe(24)}"
    # Readable lines, and only important ones: somebody is watching this terminal.
    settings = dataclasses.replace(settings, admin_key=key, log_json=False, log_level="warning")
    stop = threading.Event()

    def begin() -> None:
        threading.Thread(target=_crowd_thread, args=(settings, stop), daemon=True).start()

    try:
        parent.serve(settings, on_start=begin, greet=_greet)
    finally:
        stop.set()


def _greet(settings: Settings) -> None:
    """Say where to look."""
    base = base_url(settings)
    typer.echo(
        f"""
  Waitroom is running, with a crowd in the room "{ROOM}".

    the waiting page    {base}/rooms/{ROOM}      open it and watch your number fall
    the operator page   {base}/admin            sign in with {settings.admin_key}
    the API, explained  {base}/docs
    metrics             {base}/metrics

  Ctrl-C ends it.
"""
    )


def _crowd_thread(settings: Settings, stop: threading.Event) -> None:
    with contextlib.suppress(WaitroomError, OSError):
        asyncio.run(_crowd(settings, stop))


async def _crowd(settings: Settings, stop: threading.Event) -> None:
    ring = load_secret(settings)
    async with await Engine.connect(settings.redis_url, settings.data_dir, ring) as engine:
        with contextlib.suppress(RoomExists):
            await engine.create(ROOM, POLICY)
        people: set[asyncio.Task[None]] = set()
        while not stop.is_set():
            with contextlib.suppress(WaitroomError):
                missing = LINE - (await engine.stats(ROOM)).waiting
                for _ in range(min(4, max(0, missing))):
                    people.add(asyncio.create_task(_visit(engine)))
            people = {person for person in people if not person.done()}
            await asyncio.sleep(0.4)
        for person in people:
            person.cancel()


async def _visit(engine: Engine) -> None:
    """Play one visit; a visitor who is refused leaves."""
    with contextlib.suppress(WaitroomError):
        view = await engine.join(ROOM)
        while view.state is State.WAITING:
            await asyncio.sleep(random.uniform(1, 3))  # noqa: S311
            if random.random() < 0.01:  # noqa: S311
                await engine.leave(ROOM, view.ticket)
                return
            view = await engine.poll(ROOM, view.ticket)
        if view.state is State.GONE or random.random() < 0.05:  # noqa: S311
            return
        await asyncio.sleep(random.uniform(0, 2))  # noqa: S311
        await engine.enter(ROOM, view.ticket)
        await asyncio.sleep(random.uniform(5, 30))  # noqa: S311
        await engine.finish(ROOM, view.ticket)
