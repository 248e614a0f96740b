"""`waitroom desk demo`: one restaurant with an evening of guests, in one command.

The real server with its own record and store, in a folder that is removed at the end; the guests
and a host are a thread that uses its API.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Annotated

import typer

from waitroom.cli.commands.demo import HOST, answers, own_settings
from waitroom.cli.desk.group import check_installed
from waitroom.settings import Settings

Port = Annotated[
    int, typer.Option(metavar="PORT", help="Where the desk listens.", min=1, max=65_535)
]
SERVER = ("fastapi", "httptools", "jinja2", "msgspec", "multipart")


def desk_demo(port: Port = 8080) -> None:
    """Show a restaurant's waitlist on a busy evening: guests join, wait and are called.

    Time runs fast: something happens every few seconds. Join yourself, and call yourself from the
    host's console. It runs a store of its own, and nothing is kept when it ends.

    Example:

      waitroom desk demo
      waitroom desk demo --port 8090
    """
    check_installed("desk,embedded", *SERVER)
    from waitroom.server.process import parent
    from waitroom.server.process.listening import resolve

    resolve(HOST, port)
    stop = threading.Event()
    with tempfile.TemporaryDirectory(prefix="waitroom-desk-") as made:
        url = f"http://{HOST}:{port}"
        settings = own_settings(Path(made), port, public_url=url, desk=True)
        key = asyncio.run(_prepare(settings))

        def begin() -> None:
            threading.Thread(target=_evening, args=(settings, key, stop), daemon=True).start()

        try:
            parent.serve(settings, on_start=begin, greet=None)
        finally:
            stop.set()


async def _prepare(settings: Settings) -> str:
    """Write the evening so far into the record; return a host's key."""
    from waitroom.cli.desk.evening import STORE, before
    from waitroom.credentials.secret import load_secret
    from waitroom.desk.models import Store, WaitingType
    from waitroom.desk.record.database import open_database
    from waitroom.desk.record.host_keys import HostKeys
    from waitroom.desk.record.record import Record

    lines = (
        WaitingType(name="dine-in", title="매장 식사 · Dine in", largest_party=8),
        WaitingType(name="takeout", title="포장 · Takeout", queue_limit=20),
    )
    clock = [time.time_ns() // 1000]
    async with open_database(settings.desk_database, settings.data_dir) as database:
        record = Record(database, now_us=lambda: clock[0])
        title = "한강국수 · Han River Noodles"
        # All guests of the demo come from this machine.
        await record.add_store(Store(id=STORE, title=title, types=lines, joins_per_hour=None))
        await before(record, load_secret(settings), clock, random.Random(7))  # noqa: S311 - a demo
        text, _ = await HostKeys(database).create(STORE, "front tablet")
    return text


def _evening(settings: Settings, key: str, stop: threading.Event) -> None:
    """Say where to look once there is something to see, and let the evening continue."""
    from waitroom.cli.desk.evening import STORE, Evening

    base = f"http://{HOST}:{settings.port}"
    if not answers(f"{base}/readyz"):
        typer.echo("The demo did not start in time; see what was said above.", err=True)
        os.kill(os.getpid(), signal.SIGTERM)
        return
    evening = Evening(base, key, stop)
    _greet(f"{base}/desk/{STORE}", evening.join(stays=True), key, f"{base}/docs")
    evening.run()


def _greet(desk: str, place: str, key: str, docs: str) -> None:
    typer.echo(
        f"""
  A busy evening at Han River Noodles. Every few seconds somebody joins, is called or sits down.

    1. join the line        {desk}
       As guests see it; with your phone number or without.
    2. watch a place        {place}
       Somebody who has just joined. Defer, cancel, or wait until they are called.
    3. the host's console   {desk}/host
       Sign in with {key}
       Call, seat and undo: you and the other host never call the same party.
    4. the poster           {desk}/poster
       Once you are signed in as a host.
    5. the API, explained   {docs}

  Ctrl-C ends it; nothing is kept.
"""
    )
